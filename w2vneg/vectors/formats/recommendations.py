"""Lists of recommendations in files, one row per recommendation: query, rank from 1, item, score.

CSV and Parquet files have these columns; a line of JSON has all of one query: {"query", "items": [{"item", "score"}]}.
If titles of items are given, a column "title" follows the item, empty for items without one.
"""

import csv
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from ...ground.errors import ConfigError, require
from ...ground.files.atomic import atomic_file


def form_of(path):
    """Return the form for a file's suffix; ConfigError if there is none, MissingExtraError without pyarrow."""
    form = Path(path).suffix.lower().removeprefix(".")
    if form not in _WRITERS:
        raise ConfigError(f"{path}: recommendations are written as {', '.join(_WRITERS)}; end the name in one of these")
    if form == "parquet":
        require("pyarrow.parquet", "parquet", f"writing {path}")
    return form


def write_recommendations(path, blocks, words, words_out, titles=None):
    """Write lists of recommendations as .csv, .jsonl or .parquet; the file appears complete or not at all.

    blocks : from `evaluation.recommend.recommend_blocks`; words, words_out : sequence of str, centres and targets
    titles : dict of str -> str, optional, titles of targets
    """
    titled = None if titles is None else [titles.get(word, "") for word in words_out]
    _WRITERS[form_of(path)](path, blocks, words, words_out, titled)


def _write_csv(path, blocks, words, words_out, titles):
    heads, items = _quoted(words), _quoted(words_out)
    if titles is not None:
        items = [f"{item},{title}" for item, title in zip(items, _quoted(titles), strict=True)]
    with atomic_file(path, "w", encoding="utf-8") as stream:
        stream.write(",".join(_columns(titles)) + "\n")
        for centre, listed in _lists(blocks):
            places = enumerate(listed, 1)
            stream.writelines(f"{heads[centre]},{rank},{items[item]},{score}\n" for rank, (item, score) in places)


def _columns(titles):
    return ["query", "rank", "item", *([] if titles is None else ["title"]), "score"]


def _lists(blocks):
    """Yield the id of each centre and its list of (target, score as the shortest text of a float32)."""
    for centres, ids, scores in blocks:
        for centre, own, figures in zip(centres.tolist(), ids.tolist(), scores.astype(str).tolist(), strict=True):
            yield centre, [(item, score) for item, score in zip(own, figures, strict=True) if item >= 0]


def _quoted(words):
    fields = []
    csv.writer(SimpleNamespace(write=fields.append)).writerows((word,) for word in words)
    return [field.removesuffix("\r\n") for field in fields]  # with another end, older Pythons do not quote these signs


def _write_jsonl(path, blocks, words, words_out, titles):
    heads = [json.dumps(word, ensure_ascii=False) for word in words]
    items = [f'"item": {json.dumps(word, ensure_ascii=False)}' for word in words_out]
    if titles is not None:
        named = (json.dumps(title, ensure_ascii=False) for title in titles)
        items = [f'{item}, "title": {title}' for item, title in zip(items, named, strict=True)]
    with atomic_file(path, "w", encoding="utf-8") as stream:
        for centre, listed in _lists(blocks):
            found = ", ".join(f'{{{items[item]}, "score": {score}}}' for item, score in listed)
            stream.write(f'{{"query": {heads[centre]}, "items": [{found}]}}\n')


def _write_parquet(path, blocks, words, words_out, titles):
    import pyarrow as pa
    import pyarrow.parquet as parquet

    heads, items = pa.array(list(words), pa.string()), pa.array(list(words_out), pa.string())
    named = None if titles is None else pa.array(titles, pa.string())
    kinds = {"rank": pa.int32(), "score": pa.float32()}
    schema = pa.schema([(name, kinds.get(name, pa.string())) for name in _columns(titles)])
    with atomic_file(path) as stream, parquet.ParquetWriter(stream, schema) as writer:
        for centres, ids, scores in blocks:
            listed = ids >= 0
            rank = np.broadcast_to(np.arange(1, ids.shape[1] + 1, dtype=np.int32), ids.shape)[listed]
            places = pa.array(ids[listed])
            columns = [heads.take(pa.array(np.repeat(centres, listed.sum(axis=1)))), pa.array(rank)]
            columns += [items.take(places), *([] if named is None else [named.take(places)]), pa.array(scores[listed])]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))


_WRITERS = {"csv": _write_csv, "jsonl": _write_jsonl, "parquet": _write_parquet}
