"""The kinds of files that are damaged: an example of each, how it is read, and what must stand beside it."""

import bz2
import gzip
import json
import lzma
import shutil
from contextlib import suppress
from functools import partial
from typing import NamedTuple

import mutated_examples as right
import mutated_reading as reading

from w2vneg.vectors import formats

FEW = ("min_count", "no token", "no pair is left", "the weight", "none of the", "no history", "no rating", "are left")
OPTIONS = ("to resume", "has no effect", "--", "must", "unknown", "name the same data", "plug-in", "is above alpha")


class Kind(NamedTuple):
    """name : str, of the file; content : bytes, right ones; read : function of its path
    about : tuple of str; a refusal that has one of them is of what the file lacks, and need not name it
    beside : str, a folder whose files stand beside it; None if there is none
    """

    name: str
    content: bytes
    read: object
    about: tuple = ()
    beside: str | None = None


def tables():
    """Yield (name, Kind) of what is trained on."""
    text, pairs = right.TEXT.encode(), right.PAIRS.encode()
    yield "text", Kind("t.txt", text, reading.read_text, FEW)
    yield "text lowercase", Kind("t.txt", text, reading.read_text_lowercase, FEW)
    yield "text gzip", Kind("t.gz", gzip.compress(text, mtime=0), reading.read_text, FEW)
    yield "text bzip2", Kind("t.bz2", bz2.compress(text), reading.read_text, FEW)
    yield "text xz", Kind("t.xz", lzma.compress(text), reading.read_text, FEW)
    with suppress(ImportError):
        import zstandard

        yield "text zstd", Kind("t.zst", zstandard.compress(text), reading.read_text, FEW)
    yield "baskets", Kind("b.csv", right.BASKETS.encode(), reading.read_baskets, FEW)
    yield "ratings", Kind("r.tsv", right.RATINGS.encode(), reading.read_ratings, FEW)
    yield "ratings with dates", Kind("r.csv", right.DATES.encode(), reading.read_ratings, FEW)
    yield "pairs csv", Kind("p.csv", pairs, reading.read_pairs, FEW)
    yield "pairs tsv gzip", Kind("p.gz", gzip.compress(right.HELD.encode(), mtime=0), reading.read_pairs, FEW)
    yield "pairs rectangular", Kind("r.csv", pairs, reading.read_pairs, FEW)
    with suppress(ImportError):
        yield "pairs parquet", Kind("p.parquet", right.parquet_bytes(), reading.read_pairs, FEW)
    yield "co-occurrence", Kind("m.npz", right.sparse_bytes(right.SPARSE), reading.read_cooccurrence, FEW)
    rectangular = right.sparse_bytes(right.SPARSE.tocoo())
    yield "co-occurrence rectangular", Kind("r.npz", rectangular, reading.read_cooccurrence, FEW)


def singles():
    """Yield (name, Kind) of other files that stand alone."""
    yield "item names", Kind("n.txt", right.NAMES.encode(), reading.read_item_names)
    yield "vocabulary", Kind("v.tsv", b"".join(right.VOCAB._text()), reading.read_vocabulary)
    yield "similarity", Kind("s.csv", right.SIMILARITY.encode(), reading.read_similarity)
    yield "similarity with more columns", Kind("s.tsv", right.SIMLEX.encode(), reading.read_similarity)
    yield "analogies", Kind("a.txt", right.ANALOGIES.encode(), reading.read_analogies)
    yield "held-out pairs", Kind("h.tsv", right.HELD.encode(), reading.read_held_out)
    yield "options", Kind("o.toml", right.OPTIONS.encode(), reading.read_options)
    yield "titles", Kind("t.csv", right.TITLES.encode("latin-1"), reading.read_titles_table)
    yield "split manifest", Kind("manifest.json", json.dumps(right.SPLIT_MANIFEST).encode(), reading.read_split)
    yield "data manifest", Kind("m.toml", right.DATA_MANIFEST.encode(), reading.read_data_manifest)
    for kind in ("zip", "tgz"):
        yield f"archive {kind}", Kind(f"a.{kind}", right.archive_bytes(kind), reading.read_archive)
    for format in (name for name in formats.saved() if formats.FORMATS[name].suffixes and formats.FORMATS[name].read):
        yield f"vectors {format}", Kind("vectors", right.vectors_bytes(format), reading.read_vectors)
    yield "vectors fasttext", Kind("vectors", right.fasttext_bytes(), reading.read_vectors)
    without = right.vectors_bytes("word2vec").partition(b"\n")[2]
    yield "vectors without header", Kind("vectors", without, reading.read_vectors)
    yield "vectors packed", Kind("vectors.gz", gzip.compress(without), reading.read_vectors)


def of_folder(folder, what, read, names=None, about=()):
    """Yield (name, Kind) of the files of a folder, all or those of these names."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = str(path.relative_to(folder))
        if names is None or name in names:
            yield f"{what} {name}", Kind(name, path.read_bytes(), read, about, folder)


def folders(place):
    """Yield (name, Kind) of the files of folders that are made in `place` (Path)."""
    right.save_model(place / "model")
    right.save_begun(place / "begun")
    right.save_search(place / "search")
    right.save_cache(place / "cache", place / "text")
    yield from of_folder(place / "model", "model", reading.read_model, about=("name the same data",))
    names = ("vectors_in.npy", "vectors_out.npy", "vocab.tsv", "config.json")
    yield from of_folder(place / "model", "vectors of model", reading.read_vectors_of_model, names)
    names = ("config.json", "position.json", "corpus.json", "vocab.tsv")
    yield from of_folder(place / "begun", "resumed", reading.read_to_resume, names, OPTIONS)
    names = ("search.json", "trials.jsonl")
    yield from of_folder(place / "search", "search", reading.read_search, names, ("another search",))
    for name, kind in of_folder(place / "cache", "cache", None):
        label = "cache memo" if "/memo/" in name else f"cache {name.rpartition('/')[2]}"  # the others' are of the path
        depth = kind.name.count("/")
        yield label, kind._replace(read=partial(_read_through_cache, depth=depth, text=place / "text"))


def _read_through_cache(path, depth, text):
    folder = path.rsplit("/", depth + 1)[0]
    reading.read_through_cache(folder, text)


def commands(place):
    """Yield (name, Kind) of files that commands read, beside right ones in `place` (Path)."""
    vectors, model = place / "vectors.txt", place / "model"
    vectors.write_bytes(right.vectors_bytes("word2vec"))
    run = reading.run_command
    lines = {
        "nearest": (vectors.read_bytes(), lambda path: run("nearest", "the", "--vectors", path), ("no vector for",)),
        "export": (
            right.vectors_bytes("npz"),
            lambda path: run("export", path, f"{path}.bin", "--force"),
            ("cannot write",),
        ),
        "eval similarity": (
            right.SIMLEX.encode(),
            lambda path: run("eval", "similarity", vectors, "--set", path, "--json"),
            (),
        ),
        "eval analogy": (right.ANALOGIES.encode(), lambda path: run("eval", "analogy", vectors, "--set", path), ()),
        "eval ranking": (
            right.HELD.encode(),
            lambda path: run("eval", "ranking", model, path, "--bootstrap=0", "--exclude-known", path, "--json"),
            (),
        ),
        "recommend": (
            right.TITLES.encode(),
            lambda path: run("recommend", model, "the", "--titles", path, "--json"),
            (),
        ),
    }
    for name, (content, read, about) in lines.items():
        yield f"w2vneg {name}", Kind("file", content, read, about)


def kinds(place):
    """Return every `Kind` by its name; `place` (Path) is an empty folder, which holds right examples afterwards."""
    return dict((*tables(), *singles(), *folders(place), *commands(place)))


def put_beside(kind, folder):
    """Put the right neighbours of a file into a folder."""
    if kind.beside is not None:
        shutil.copytree(kind.beside, folder, dirs_exist_ok=True)
