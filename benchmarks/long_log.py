"""A purchase log too long to keep here: made up, written to a file, trained on, evaluated, and lists for all users.

A user has two tastes among 500 and, four times of five, takes an item of one of them, else any; within a taste items
are drawn by Zipf's law. The last item of each of the first users is held out. Steps are processes, as in `long_text`.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from .contenders import zipf_ids
from .long_text import Step, rates, run_step, size

_BLOCK, _TASTES, _HELD_OUT = 50_000, 500, 10_000
_TRUE = 0.8  # share of items that are of one of a user's tastes


def write_log(path, test, n_users, n_items, n_pairs):
    """Write users and items as CSV, and a held-out item of the first users."""
    with open(path, "w") as stream, open(test, "w") as held_out:
        for file in (stream, held_out):
            file.write("user,item\n")
        for seed, first in enumerate(range(0, n_users, _BLOCK)):
            n = min(_BLOCK, n_users - first)
            users, items = drawn(seed, n, n_items, n_pairs / n_users)
            last = np.append(np.flatnonzero(np.diff(users)), len(users) - 1)
            former = np.setdiff1d(np.arange(len(users)), last)
            known = set(zip(users[former].tolist(), items[former].tolist(), strict=True))
            users, items = users.tolist(), items.tolist()
            stream.writelines(f"u{first + users[k]},i{items[k]}\n" for k in former)
            for k in last if first < _HELD_OUT else ():
                if first + users[k] < _HELD_OUT and (users[k], items[k]) not in known:
                    held_out.write(f"u{first + users[k]},i{items[k]}\n")


def drawn(seed, n_users, n_items, mean):
    """Return users, in order, and an item of each row, int64 (n,); each user has 3 rows or more."""
    rng = np.random.default_rng(seed)
    users = np.repeat(np.arange(n_users), 2 + rng.geometric(1 / max(mean - 2, 1), n_users))
    own = rng.integers(0, _TASTES, (n_users, 2))[users, rng.integers(0, 2, len(users))]
    taste = np.where(rng.random(len(users)) < _TRUE, own, rng.integers(0, _TASTES, len(users)))
    return users, zipf_ids(n_items // _TASTES, len(users), seed).astype(np.int64) * _TASTES + taste


def measure(n_users, n_items, n_pairs, dim, workers, folder=None):
    """Write the log, train, evaluate and recommend by top-n, then by slim, then implicit's ALS; yield each Step."""
    with tempfile.TemporaryDirectory(dir=folder) as kept:
        log, test, model, other, events, lists = (
            str(Path(kept) / name) for name in ("log.csv", "test.csv", "model", "slim", "log.jsonl", "lists.parquet")
        )
        begun = time.perf_counter()
        write_log(log, test, n_users, n_items, n_pairs)
        yield Step("log written", time.perf_counter() - begun, 0.0, 0, size(log))
        threads = ["--workers", str(workers)]
        options = ["--loss", "top-n", "--dim", str(dim), *threads]
        yield run_step("compiled", ["warmup", "--for", "pairs", *options])
        train = ["train", "--pairs", log, *options, "--save-model", model, "--log-json", events]
        yield run_step("trained", train, lambda _: rates(events, "pairs").rpartition("; ")[2])
        how = ["-k", "10", "--no-baselines", "--bootstrap", "0", "--json"]
        yield run_step("evaluated", ["eval", "ranking", model, test, *how], _ndcg)
        yield run_step("lists of all users", ["recommend", model, "--all", "--out", lists], lambda _: size(lists))
        yield run_step("slim learnt", ["slim", "--pairs", log, *threads, "--save-model", other])
        yield run_step("slim evaluated", ["eval", "ranking", other, test, *how], _ndcg)
        als = ["-c", "from benchmarks.long_log import als; als()"]
        yield run_step(
            "ALS, all of it",
            [log, test, str(dim), str(workers)],
            lambda output: output.strip().rpartition("\n")[2],
            als,
        )


def _ndcg(output):
    found = json.loads(output[output.index("{") :])
    return f"NDCG@10 {found['results']['model']['ndcg']['10']:.4f}"


def als():
    """Read log and test of the command line, fit implicit's ALS as it comes, and print seconds and NDCG@10."""
    import pandas
    from implicit.cpu.als import AlternatingLeastSquares
    from scipy.sparse import csr_matrix

    from .item_rivals import fit

    log, test, dim, workers = sys.argv[1:]
    rows = pandas.read_csv(log, dtype="category")
    shape = [len(rows[name].cat.categories) for name in ("user", "item")]
    matrix = csr_matrix((np.ones(len(rows), np.float32), (rows.user.cat.codes, rows.item.cat.codes)), shape=shape)
    model = AlternatingLeastSquares(factors=int(dim), num_threads=int(workers), random_state=1)
    seconds = fit(model, matrix)
    held_out = pandas.read_csv(test)
    user, item = (pandas.Index(rows[name].cat.categories).get_indexer(held_out[name]) for name in ("user", "item"))
    known = (user >= 0) & (item >= 0)
    user, item = user[known], item[known]
    found = model.recommend(user, matrix[user], N=10)[0] == item[:, None]
    print(f"fitted in {seconds:.1f} s; NDCG@10 {(found / np.log2(np.arange(2, 12))).sum(axis=1).mean():.4f}")
