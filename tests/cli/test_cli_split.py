"""`w2vneg split`: files from every source, the report, warnings, and what it does about every mistake."""

import csv
import json
import os
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pandas
import pytest

import w2vneg
from w2vneg.data.encoded.pairs import read_pairs_file
from w2vneg.data.inputs import Input, encode_input

FILES = ["manifest.json", "test.tsv", "train.tsv", "valid.tsv"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with baskets.txt, ratings.csv and pairs.tsv in it."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    baskets = [[f"{i:03}" for i in rng.permutation(12)[: rng.integers(1, 8)]] for _ in range(60)]
    Path("baskets.txt").write_text("".join(" ".join(basket) + "\n" for basket in baskets))
    rows = [f"u{u},{item},{100 + k}" for u, basket in enumerate(baskets) for k, item in enumerate(basket)]
    Path("ratings.csv").write_text("\n".join(["user,item,time", *rng.permutation(rows)]) + "\n")
    pairs = [f"a{k % 7}\tb{k}\t{k + 0.5}" for k in range(40)]
    Path("pairs.tsv").write_text("\n".join(["item\ttarget\tweight", *pairs]) + "\n")
    return tmp_path


@pytest.fixture
def split(folder, run_cli):
    """A function that runs ``w2vneg split ARGUMENTS --out out``."""
    return lambda *arguments: run_cli("split", *arguments, "--out", "out")


RATINGS = ["--ratings", "ratings.csv", "--user-col", "user", "--item-col", "item", "--time-col", "time"]


def read(name):
    header, *lines = Path("out", f"{name}.tsv").read_text("utf-8").splitlines()
    assert header in ("item\ttarget\tweight", "user\titem\tweight")
    return Counter({tuple(line.split("\t")[:2]): float(line.split("\t")[2]) for line in lines})


def everything(ordered=False):
    counts = Counter()
    for line in Path("baskets.txt").read_text().splitlines():
        items = line.split()
        counts.update(
            (i, j) for a, i in enumerate(items) for b, j in enumerate(items) if a < b or (a > b and not ordered)
        )
    return counts


def assert_one_message(result, message, code=1):
    assert (result.code, result.out) == (code, "")
    assert message in result.err
    assert result.err.count("Error: ") == 1
    assert "Traceback" not in result.err
    assert not Path("out").exists()


def test_baskets_by_pair(split):
    result = split("--baskets", "baskets.txt", "--seed", "3")
    assert result.code == 0
    assert sorted(os.listdir("out")) == FILES
    parts = [read(name) for name in ("train", "valid", "test")]
    assert sum(map(len, parts)) == len(everything())
    assert sum(parts, Counter()) == everything()
    head, _, *rows = result.out.splitlines()
    assert head.split()[:4] == ["part", "pairs", "weight", "items"]
    assert [row.split()[:2] for row in rows] == [
        [name, f"{len(part):,}"] for name, part in zip(("train", "valid", "test"), parts, strict=True)
    ]
    assert result.err.splitlines()[-1] == "Wrote train.tsv, valid.tsv, test.tsv and manifest.json to out."


def test_the_same_seed_writes_the_same_bytes(split):
    written = []
    for seed in ("1", "1", "2"):
        assert split("--baskets", "baskets.txt", "--seed", seed).code == 0
        written.append({name: Path("out", name).read_bytes() for name in FILES})
    assert written[0] == written[1]
    assert written[0]["train.tsv"] != written[2]["train.tsv"]


def test_histories_by_time_are_those_of_the_baskets(split):
    assert split(*RATINGS, "--by", "time", "--ordered").code == 0
    parts = [read(name) for name in ("train", "valid", "test")]
    assert sum(parts, Counter()) == everything(ordered=True)


def test_the_manifest_is_what_json_prints(split):
    result = split(
        *RATINGS, "--by", "user", "--json", "--seed", "5", "--valid", "0", "--test", "0.3", "--max-vocab", "11"
    )
    manifest = json.loads(result.out)
    assert manifest == json.loads(Path("out/manifest.json").read_text("utf-8"))
    assert manifest["w2vneg"] == w2vneg.__version__
    expected = {"by": "user", "train": 0.7, "valid": 0.0, "test": 0.3, "seed": 5, "ordered": False, "max_vocab": 11}
    assert expected.items() <= manifest["options"].items()
    assert manifest["options"]["min_count"] == 1 and manifest["options"]["window"] is None
    assert manifest["input"]["user_col"] == "user" and manifest["input"]["kind"] == "ratings"
    (source,) = manifest["sources"]
    assert source["bytes"] == Path("ratings.csv").stat().st_size
    assert manifest["data"]["items"] == 11
    assert manifest["data"]["users"] == sum(part["users"] for part in manifest["parts"].values())
    assert set(manifest["parts"]) == {"train", "test"}
    assert sorted(os.listdir("out")) == ["manifest.json", "test.tsv", "train.tsv"]


def test_pairs_keep_their_names_and_weights(split):
    assert split("--pairs", "pairs.tsv", "--train", ".5", "--valid", ".25", "--test", ".25").code == 0
    parts = [read(name) for name in ("train", "valid", "test")]
    assert sum(parts, Counter()) == Counter({(f"a{k % 7}", f"b{k}"): k + 0.5 for k in range(40)})


@pytest.mark.parametrize("weights", [(1, 2, 3), (0.1, 1e-5, 12345.678)])
def test_the_readers_of_pairs_read_the_parts_back(split, folder, weights):
    """Names with quotes, names that look like numbers, like nothing, like the header."""
    names = ['"', "007", 'a"b', "a,b", "é", "nan", "NULL", "#x", "1e3", "'", '"quoted"', "item", "-", "\\N"]
    pairs = {(i, j): weights[(a + b) % 3] for a, i in enumerate(names) for b, j in enumerate(names) if i != j}
    with open("odd.csv", "w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([("from", "to", "n"), *((i, j, w) for (i, j), w in pairs.items())])
    assert split("--pairs", "odd.csv", "--train", ".6", "--valid", ".2", "--test", ".2").code == 0
    found = {}
    for name in ("train", "valid", "test"):
        data = encode_input(Input("pairs", (f"out/{name}.tsv",)))
        matrix, words = data.matrix.tocoo(), data.vocab.words
        found |= {(words[i], words[j]): w for i, j, w in zip(matrix.row, matrix.col, matrix.data, strict=True)}
        held = read_pairs_file(f"out/{name}.tsv", data.vocab, data.vocab_out)
        assert (len(held), held.n_unknown, held.n_read) == (data.matrix.nnz, 0, data.matrix.nnz)
        assert (data.matrix[held.centres, held.targets] == held.weights.astype(np.float32)).all()
    assert found == {pair: np.float32(weight) for pair, weight in pairs.items()}


def test_next_words(split, folder):
    (folder / "text.txt").write_text("the cat saw the dog\nthe dog saw a bird\n" * 3)
    arguments = ["--window", "1", "--ordered", "--min-count", "2", "--train", ".5", "--valid", "0", "--test", ".5"]
    assert split("--corpus", "text.txt", *arguments).code == 0
    words = ["the cat", "cat saw", "saw the", "the dog", "dog saw", "saw a", "a bird"]
    weights = {tuple(pair.split()): 3.0 for pair in words} | {("the", "dog"): 6.0}
    assert read("train") + read("test") == Counter(weights)


def test_users_and_items_by_time(split):
    assert split(*RATINGS, "--rectangular", "--by", "time", "--last", "1", "--valid", "0").code == 0
    table = pandas.read_csv("ratings.csv", dtype=str).sort_values("time")
    long = table.groupby("user").filter(lambda own: len(own) > 1)
    latest = long.groupby("user").tail(1)
    assert set(read("test")) == set(zip(latest["user"], latest["item"], strict=True))
    assert sum(read("train").values()) == len(table) - len(latest)
    assert json.loads(Path("out/manifest.json").read_text("utf-8"))["options"]["last"] == 1
    assert split(*RATINGS, "--rectangular", "--by", "time", "--until", "102").code == 0
    late = table[table["time"].astype(int) > 102]
    assert set(read("test")) == set(zip(late["user"], late["item"], strict=True))


def test_purchases_before_the_cut_stay_in_training(split, folder):
    rows = ["user,item,quantity,date", "a,A,1,2020-01-01", "a,B,1,2020-01-02", "a,A,5,2020-03-01", "b,A,2,2020-01-03"]
    (folder / "shop.csv").write_text("\n".join([*rows, "b,C,1,2020-03-01"]) + "\n")
    shop = ["--ratings", "shop.csv", "--time-col", "date", "--rectangular", "--rating-col", "quantity", "--by", "time"]
    result = split(*shop, "--until", "2020-02-01")
    assert "Left out: 1 row that repeats a pair of an earlier part." in result.err
    assert read("train") == {("a", "A"): 1, ("a", "B"): 1, ("b", "A"): 2}
    assert read("test") == {("b", "C"): 1}
    assert json.loads(Path("out/manifest.json").read_text("utf-8"))["data"]["repeats"] == 1


def test_items_only_in_test_are_told(split, folder):
    (folder / "late.txt").write_text("a b c\n" * 8 + "a d\nx y\n")
    result = split("--baskets", "late.txt", "--by", "time", "--valid", "0", "--test", ".2", "--train", ".8", "--quiet")
    assert (result.code, result.out) == (0, "")
    assert result.err == (
        "Warning: 3 names in test.tsv are not in train.tsv; a model trained on train.tsv cannot rank the 4 pairs of 4 "
        "(100.0%) that have one.\n"
    )
    manifest = json.loads(Path("out/manifest.json").read_text("utf-8"))
    assert manifest["parts"]["test"]["new_items"] == 3
    (folder / "late.tsv").write_text(
        "user\titem\ttime\n" + "".join(f"{u}\t{i}\t1\n" for u in "uv" for i in "ab") + "u\tc\t2\n"
    )
    result = split(
        "--ratings", "late.tsv", "--time-col", "time", "--rectangular", "--by", "time", "--until", "1", "--quiet"
    )
    assert result.err == (
        "Warning: 1 name in test.tsv is not in train.tsv; a model trained on train.tsv cannot rank the 1 pair of 1 "
        "(100.0%) that has it.\n"
    )


@pytest.mark.parametrize("by", ["pair", "user", "time"])
def test_users_and_items_are_called_so_on_the_screen_and_in_the_manifest(split, by):
    result = split(*RATINGS, "--rectangular", "--by", by)
    assert result.code == 0 and result.err.endswith(" and manifest.json to out.\n")
    head, _, *rows = result.out.splitlines()
    assert head.split()[:5] == ["part", "pairs", "weight", "users", "items"] and "centre" not in head
    manifest = json.loads(Path("out/manifest.json").read_text("utf-8"))
    table = pandas.read_csv("ratings.csv", dtype=str)
    assert manifest["data"] == {"users": table["user"].nunique(), "items": table["item"].nunique()}
    for row in rows:
        name, _, _, *sizes = row.split()
        sides = [len(set(side)) for side in zip(*read(name), strict=True)]
        assert (
            sides == [int(size) for size in sizes[:2]] == [manifest["parts"][name][side] for side in ("users", "items")]
        )
    assert split(*RATINGS, "--by", "user").err.endswith("to out; they replace the former split in out.\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "--baskets baskets.txt --train .7 --valid .1 --test .1",
            "must add up to 1; 0.7 + 0.1 + 0.1 = 0.9; give --train 0.8",
        ),
        ("--baskets baskets.txt --train 0 --valid .5 --test .5", "--train 0 leaves nothing to train on"),
        ("--baskets baskets.txt --valid -.1 --test .4", "--valid must be a share between 0 and 1, not -0.1"),
        ("--baskets baskets.txt --seed -1", "seed must be at least 0, got -1"),
        ("--baskets baskets.txt --window 3", "--window has no effect here: it is for text (--corpus)"),
        ("--corpus baskets.txt --window 0", "window must be at least 1, got 0"),
        ("--pairs pairs.tsv --ordered", "--ordered has no effect here"),
        ("--edges pairs.tsv --ordered", "--ordered defines pairs, and --edges are pairs already"),
        ("--edges pairs.tsv --window 3", "--window defines pairs, and --edges are pairs already"),
        ("--pairs pairs.tsv --by user", "pairs of items have no users"),
        ("--pairs pairs.tsv --by time", "pairs have no times"),
        ("--ratings ratings.csv --user-col user --item-col item --by time", "name its column with --time-col"),
        ("--pairs pairs.tsv --by time --rectangular", "pairs have no times"),
        ("--baskets baskets.txt --by time --last 1", "use them with --by time and --ratings"),
        ("--ratings ratings.csv --by time --last 0", "--last must hold out at least one event per user"),
        ("--ratings ratings.csv --by time --until soon", "'soon' is not a time"),
        ("--baskets few.txt --by user", "the valid part is empty, but should get 0."),
        ("--baskets none.txt", "none.txt"),
    ],
)
def test_mistakes(split, folder, arguments, message):
    (folder / "few.txt").write_text("a b\nb a\n")
    assert_one_message(split(*arguments.split()), message)


def test_what_is_wrong_is_told_before_anything_is_read(split, monkeypatch):
    def refuse(*arguments, **options):
        raise AssertionError("the data were read")

    monkeypatch.setattr("w2vneg.data.inputs.encode_input", refuse)
    for arguments in ("--train .9", "--by time", "--by user", "--ordered"):
        assert split("--pairs", "pairs.tsv", *arguments.split()).code == 1


def test_usage(split, run_cli, folder):
    assert_one_message(run_cli("split", "--baskets", "baskets.txt"), "Missing option '--out'", code=2)
    assert_one_message(split(), "--baskets", code=2)
    assert_one_message(split("--baskets", "baskets.txt", "--by", "basket"), "'basket' is not one of", code=2)
    for others in (["--train", ".5"], ["--valid", ".2"], ["--until", "3"]):
        assert_one_message(split(*RATINGS, "--by", "time", "--last", "1", *others), "give one of them", code=2)


def test_a_folder_with_something_else_in_it_is_left_alone(folder, run_cli):
    result = run_cli("split", "--baskets", "baskets.txt", "--out", ".")
    assert result.code == 1 and "is not a split made by w2vneg (it holds baskets.txt" in result.err
    assert sorted(os.listdir()) == ["baskets.txt", "pairs.tsv", "ratings.csv"]


def test_a_part_is_not_split_over_itself(split):
    assert split("--baskets", "baskets.txt").code == 0
    before = Path("out/train.tsv").read_bytes()
    result = split("--pairs", "out/train.tsv")
    assert result.code == 2 and "would overwrite" in result.err and "out/train.tsv" in result.err
    assert Path("out/train.tsv").read_bytes() == before


@pytest.mark.realdata
def test_movielens_100k(mirror, split):
    """All pairs of all histories: the sum of n (n - 1); the latest fifth of a history is what was rated last."""
    path = mirror / "recsys" / "ml-100k" / "u.data.xz"
    ratings = pandas.read_csv(path, sep="\t", names=["user", "item", "rating", "time"])
    lengths = ratings.groupby("user").size()
    assert split("--ratings", path, "--time-col", "4", "--quiet").code == 0
    assert sum(sum(read(name).values()) for name in ("train", "valid", "test")) == (lengths * (lengths - 1)).sum()
    assert split("--ratings", path, "--time-col", "4", "--by", "time", "--ordered", "--quiet").code == 0
    parts = {name: sum(read(name).values()) for name in ("train", "valid", "test")}
    assert sum(parts.values()) == (lengths * (lengths - 1) // 2).sum()
    assert abs(parts["train"] / sum(parts.values()) - 0.49) < 0.005
    assert abs(parts["test"] / sum(parts.values()) - 0.36) < 0.005


class TestWarnings:
    """Held-out parts of a split by pair, ranked among the pairs trained on."""

    SMALL = ("--dim=4", "--epochs=1", "--workers=1", "--loss=ns")
    WARNED = "Warning: pairs of out/train.tsv compete with those of out/{0}.tsv but are never right; "

    @pytest.fixture
    def warnings_of(self, run_cli):
        def run(*arguments):
            result = run_cli(*arguments)
            assert result.code == 0, result.err
            return [line for line in result.err.splitlines() if " compete with those of " in line]

        return run

    @pytest.fixture
    def model(self, split, run_cli):
        assert split("--baskets", "baskets.txt").code == 0
        assert run_cli("train", "--pairs", "out/train.tsv", *self.SMALL, "--save-model", "model").code == 0
        return "model"

    def test_of_evaluation(self, model, warnings_of):
        (warning,) = warnings_of("eval", "ranking", model, "out/test.tsv", "--bootstrap=0", "--train=out/train.tsv")
        assert warning.startswith(self.WARNED.format("test"))
        assert warning.endswith("; leave them out with --exclude-known out/train.tsv.")
        assert warnings_of("eval", "ranking", model, "out/test.tsv", "--exclude-known=out/train.tsv") == []
        assert warnings_of("eval", "ranking", model, "out/train.tsv", "--bootstrap=0") == []

    def test_of_pairs_that_the_model_was_trained_on(self, model, run_cli):
        def told(model, held):
            result = run_cli("eval", "ranking", model, held, "--all", "--bootstrap=0")
            assert result.code == 0 and "by popularity of the target" in result.out
            return [line for line in result.err.splitlines() if "was trained on" in line]

        assert told(model, "out/test.tsv") == []
        shutil.copy("out/train.tsv", "copied.tsv")
        for held in ("out/train.tsv", "copied.tsv"):
            (warning,) = told(model, held)
            assert "out/train.tsv, which has these pairs" in warning
        assert run_cli("train", "--baskets", "baskets.txt", *self.SMALL, "--save-model", "whole").code == 0
        (warning,) = told("whole", "out/test.tsv")  # the manifest says what it was split from
        assert "baskets.txt, which has these pairs" in warning

    def test_of_training_and_searching(self, model, warnings_of):
        evaluated = ("--pairs=out/train.tsv", "--valid=out/valid.tsv", *self.SMALL)
        for command in (("train", "--quiet"), ("tune", "--grid=alpha=0.05", "--out=search")):
            (warning,) = warnings_of(*command, *evaluated)
            assert warning.startswith(self.WARNED.format("valid"))
            assert warning.endswith("; leave them out with --valid-exclude-known out/train.tsv.")
        known = "--valid-exclude-known=out/train.tsv"
        assert warnings_of("train", *evaluated, known, "--force") == []
        assert warnings_of("tune", *evaluated, known, "--grid=alpha=0.05", "--out=other") == []

    def test_a_run_that_is_resumed_cannot_change_it(self, model, warnings_of):
        evaluated = ("--pairs=out/train.tsv", "--valid=out/valid.tsv", *self.SMALL)
        assert len(warnings_of("train", *evaluated, "--save-model=evaluated")) == 1
        assert warnings_of("train", "--resume=evaluated") == []

    @pytest.mark.parametrize("way", [["--by", "user"], ["--by", "time"]])
    def test_other_ways_to_split_hold_out_what_may_be_trained_on(self, split, warnings_of, run_cli, way):
        assert split(*RATINGS, *way).code == 0
        assert warnings_of("train", "--pairs=out/train.tsv", "--valid=out/valid.tsv", *self.SMALL) == []

    @pytest.mark.parametrize(
        "text",
        [None, "", "[]", "{", "\xff", '{"made_by": "w2vneg split", "options": {"by": "pair"}}', '{"made_by": "us"}'],
    )
    def test_files_beside_any_other_manifest(self, model, warnings_of, text):
        manifest = Path("out", "manifest.json")
        manifest.unlink()
        if text is not None:
            manifest.write_text(text, encoding="latin-1")
        assert warnings_of("eval", "ranking", model, "out/test.tsv", "--bootstrap=0") == []

    def test_a_file_of_another_name_beside_the_manifest(self, model, warnings_of):
        Path("out", "own.tsv").write_bytes(Path("out", "test.tsv").read_bytes())
        assert warnings_of("eval", "ranking", model, "out/own.tsv", "--bootstrap=0") == []
