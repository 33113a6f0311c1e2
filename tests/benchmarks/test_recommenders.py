"""The benchmark of recommenders: parts that leak nothing, climbing to the top, intervals, p values."""

import json

import numpy as np
import pytest
import scipy.sparse
import scipy.stats
from click.testing import CliRunner
from made_up import write_item_files

from benchmarks import recommenders
from benchmarks.commands import bench
from benchmarks.recommenders import Run, best_rival, choose, climb, holm, interval, neighbours, paired_p, rows_of, table
from benchmarks.recommenders_methods import METHODS, Method, fitting
from benchmarks.recommenders_tasks import Part, Task, made_up
from w2vneg.data.inputs import Input, encode_input
from w2vneg.ground.errors import ConfigError


@pytest.fixture(scope="module")
def log():
    """A log of 60 users and 40 items: a user of each half of the items likes these, at times of one's own."""
    rng = np.random.default_rng(3)
    rows = []
    for user in range(60):
        items = rng.permutation(20)[:12] + 20 * (user % 2)
        rows += [(f"u{user}", f"i{item}", int(rng.integers(1000))) for item in items]
    given = Input("ratings", rows, user_col=1, item_col=2, time_col=3, rectangular=True)
    return encode_input(given, min_count=1)


def both(a, b):
    return a.multiply(b).nnz


@pytest.mark.parametrize("protocol", ["weak", "time"])
def test_known_users_parts_do_not_meet(log, protocol):
    task = Task.of("made up", log, protocol)
    for part in (task.valid, task.test):
        own = task.train[part.users]
        assert part.held.nnz and not both(own, part.held) and not both(part.known, part.held)
        assert both(own, part.known) == own.nnz  # what was trained on is in no list
    shared = np.intersect1d(task.valid.users, task.test.users)
    valid = task.valid.held[np.searchsorted(task.valid.users, shared)]
    at_test = np.searchsorted(task.test.users, shared)
    assert both(valid, task.test.known[at_test]) == valid.nnz  # nor what was chosen on
    assert not both(valid, task.test.held[at_test])


def test_by_time_what_is_held_out_is_later_and_its_users_are_known(log):
    task = Task.of("made up", log, "time")
    times = scipy.sparse.csr_matrix((log.times + 1, log.matrix.indices, log.matrix.indptr), log.matrix.shape)
    valid, test = (times[part.users].multiply(part.held).data for part in (task.valid, task.test))
    assert times.multiply(task.train).max() < valid.min() and valid.max() < test.min()
    assert (np.diff(task.train.indptr)[task.test.users] > 0).all()


def test_without_times_there_is_no_split_by_time(log):
    data = encode_input(Input("pairs", log.matrix, rectangular=True), min_count=1)
    with pytest.raises(ConfigError, match="no times"):
        Task.of("made up", data, "time")


def test_new_users_are_trained_on_nowhere_and_four_fifths_of_theirs_are_shown(log):
    task = Task.of("made up", log, "strong")
    n_users = task.train.shape[0] + task.valid.held.shape[0] + task.test.held.shape[0]
    assert n_users == log.matrix.shape[0] and (np.diff(task.train.indptr) == 12).all()
    for part in (task.valid, task.test):
        assert part.users is None and not both(part.known, part.held)
        shown, held = np.diff(part.known.indptr), np.diff(part.held.indptr)
        assert (shown + held == 12).all() and set(shown) <= {9, 10}  # 9.6, dealt out


@pytest.mark.parametrize("name", ["popularity", "slim", "ease", "top-n", "ns-corrected"])
def test_folding_in_sees_only_what_is_shown(log, name):
    task = Task.of("made up", log, "strong")
    setting = METHODS[name].guess | ({"epochs": 2} if "epochs" in METHODS[name].guess else {})
    trained = METHODS[name].train(task.train, setting, 1)
    rows = np.arange(task.test.known.shape[0])
    asked = trained.asked(task.test)
    scores = np.array(asked.scores(rows))
    hidden = Part(task.test.known, task.test.known[::-1].tocsr())  # other pairs held out
    assert (np.array(trained.asked(hidden).scores(rows)) == scores).all()
    lists = asked.lists(task.test.known)
    assert not task.test.known[np.repeat(rows, lists.shape[1]), lists.ravel()].any()
    best = np.argsort(-(scores - 1e9 * task.test.known.toarray()), axis=1)[:, : lists.shape[1]]
    if name != "popularity":  # it has ties
        assert all(set(a) == set(b) for a, b in zip(best, lists, strict=True))


def test_who_cannot_fold_in_is_left_out(log):
    names = ["top-n", "implicit-bpr", "implicit-lmf"]
    assert fitting(Task.of("made up", log, "strong"), names) == ["top-n"]
    assert fitting(Task.of("made up", log), names) == names


def test_figures_of_users_have_the_mean_of_all(log):
    task = Task.of("made up", log)
    users, coverage = recommenders.evaluate(METHODS["slim"].train(task.train, {}, 1).asked(task.test).scores, task.test)
    assert all(len(values) == len(task.test.users) and (values <= 1).all() for values in users.values())
    assert users["NDCG@10"].mean() > 0.4 and 0 < coverage <= 1  # half of the items are out of the question


@pytest.fixture
def hill(monkeypatch):
    """A method whose score has its top at alpha .8 and 5 epochs; alpha above 2 diverges."""

    class Trained:
        def __init__(self, setting):
            self.scores = setting

        def asked(self, part):
            assert part == "valid"  # test data choose nothing
            return self

    def train(train, setting, seed):
        if setting["alpha"] > 2:
            raise ConfigError("it diverges")
        return Trained(setting)

    def evaluate(scores, part):
        value = 1 / (1 + abs(scores["alpha"] - 0.8) + abs(scores["epochs"] - 5))
        return {"NDCG@10": np.array([value])}, 0.5

    monkeypatch.setattr(recommenders, "evaluate", evaluate)
    method = Method("hill", train, {"alpha": 0.1, "epochs": 20}, {"alpha": 2.0, "epochs": 2.0})
    monkeypatch.setattr(recommenders, "METHODS", {"hill": method})
    return {"hill": method}


TASK = Task("made up", None, "valid", None)


def test_neighbours_are_one_rung_away():
    found = neighbours({"alpha": 0.1, "epochs": 1}, {"alpha": 2.0, "epochs": 2.0})
    assert found == [{"alpha": 0.2, "epochs": 1}, {"alpha": 0.05, "epochs": 1}, {"alpha": 0.1, "epochs": 2}]
    assert neighbours({"epochs": 4}, {"epochs": 2.0}, {"epochs": 4}) == [{"epochs": 2}]  # where the ladder ends


def test_the_top_is_found_and_all_around_it_tried(hill):
    record = []
    best = climb(TASK, "hill", record, methods=hill)
    assert best == {"alpha": 0.8, "epochs": 5}
    tried = [trial["setting"] for trial in record]
    assert all(one in tried for one in neighbours(best, hill["hill"].ratios))
    assert len({json.dumps(one) for one in tried}) == len(tried)


def test_choosing_goes_on_with_what_is_there(hill, tmp_path, monkeypatch):
    path = tmp_path / "choices.json"
    monkeypatch.setattr(recommenders.climb, "__defaults__", (lambda text: None, hill))
    first = choose([TASK], ["hill"], path)
    before = path.read_text()
    told = []
    assert choose([TASK], ["hill"], path, told.append) == first
    assert not told and path.read_text() == before


def test_holm_multiplies_the_smallest_most():
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03}) == pytest.approx({"a": 0.03, "c": 0.06, "b": 0.06})
    assert holm({"a": 0.5, "b": 0.9}) == {"a": 1.0, "b": 1.0}
    assert holm({}) == {}


def test_intervals_cover_the_mean_as_often_as_they_say():
    rng = np.random.default_rng(5)
    hits = 0
    for trial in range(200):
        mean, low, high = interval(rng.exponential(1.0, 100), resamples=200, seed=trial)
        hits += low <= 1.0 <= high
        assert low < mean < high
    assert 0.88 <= hits / 200 <= 0.99


def test_pairing_takes_out_what_users_have_in_common():
    rng = np.random.default_rng(2)
    users, gain = rng.normal(0, 10, 200), rng.normal(0.3, 1, 200)
    assert paired_p(gain) == pytest.approx(scipy.stats.ttest_rel(users + gain, users).pvalue)
    assert paired_p(gain) < 0.01 < scipy.stats.ttest_ind(users + gain, users).pvalue
    assert paired_p(np.zeros(5)) == 1.0 and paired_p(np.ones(5)) == 0.0


def made_up_run(method, seed, values):
    users = {name: np.array(values) for name in ("NDCG@10", "recall@20", "NDCG@100", "MAP@10")}
    return Run("made up", method, seed, 1.0, 100.0, 2**20, users, 0.5)


def test_the_rival_is_the_best_by_validation_and_all_are_compared_with_it():
    trials = [
        {"task": "made up", "method": "ease", "setting": {}, "value": 0.2},
        {"task": "made up", "method": "als", "setting": {}, "value": 0.3},
        {"task": "made up", "method": "top-n", "setting": {}, "value": 0.4},
        {"task": "another", "method": "ease", "setting": {}, "value": 0.9},
    ]
    assert best_rival(TASK, ["ease", "als", "top-n"], trials) == "als"
    assert best_rival(TASK, ["top-n"], trials) is None
    values = {"top-n": [0.5, 0.7, 0.6, 0.9], "als": [0.4, 0.5, 0.5, 0.6], "ease": [0.4, 0.4, 0.6, 0.6]}
    runs = [made_up_run(name, seed, own) for seed in (1, 2) for name, own in values.items()]
    ours, rival, other = rows_of(runs, {"made up": "als"})
    assert rival.method == "als" and rival.difference is None and rival.p is None
    assert ours.difference[0] == pytest.approx(0.175) and ours.difference[1] > 0
    single = {name: paired_p(np.subtract(values[name], values["als"])) for name in ("top-n", "ease")}
    assert (ours.p, other.p) == tuple(holm(single).values()) and ours.seeds == pytest.approx((0.675, 0.675))
    shown = table([ours, rival, other])
    assert "| implicit ALS | 0.5000 [" in shown and "0.1750 [" in shown
    assert all(row.p is None for row in rows_of(runs, {}))


def test_a_made_up_log_has_popular_items_and_users_of_some_taste():
    log = made_up(4000, 4000)
    assert (log != made_up(4000, 4000)).nnz == 0 and (log != made_up(4000, 4000, seed=2)).nnz
    counts = np.sort(np.asarray(log.sum(axis=0)).ravel())[::-1]
    assert log.nnz / 4000 > 10 and counts[:400].sum() > 0.4 * log.nnz  # a tenth of the items
    task = Task.of("made up", encode_input(Input("pairs", log, rectangular=True), min_count=1))
    slim, popularity = (
        recommenders.evaluate(METHODS[name].train(task.train, {}, 1).asked(task.test).scores, task.test)[0]["NDCG@10"]
        for name in ("slim", "popularity")
    )
    assert slim.mean() > 1.5 * popularity.mean()


def test_the_command_measures_a_made_up_log_by_first_guesses(run_bench):
    size = ["--users", 300, "--items", 100]
    result = run_bench("recommenders", "--data", "synthetic", *size, "--only", "slim", "--only", "ease", "--seeds", 1)
    assert result.code == 0 and "**synthetic**" in result.out and "| EASE |" in result.out
    assert run_bench("recommenders", "--data", "synthetic", "--choose").code == 2


def test_the_command_splits_by_time_and_keeps_rows_as_json(tmp_path, monkeypatch):
    write_item_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    options = {
        "--data": ["ml-100k"],
        "--protocol": ["time"],
        "--seeds": ["1"],
        "--only": ["popularity", "slim", "top-n"],
    }
    given = [word for flag, values in options.items() for value in values for word in (flag, value)]
    result = CliRunner().invoke(bench, ["recommenders", *given, "--out", "rows.json"], catch_exceptions=False)
    assert result.exit_code == 0 and "**ml-100k, time**" in result.stdout
    rows = json.loads((tmp_path / "rows.json").read_text())["rows"]
    assert [row["method"] for row in rows] == ["popularity", "slim", "top-n"]
    assert all(len(row["figures"]["NDCG@10"]) == 3 for row in rows)
