"""The encoded corpus: equal to the plain Python way, kept in the cache, rebuilt when it must be."""

import gzip
import io
import itertools
import os
import subprocess
import sys
import threading
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from w2vneg.data.encoded import count, encode_corpus
from w2vneg.data.readers import READERS, sources
from w2vneg.data.readers.sources import ByteStream
from w2vneg.data.vocab import Vocabulary
from w2vneg.ground.errors import ConfigError, FileNote, InputError, OutputError, UnknownNameError
from w2vneg.ground.files.caches import cache_dir

TEXT = "the cat sat on the mat\n\nthe dog\nzebra\nthe cat\n"
LONG_AGO = 1_000_000_000


@pytest.fixture(autouse=True)
def fresh_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("W2VNEG_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def corpus_file(tmp_path):
    return write(tmp_path / "corpus.txt", TEXT)


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    os.utime(path, (LONG_AGO, LONG_AGO))  # settled, so that it is remembered by its times
    return path


@pytest.fixture
def bytes_read(monkeypatch):
    """A list that grows by the size of each piece of stored bytes that is read."""
    sizes = []
    stored = ByteStream.stored

    def watched(self):
        for piece in stored(self):
            sizes.append(len(piece))
            yield piece

    monkeypatch.setattr(ByteStream, "stored", watched)
    return sizes


def sentences_of(corpus):
    ends = corpus.offsets.tolist()
    words = [corpus.vocab.words[i] for i in corpus.ids.tolist()]
    return [words[begin:end] for begin, end in itertools.pairwise(ends)]


def naive(sentences, min_count, max_vocab):
    counts = Counter(token for sentence in sentences for token in sentence)
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0].encode()))
    kept = dict([pair for pair in ordered if pair[1] >= min_count][:max_vocab])
    left = [[token for token in sentence if token in kept] for sentence in sentences]
    return kept, [sentence for sentence in left if sentence]


def entries():
    return sorted(path for path in cache_dir("corpora").glob("*-*") if path.is_dir())


TOKEN = st.text(st.sampled_from("abcé漢"), min_size=1, max_size=3)
SENTENCES = st.lists(st.lists(TOKEN, max_size=8), max_size=12)


@settings(deadline=None)
@given(SENTENCES, st.integers(1, 3), st.one_of(st.none(), st.integers(2, 6)), st.integers(1, 40))
def test_equal_to_the_naive_way(tmp_path_factory, sentences, min_count, max_vocab, piece):
    kept, left = naive(sentences, min_count, max_vocab)
    path = tmp_path_factory.mktemp("naive") / "corpus.txt"
    path.write_text("\n".join(" ".join(sentence) for sentence in sentences) + "\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "PIECE", piece)
        patch.setattr(count, "_IN_MEMORY", 40)
        for source in (path, iter(sentences)):
            if len(kept) < 2:
                with pytest.raises(InputError):
                    encode_corpus(source, min_count=min_count, max_vocab=max_vocab, use_cache=False)
                continue
            corpus = encode_corpus(source, min_count=min_count, max_vocab=max_vocab, use_cache=False)
            assert corpus.vocab == Vocabulary(list(kept), list(kept.values()))
            assert sentences_of(corpus) == left
            assert corpus.report.kept_tokens == len(corpus) == sum(kept.values())
            assert corpus.report.types == len({token for sentence in sentences for token in sentence})
            assert corpus.report.kept_types == len(kept)
            again = encode_corpus(path, vocab=corpus.vocab, use_cache=False)
            assert again.ids.tolist() == corpus.ids.tolist() and again.report.kept_types == len(kept)


def test_arrays_and_report(corpus_file):
    corpus = encode_corpus(corpus_file, min_count=2)
    assert corpus.vocab.words == ["the", "cat"]
    assert corpus.ids.tolist() == [0, 1, 0, 0, 0, 1]
    assert corpus.offsets.tolist() == [0, 3, 4, 6]
    assert (corpus.ids.dtype, corpus.offsets.dtype) == (np.int32, np.int64)
    assert not corpus.ids.flags.writeable and not corpus.offsets.flags.writeable
    assert (len(corpus), corpus.n_sentences) == (6, 3)
    report = corpus.report
    assert (report.files, report.bytes, report.lines, report.empty_lines) == (1, len(TEXT), 5, 1)
    assert (report.tokens, report.types, report.sentences) == (11, 7, 3)
    assert (report.kept_tokens, report.kept_types) == (6, 2)
    assert report.discarded == (5, 5)
    assert report.line().startswith(
        "11 tokens of 7 types in 5 lines (1 empty); kept 6 tokens (2 types) in 3 sentences, discarded 5 (5); 0.0 MB in"
    )


def test_several_files_end_a_sentence_each(tmp_path):
    write(tmp_path / "a.txt", "a b")
    write(tmp_path / "b.txt", gzip.compress(b"b a\nb", mtime=0))
    corpus = encode_corpus([tmp_path / "b.txt", tmp_path / "a.txt"], min_count=1)
    assert sentences_of(corpus) == [["b", "a"], ["b"], ["a", "b"]]
    assert (corpus.report.files, corpus.report.lines, corpus.report.bytes) == (2, 3, 8)
    assert sentences_of(encode_corpus(str(tmp_path / "*.txt"), min_count=1))[0] == ["a", "b"]


def test_max_vocab_cuts_ties_by_bytes(tmp_path):
    path = write(tmp_path / "c", "b a d c B z z")
    assert encode_corpus(path, min_count=1, max_vocab=3).vocab.words == ["z", "B", "a"]
    assert encode_corpus(path, min_count=1, max_vocab=99).vocab.words == ["z", "B", "a", "b", "c", "d"]


def test_lowercase_and_encoding(tmp_path):
    path = write(tmp_path / "c", "Ärger ärger\nZug zug Ärger".encode("latin-1"))
    corpus = encode_corpus(path, min_count=1, encoding="latin-1", lowercase=True)
    assert corpus.vocab == Vocabulary(["ärger", "zug"], [3, 2])
    assert len(encode_corpus(path, min_count=1, encoding="latin-1").vocab) == 4
    with pytest.raises(InputError, match=r"c:1: not utf-8"):
        encode_corpus(path, min_count=1)


def test_given_vocabulary(corpus_file):
    vocab = Vocabulary(["mat", "the", "unseen"], [9, 8, 7])
    for use_cache in (True, True, False):
        corpus = encode_corpus(corpus_file, vocab=vocab, use_cache=use_cache)
        assert corpus.vocab is vocab
        assert corpus.ids.tolist() == [1, 1, 0, 1, 1]
        assert (corpus.report.kept_types, corpus.report.discarded[1]) == (2, 5)
    with pytest.raises(InputError, match="no token of the corpus is in the given vocabulary"):
        encode_corpus(corpus_file, vocab=Vocabulary(["x", "y"], [1, 1]))


def test_standard_input(monkeypatch):
    seen = []
    for content in (TEXT.encode(), gzip.compress(TEXT.encode())):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        corpus = encode_corpus("-", min_count=2, progress=lambda *where: seen.append(where))
        assert corpus.ids.tolist() == [0, 1, 0, 0, 0, 1]
        assert seen[-1] == (len(content), None)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"bad \xff")))
    with pytest.raises(InputError, match=r"^standard input:1: not utf-8"):
        encode_corpus("-")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(InputError, match=r"^standard input: no token in 0 bytes"):
        encode_corpus("-")
    assert entries() == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_named_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(TEXT,))
    writer.start()
    assert encode_corpus(pipe, min_count=2).ids.tolist() == [0, 1, 0, 0, 0, 1]
    writer.join()


def test_sentences_are_gone_through_once():
    corpus = encode_corpus((line.split() for line in TEXT.splitlines()), min_count=2)
    assert corpus.ids.tolist() == [0, 1, 0, 0, 0, 1]
    assert (corpus.report.files, corpus.report.lines, corpus.report.empty_lines) == (0, 5, 1)
    with pytest.raises(InputError, match="the iterable gave no sentence"):
        encode_corpus(iter([]))


def test_progress(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "PIECE", 1000)
    write(tmp_path / "a", "a b " * 1000)
    write(tmp_path / "b", "c d " * 1000)
    seen = []
    encode_corpus([tmp_path / "a", tmp_path / "b"], progress=lambda done, total: seen.append((done, total)))
    assert seen == [(done, 8000) for done in range(1000, 8001, 1000)]


def test_second_run_reads_nothing(corpus_file, bytes_read):
    first = encode_corpus(corpus_file, min_count=1)
    assert sum(bytes_read) == len(TEXT) and not first.report.cached
    second = encode_corpus(str(corpus_file), min_count=1)
    assert sum(bytes_read) == len(TEXT) and second.report.cached
    assert "from the cache" in second.report.line()
    assert second.vocab == first.vocab
    assert np.array_equal(second.ids, first.ids) and np.array_equal(second.offsets, first.offsets)
    assert len(entries()) == 1


def test_content_counts_not_times_or_names(tmp_path, corpus_file, bytes_read):
    encode_corpus(corpus_file, min_count=1)
    os.utime(corpus_file)
    assert encode_corpus(corpus_file, min_count=1).report.cached
    assert encode_corpus(write(tmp_path / "copy.txt", TEXT), min_count=1).report.cached
    assert sum(bytes_read) == 3 * len(TEXT)
    write(corpus_file, TEXT.replace("dog", "cow"))
    changed = encode_corpus(corpus_file, min_count=1)
    assert not changed.report.cached and "cow" in changed.vocab
    assert len(entries()) == 2


def test_a_file_changed_just_now_is_not_known_by_its_times(corpus_file, bytes_read):
    os.utime(corpus_file)
    encode_corpus(corpus_file, min_count=1)
    assert encode_corpus(corpus_file, min_count=1).report.cached
    assert sum(bytes_read) == 2 * len(TEXT)


def test_settings_change_the_entry(corpus_file):
    options = [
        {},
        {"min_count": 2},
        {"max_vocab": 3},
        {"lowercase": True},
        {"encoding": "latin-1"},
        {"vocab": Vocabulary(["the", "cat"], [4, 2])},
        {"vocab": Vocabulary(["the", "cat"], [4, 3])},
    ]
    for number, option in enumerate(options, 1):
        assert not encode_corpus(corpus_file, **{"min_count": 1, **option}).report.cached
        assert len(entries()) == number
    assert encode_corpus(corpus_file, min_count=1, encoding="UTF8").report.cached


@pytest.mark.parametrize("options", [{}, {"strip": ["digit"]}])
def test_notes_on_the_encoding_are_given_of_a_cached_corpus_too(tmp_path, options):
    path = write(tmp_path / "corpus.txt", "die Straße ist 3 m breit\n" * 9)
    for cached in (False, True):
        with pytest.warns(FileNote, match=r"corpus.txt:1: .*--encoding utf-8") as notes:
            report = encode_corpus(path, min_count=1, encoding="latin-1", **options).report
        assert (report.cached, report.notes) == (cached, (str(notes[0].message),)) and len(notes) == 1


def test_without_cache_nothing_is_written(corpus_file):
    encode_corpus(corpus_file, min_count=1, use_cache=False)
    assert not cache_dir().exists()


def test_another_process_may_be_faster(corpus_file, monkeypatch):
    count_files = count.count_files
    monkeypatch.setattr(count, "count_files", lambda *args: (other(), count_files(*args))[1])

    def other():
        monkeypatch.setattr(count, "count_files", count_files)
        encode_corpus(corpus_file, min_count=1)

    corpus = encode_corpus(corpus_file, min_count=1)
    assert np.array_equal(corpus.ids, encode_corpus(corpus_file, min_count=1).ids)
    assert len(entries()) == 1


def test_another_process_may_rename_first(corpus_file, monkeypatch):
    expected = encode_corpus(corpus_file, min_count=1, use_cache=False)
    write_ids = count.write_ids

    def other_then_fail(*args):
        monkeypatch.setattr(count, "write_ids", write_ids)
        encode_corpus(corpus_file, min_count=1)
        raise OSError(39, "Directory not empty")

    monkeypatch.setattr(count, "write_ids", other_then_fail)
    assert encode_corpus(corpus_file, min_count=1).ids.tolist() == expected.ids.tolist()


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="slow without the compiler")
def test_two_processes_at_once(tmp_path):
    path = write(tmp_path / "corpus.txt", "some words make sentences\n" * 20_000)
    script = (
        "import sys; from w2vneg.data.encoded import encode_corpus\n"
        "print(int(encode_corpus(sys.argv[1], min_count=1).ids.sum()))"
    )
    command = [sys.executable, "-c", script, str(path)]
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
    assert [run.communicate() for run in runs] == [(b"120000\n", b"")] * 2
    assert len(entries()) == 1
    assert encode_corpus(path, min_count=1).report.cached


def test_an_unwritable_cache(tmp_path, corpus_file, monkeypatch):
    write(tmp_path / "file", "in the way")
    monkeypatch.setenv("W2VNEG_CACHE", str(tmp_path / "file"))
    with pytest.warns(FileNote, match=r"the cache .* is not writable .* kept for this run only"):
        assert len(encode_corpus(corpus_file, min_count=1)) == 11
    assert len(encode_corpus(corpus_file, min_count=1, use_cache=False)) == 11


@pytest.mark.parametrize("use_cache", [True, False])
def test_a_full_disk(tmp_path, corpus_file, monkeypatch, use_cache):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(count, "write_ids", full)
    remedy = "W2VNEG_CACHE" if use_cache else "TMPDIR"
    with pytest.raises(OutputError, match=f"No space left on device.*{remedy}"):
        encode_corpus(corpus_file, min_count=1, use_cache=use_cache)
    assert entries() == [] and not list(cache_dir().rglob("*.part"))


def test_nothing_stays_after_an_interrupt(corpus_file):
    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        encode_corpus(corpus_file, min_count=1, progress=interrupt)
    assert list(cache_dir("corpora").iterdir()) == []


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (TEXT, {}, r"^no token reaches min_count=5 \(largest count is 4\); lower --min-count\.$"),
        (TEXT, {"min_count": 3}, r"^only one word \('the'\) reaches min_count=3; .*at least two"),
        ("one one one", {"min_count": 1}, r"^only one word \('one'\) reaches min_count=1"),
        (" \n\t\n", {"min_count": 1}, r"corpus.txt: no token in 4 bytes; name a file with text"),
        ("", {}, "corpus.txt: the file is empty"),
        (b"bin\0ary", {}, r"corpus.txt:1: a NUL byte \(byte 3\)"),
        (gzip.compress(b"some text", mtime=0)[:-3], {}, "corpus.txt: the gzip data end too early"),
    ],
)
def test_bad_corpora(tmp_path, content, options, message):
    path = write(tmp_path / "corpus.txt", content)
    with pytest.raises(InputError, match=message):
        encode_corpus(path, **options)
    assert entries() == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_count": 0}, "min_count must be a whole number of at least 1, not 0"),
        ({"min_count": 1.5}, "min_count must be a whole number"),
        ({"max_vocab": 1}, "max_vocab must be a whole number of at least 2, not 1"),
        ({"encoding": "utf-9"}, "unknown encoding 'utf-9'; did you mean"),
        ({"vocab": ["a"]}, "vocab must be a Vocabulary, not list"),
        ({"vocab": Vocabulary(["a"], [1])}, "the given vocabulary has 1 words; training needs at least two"),
    ],
)
def test_bad_options(corpus_file, options, message):
    with pytest.raises(ConfigError, match=message):
        encode_corpus(corpus_file, **options)


def test_a_reader_from_outside_the_package(tmp_path):
    @READERS.register("semicolons")
    def read(source, *, encoding, lowercase):
        for piece in source.pieces():
            yield piece.replace(b";", b" ")

    try:
        path = write(tmp_path / "c", "a;b;a\n")
        assert sentences_of(encode_corpus(path, min_count=1, reader="semicolons")) == [["a", "b", "a"]]
        assert sentences_of(encode_corpus(write(tmp_path / "d", "a;b c"), min_count=1)) == [["a;b", "c"]]
    finally:
        READERS.unregister("semicolons")
    with pytest.raises(UnknownNameError, match="unknown reader 'semicolons'"):
        encode_corpus(path, reader="semicolons")


@pytest.mark.realdata
@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="slow without the compiler")
def test_a_real_corpus(mirror):
    corpus = encode_corpus(mirror / "corpora" / "enwiki2015-head.txt.xz")
    report = corpus.report
    assert (report.bytes, report.lines) == (99_994_309, 30_539)
    assert (report.tokens, report.types, report.kept_types) == (17_023_037, 235_707, 70_419)
    assert len(corpus.vocab) == 70_419
    assert corpus.vocab.words[:3] == ["the", "of", "and"]
    assert np.array_equal(np.bincount(corpus.ids), corpus.vocab.counts)
    assert corpus.offsets[-1] == len(corpus) == report.kept_tokens
