"""The comparison on items is fair and says what it measures: known communities, chosen by validation pairs alone."""

import dataclasses
import json

import numpy as np
import pytest
import scipy.sparse

from benchmarks import item_rivals, item_trainers, items, items_speed
from benchmarks.item_rivals import Effort, Reading
from benchmarks.item_trainers import CONTENDERS, Contender
from studies.item_tasks import make_task
from w2vneg.data.encoded import HeldOut, encode_corpus
from w2vneg.ground.errors import ConfigError, InputError, UnknownNameError
from w2vneg.run.validation import Metric
from w2vneg.vectors.evaluation import popularity_scores

EFFORT = Effort(pairs=60_000, dim=8, rounds=1.0)
SETTINGS = {  # for communities this small; the grids are for thousands of items
    "w2vneg": {"source": "pairs", "loss": "us"},
    "item2vec": {"alpha": 0.05, "noise_exponent": 0.75, "negatives": 5, "window": None, "share": 1.0},
    "bm25": {"K1": 1.2, "B": 0.8},
    "als": {"alpha": 1.0, "regularization": 5.0, "iterations": 10},
    "bpr": {"learning_rate": 0.05, "regularization": 0.01, "iterations": 50},
}
PACKAGES = {"item2vec": "gensim", "cosine": "implicit", "tfidf": "implicit", "bm25": "implicit"} | dict.fromkeys(
    ("als", "bpr"), "implicit"
)


def communities(n_users=240, n_items=12, length=6, seed=0):
    """Return histories (list of list of str) whose items are all of one of two communities, each item once."""
    rng = np.random.default_rng(seed)
    return [[f"{'ab'[u % 2]}{i}" for i in rng.permutation(n_items)[:length]] for u in range(n_users)]


@pytest.fixture(scope="module")
def task():
    return make_task("made up", encode_corpus(communities(), min_count=1), 1, "baskets")


@pytest.fixture(scope="module")
def parts(task):
    return items.Parts.of(task)


def needs(name):
    if name in PACKAGES:
        pytest.importorskip(PACKAGES[name], exc_type=ImportError)


def own_first(scores, vocab):
    """Return the share, of the 11 best others of every item, that are of its community."""
    table = np.array(scores(np.arange(len(vocab))), np.float64)
    np.fill_diagonal(table, -np.inf)
    best = np.argsort(-table, axis=1)[:, :11]
    own = np.array([word[0] for word in vocab.words])
    return float((own[best] == own[:, None]).mean())


OURS_SLOW = [pytest.param(name, marks=[pytest.mark.slow] if name == "w2vneg" else []) for name in CONTENDERS]


@pytest.mark.parametrize("name", [one for one in OURS_SLOW if one.values != ("popularity",)])
def test_everyone_ranks_the_own_community_first(name, parts):
    needs(name)
    readings, seconds = CONTENDERS[name].train(parts.histories, SETTINGS.get(name, {}), 1, EFFORT)
    found = {key: own_first(one.scores, parts.histories.vocab) for key, one in readings.items()}
    assert max(found.values()) == 1.0, found
    assert min(found.values()) > 0.9, found  # one reading may be worse, none is broken
    assert seconds > 0


@pytest.mark.parametrize("name", OURS_SLOW)
def test_every_setting_of_the_grids_is_accepted(name, parts):
    needs(name)
    effort = Effort(pairs=2000, dim=4, rounds=0.01)
    for setting in CONTENDERS[name].settings if name not in ("w2vneg", "item2vec") else CONTENDERS[name].settings[-2:]:
        readings, _ = CONTENDERS[name].train(parts.histories, setting, 1, effort)
        for one in readings.values():
            scores = one.scores(np.arange(3))
            assert scores.shape == (3, len(parts.histories.vocab)) and np.isfinite(scores).all()
    settings = [json.dumps(setting) for setting in CONTENDERS[name].settings]
    assert len(set(settings)) == len(settings) <= 14


def test_our_settings_are_valid_options():
    for setting in CONTENDERS["w2vneg"].settings:
        options = {name: value for name, value in setting.items() if name != "share"}
        item_trainers.TrainConfig(**options).resolved()


def test_neighbours_beyond_the_kept_ones_come_last_by_popularity():
    similarity = scipy.sparse.csr_matrix(np.array([[1.0, 0.5, 0.0, 0.0], [0.5, 1, 0.25, 0], [0, 0.25, 1, 0], [0] * 4]))
    counts = np.array([8, 4, 2, 16])
    plain = item_rivals.neighbour_scores(similarity, counts, 0.0)(np.arange(4))
    assert plain[0, 0] == 0.0 and plain[0, 1] == pytest.approx(np.log(0.5))
    assert np.argsort(-plain[0]).tolist() == [0, 1, 3, 2]  # 3 is more popular than 2
    assert np.argsort(-plain[3]).tolist() == [3, 0, 1, 2]
    weighed = item_rivals.neighbour_scores(similarity, counts, 1.0)(np.array([1]))
    assert weighed[0, :3] == pytest.approx(np.log([0.5 * 8, 1 * 4, 0.25 * 2]))


def test_als_of_a_new_user_is_implicits_own(parts):
    als = pytest.importorskip("implicit.cpu.als", exc_type=ImportError)
    setting = {"alpha": 10.0, "regularization": 0.5, "iterations": 5}
    readings, _ = item_rivals.train_als(parts.histories, setting, 3, EFFORT)
    with item_rivals.threadpool_limits(1, "blas"):
        model = als.AlternatingLeastSquares(factors=8, random_state=3, **setting)
        model.fit(item_rivals.user_items(parts.histories), show_progress=False)
    had = scipy.sparse.csr_matrix(([1.0], ([0], [5])), (1, len(parts.histories.vocab)), dtype=np.float32)
    expected = model.item_factors @ model.recalculate_user(0, had)
    found = readings["new user"].scores(np.array([5]))[0]
    assert np.corrcoef(expected, found)[0, 1] == pytest.approx(1.0, abs=1e-5)


def test_bpr_of_a_new_user_adds_the_bias_of_the_target(parts):
    pytest.importorskip("implicit.cpu.bpr", exc_type=ImportError)
    readings, _ = item_rivals.train_bpr(parts.histories, SETTINGS["bpr"], 1, EFFORT)
    both = [np.array(readings[key].scores(np.array([2])), np.float64)[0] for key in ("new user", "inner product")]
    vectors = readings["inner product"].scores.vectors_out
    assert vectors.shape == (24, 9)
    assert both[0] - both[1] == pytest.approx(vectors[:, -1] * (1 - vectors[2, -1]), abs=1e-5)


@pytest.mark.parametrize("window", [1, 2, 3, 10])
def test_pairs_of_windows_are_counted_as_they_are_trained(window):
    lengths = [1, 2, 3, 7]
    expected = sum(1 for n in lengths for i in range(n) for j in range(n) if i != j and abs(i - j) <= window)
    assert item_rivals.window_pairs(lengths, window) == expected


def test_new_orders_keep_every_history(parts):
    twice = item_rivals.in_new_orders(parts.histories, 2, seed=1)
    n = parts.histories.n_sentences
    assert twice.n_sentences == 2 * n
    sets = [sorted(twice.ids[a:b]) for a, b in zip(twice.offsets[:-1], twice.offsets[1:], strict=True)]
    own = parts.histories
    expected = [sorted(own.ids[a:b]) for a, b in zip(own.offsets[:-1], own.offsets[1:], strict=True)]
    assert sets == expected * 2
    assert not np.array_equal(twice.ids[: len(own)], twice.ids[len(own) :])


def test_counted_pairs_are_those_of_the_task(task, parts):
    ours = item_trainers.counted_pairs(parts.histories)
    names = [task.histories.vocab.id(word) for word in parts.histories.vocab.words]
    assert (ours.matrix != task.train.matrix[names][:, names]).nnz == 0


def test_items_nobody_trained_on_are_left_out_and_counted():
    histories = [["a", "b", "c"], ["b", "a"]] * 20 + [["rare", "b"]]
    task = make_task("made up", encode_corpus(histories, min_count=1), 1, "baskets")
    vocab = task.histories.vocab
    rare = vocab.id("rare")
    without = dataclasses.replace(task.histories, ids=np.where(task.histories.ids == rare, 0, task.histories.ids))
    pair = HeldOut(np.array([rare, 0]), np.array([0, 1]), np.array([2.0, 3.0]), 0, 2)
    parts = items.Parts.of(dataclasses.replace(task, histories=without, test=pair))
    assert "rare" not in parts.histories.vocab
    assert parts.test.n_unknown == 1 and parts.test.weights.tolist() == [3.0]
    kept = parts.histories.vocab.words[parts.test.centres[0]], parts.histories.vocab.words[parts.test.targets[0]]
    assert kept == (vocab.words[0], vocab.words[1])
    assert parts.histories.vocab.counts.tolist() == np.bincount(parts.histories.ids).tolist()


def test_an_item_is_not_ranked_for_itself():
    """The scores put every item first for itself; the held-out partner is then the best of the rest."""
    scores = Reading(lambda centres: np.eye(4)[centres] * 9 + np.array([0.0, 1.0, 2.0, 3.0]), True)
    held = HeldOut(np.array([0, 3]), np.array([3, 2]), np.ones(2), 0, 2)
    result = items.evaluate(scores, held, 4, (1,))
    assert result.precision[1] == 1.0 and result.mpr == 1.0
    others = np.exp([3.0, 2.0, 1.0])
    expected = (3.0 - np.log(others.sum()) + 2.0 - np.log(np.exp([0.0, 1.0, 2.0]).sum())) / -2
    assert result.nll == pytest.approx(expected)


def test_a_sample_of_pairs_follows_their_weights():
    held = HeldOut(np.arange(5), np.arange(5), np.array([1.0, 0.0, 2.0, 3.0, 4.0]), 0, 5)
    assert items.sampled(held, most=5) is held
    drawn = items.sampled(dataclasses.replace(held), most=4, seed=2)
    assert drawn.weights.sum() == 4 and 1 not in drawn.centres
    many = HeldOut(np.arange(3000) % 3, np.arange(3000), np.tile([1.0, 2.0, 0.0], 1000), 0, 3000)
    found = items.sampled(many, most=2900)
    share = found.weights[found.centres == 1].sum() / 2900
    assert abs(share - 2 / 3) < 0.05 and not (found.centres == 2).any()


class Forbidden:
    """Held-out pairs that must not be looked at."""

    def __getattr__(self, name):
        raise AssertionError(f"tuning asked the test part for its {name}")


def scripted(values):
    """Return a contender whose reading's P@1 on the pair (0, 1) is scripted by its setting."""

    def train(histories, setting, seed, effort):
        if setting["value"] is None:
            raise ConfigError("this one cannot")
        rank_first = np.array([0.0, 1.0, -1.0]) * setting["value"]
        good = Reading(lambda centres: np.tile(rank_first, (len(centres), 1)), False)
        flat = Reading(lambda centres: np.zeros((len(centres), 3)), False)
        return {"flat": flat, "good": good}, 1.0 + seed

    return Contender("scripted", train, [{"value": value} for value in values])


def three_items():
    histories = encode_corpus([["a", "b", "c"]] * 3, min_count=1)
    return histories, HeldOut(np.array([0]), np.array([1]), np.ones(1), 0, 1)


def test_validation_chooses_and_the_test_part_is_never_looked_at(tmp_path, monkeypatch):
    histories, held = three_items()
    parts = items.Parts(histories, held, Forbidden())
    contender, metric = scripted([-1.0, None, 1.0, 2.0]), Metric.parse("prec@1")
    monkeypatch.setitem(CONTENDERS, "scripted", contender)
    record = items.Record.at(tmp_path / "out.json", {"data": "made up"})
    told = []
    items.tune({"scripted": contender}, parts.histories, held, metric, EFFORT, record, tell=told.append)
    trial, reading = record.best("scripted", metric)
    assert (trial.setting, reading) == ({"value": 1.0}, "good")  # of equally good ones the first
    assert record.trials[1].reason == "this one cannot" and "this one cannot" in told[1]
    with pytest.raises(AssertionError, match="test part"):
        items.report({"scripted": contender}, parts, metric, EFFORT, 1, record)

    again = items.Record.at(tmp_path / "out.json", {"data": "made up"})
    items.tune({"scripted": contender}, parts.histories, held, metric, EFFORT, again, tell=told.append)
    assert len(told) == 4 and again.trials == record.trials  # nothing was tried twice
    parts = items.Parts(histories, Forbidden(), held)
    items.report({"scripted": contender}, parts, metric, EFFORT, 2, again)
    assert [(run.seed, run.seconds, run.figures["P@1"]) for run in again.runs] == [(1, 2.0, 1.0), (2, 3.0, 1.0)]
    assert items.Record.at(tmp_path / "out.json", {"data": "made up"}).runs == again.runs
    with pytest.raises(ConfigError, match="other data or options"):
        items.Record.at(tmp_path / "out.json", {"data": "others"})


def test_a_contender_without_a_good_setting_is_told(tmp_path):
    histories, held = three_items()
    record = items.Record(None, {})
    items.tune({"x": scripted([None])}, histories, held, Metric.parse("mpr"), EFFORT, record)
    with pytest.raises(ConfigError, match="no setting of x could be trained: this one cannot"):
        record.best("x", Metric.parse("mpr"))


def test_names_and_metrics_and_files_are_checked(tmp_path):
    with pytest.raises(UnknownNameError, match=r"did you mean 'bpr'\? Known: w2vneg, [^.]*\.$"):
        items.find_contenders(["bprr"])
    assert list(items.find_contenders(["bpr", "w2vneg"])) == ["w2vneg", "bpr"]
    with pytest.raises(ConfigError, match="choose by mpr"):
        items.find_metric("nll")
    (tmp_path / "other.json").write_text("[1]")
    with pytest.raises(InputError, match="not a record"):
        items.Record.at(tmp_path / "other.json", {})


def test_tables_give_means_ranges_and_what_was_chosen():
    figures = {"P@1": 0.1, "MPR": 0.9, "likelihood": None}
    runs = [
        items.Run("bpr", {}, "cosine", seed, 10.0 + seed, figures | {"P@1": 0.1 + seed / 100}) for seed in (1, 2)
    ] + [items.Run("popularity", {}, "log count", 1, 0.25, figures | {"likelihood": 0.0123})]
    assert items.table(runs).splitlines() == [
        "| trainer | runs | P@1 | MPR | likelihood | seconds |",
        "|---|---|---|---|---|---|",
        "| implicit BPR | 2 | 11.50 (11.00–12.00) | 90.00 (90.00–90.00) | – | 11.5 (11.0–12.0) |",
        "| popularity | 1 | 10.00 | 90.00 | 1.230 | 0.2 |",
    ]
    trials = [
        items.Trial("bpr", {"lr": 0.1}, 2.0, {"cosine": 0.2, "new user": 0.3}),
        items.Trial("bpr", {"lr": 0.2}, 4.0, {"cosine": 0.1, "new user": 0.1}),
    ]
    row = items.choices_table(items.Record(None, {}, trials), ["bpr"], Metric.parse("prec@15")).splitlines()[-1]
    assert row == "| implicit BPR | lr 0.1 | new user | 0.3000 | 2 | 3.0 |"


def test_speed_table_counts_scores_and_takes_ratios_within_a_round():
    timings = [
        items_speed.Timing(name, repeat, seconds, 6_000_000, scores)
        for name, times, scores in (("ours", (1, 2), 36_000_000), (items_speed.REFERENCE, (4, 6), 12_000_000))
        for repeat, seconds in enumerate(times)
    ]
    lines = items_speed.table(timings).splitlines()
    assert lines[2] == "| ours | 4.50 (3.00–6.00) | 27.0 | 3.5 (3.0–4.0) |"
    assert lines[3] == f"| {items_speed.REFERENCE} | 1.25 (1.00–1.50) | 2.5 | 1.0 (1.0–1.0) |"


@pytest.mark.slow
def test_everyone_is_timed_on_about_the_same_pairs(parts):
    pytest.importorskip("gensim")
    pytest.importorskip("implicit", exc_type=ImportError)
    names = ["w2vneg us, drawn pairs", items_speed.REFERENCE, "implicit BPR"]
    timings = items_speed.measure(parts.histories, 4, 1, names)
    pairs = {t.contender: t.pairs for t in timings}
    expected = item_rivals.window_pairs(np.diff(parts.histories.offsets), items_speed.REACH)
    assert list(pairs) == names and all(t.seconds > 0 for t in timings)
    assert all(abs(n / expected - 1) < 0.2 for n in pairs.values()), (pairs, expected)
    assert [t.scores // t.pairs for t in timings] == [6, 6, 2]


@pytest.mark.slow
def test_quick_command_from_data_to_table(run_bench, tmp_path, monkeypatch, task):
    pytest.importorskip("gensim")
    pytest.importorskip("implicit", exc_type=ImportError)
    monkeypatch.setattr("studies.item_tasks.load_task", lambda name, by, seed: task)
    monkeypatch.setattr(items, "QUICK", Effort(pairs=20_000, dim=8, rounds=0.1))
    arguments = ("items", "--data", "uk", "--quick", "--seeds", 2, "--out", tmp_path / "out.json")
    result = run_bench(*arguments)
    assert result.code == 0, result.err
    rows = [line.split("|")[1].strip() for line in result.out.splitlines() if line.startswith("| ")]
    titles = [one.title for one in CONTENDERS.values()]
    assert rows == ["trainer", *titles, "trainer", *titles]
    kept = json.loads((tmp_path / "out.json").read_text())
    assert {run["contender"] for run in kept["runs"]} == set(CONTENDERS)
    assert sum(run["contender"] == "cosine" for run in kept["runs"]) == 1  # another seed would change nothing
    again = run_bench(*arguments)
    assert again.out.splitlines()[-20:] == result.out.splitlines()[-20:]  # all is in the file
    assert run_bench(*arguments[:2], "ml-1m", *arguments[3:]).code == 1  # the file is of other data


def test_popularity_counts_what_items_stand_with(parts):
    readings, _ = CONTENDERS["popularity"].train(parts.histories, {}, 1, EFFORT)
    counts = np.zeros(len(parts.histories.vocab))
    own = parts.histories
    for a, b in zip(own.offsets[:-1], own.offsets[1:], strict=True):
        for i in own.ids[a:b]:
            counts[i] += b - a - 1
    expected = popularity_scores(counts)(np.array([0]))
    assert readings["log count"].scores(np.array([0])) == pytest.approx(expected)
