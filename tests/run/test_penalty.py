"""How strong the L2 penalty of top-n is, chosen by held-out pairs where users have few."""

import csv
import json
import re
import signal
import threading

import numpy as np
import pytest

from w2vneg import Input, TrainConfig, Word2Vec
from w2vneg.config.options import beside_popularity
from w2vneg.data.encoded.pairs import HeldOut
from w2vneg.ground.errors import DivergenceError, InputError
from w2vneg.ground.events import PenaltyChosen
from w2vneg.run import penalty
from w2vneg.run.conductor import Run
from w2vneg.run.prior import Prior
from w2vneg.run.search.comparing import read_compared
from w2vneg.run.search.trials import Trial, TrialFolder
from w2vneg.run.search.tuning import tune
from w2vneg.run.validation import Metric, Validation

USERS = 400
OPTIONS = {"loss": "top-n", "dim": 8, "workers": 1, "seed": 1}


def purchases(n_each, structured, n_items=60, n_users=USERS):
    """Items of users, drawn by popularity; or a run of neighbours on a ring, where each says what is next to it."""
    rng = np.random.default_rng(4)
    shares = 1 / np.arange(1, n_items + 1)
    rows = []
    for user in range(n_users):
        if structured:
            items = (rng.integers(n_items) + np.arange(n_each)) % n_items
        else:
            items = rng.choice(n_items, n_each, replace=False, p=shares / shares.sum())
        rows += [(f"u{user}", f"i{item}") for item in items]
    return rows


def run_of(rows, **options):
    run = Run(TrainConfig(**OPTIONS | options), Input("pairs", rows, rectangular=True))
    run.encode()
    return run


def chosen(rows, **options):
    run, events = run_of(rows, **options), []
    run.choose([events.append])
    return run, events


def test_with_nothing_but_popularity_the_penalty_lets_nothing_else_be_learnt():
    run, (event,) = chosen(purchases(6, structured=False))
    assert (run.config.l2, event.l2) == ("2,2.2", "2,2.2")
    weakest, _, strongest = event.figures.values()
    assert strongest > 1.1 * weakest
    assert strongest == pytest.approx(event.popularity, rel=0.05)


def test_where_there_is_much_to_learn_the_penalty_of_the_preset_stays():
    """The strongest is tried only where a strong one is better."""
    run, (event,) = chosen(purchases(6, structured=True))
    assert run.config.l2 == "1,1.1"
    assert list(event.figures) == ["1,1.1", "1.4,1.54", "1.2,1.32"]
    assert event.figures["1,1.1"] > 3 * event.popularity


def test_the_event_says_what_was_tried():
    event = PenaltyChosen("1.4,1.54", "ndcg@10", {"1,1.1": 0.25, "1.4,1.54": 0.26, "2,2.2": 0.2}, 0.125, 1.0)
    assert event.line() == (
        "--l2 1.4,1.54 is chosen; ndcg@10 on held-out pairs: "
        "1,1.1: 0.2500, 1.4,1.54: 0.2600, 2,2.2: 0.2000, popularity: 0.1250"
    )


SHORT = purchases(6, structured=False)


@pytest.mark.parametrize(
    ("rows", "options", "chooses"),
    [
        (SHORT, {}, True),
        (SHORT, {"loss": None}, True),  # top-n is the default of users and items
        (SHORT, {"l2": "1,1.1"}, False),
        (SHORT, {"l2": "0"}, False),
        (SHORT, {"loss": "css"}, False),
        (SHORT, {"engine": "virtual", "ranks": 2}, False),
        (SHORT, {"pair_weights": "sample", "pairs_per_epoch": 2000}, False),
        (SHORT[: 6 * 300], {}, False),  # 1,800 pairs
        (purchases(39, structured=False, n_users=60), {}, True),
        (purchases(40, structured=False, n_users=60), {}, False),  # a lot of each
    ],
)
def test_when_it_is_chosen(rows, options, chooses):
    run = run_of(rows, **options)
    before = run.config
    assert run.chooses == chooses
    if not chooses:
        run.choose([pytest.fail])
        assert run.config is before


def test_items_of_one_kind_have_no_such_choice():
    run = Run(TrainConfig(**OPTIONS), Input("pairs", [(a, b.replace("i", "u")) for a, b in SHORT], rectangular=False))
    run.encode()
    assert not run.chooses


def test_what_is_tried_is_split_from_all_that_is_found():
    """Names are lost on the way; numbers and weights of both parts are those of the matrix."""
    matrix = run_of(purchases(6, structured=False)).encoded.matrix
    matrix.data[:] = np.random.default_rng(1).integers(1, 9, matrix.nnz)
    dense, seen, n_held = matrix.toarray(), np.zeros(matrix.shape), 0
    for train, validation in penalty._splits(matrix, seed=3):
        names = [np.array(vocab.words, int) for vocab in (train.vocab, train.vocab_out)]
        kept = train.matrix.tocoo()
        assert (dense[names[0][kept.row], names[1][kept.col]] == kept.data).all()
        held = validation.held
        places = names[0][held.centres], names[1][held.targets]
        assert (dense[places] > 0).all()
        assert train.matrix[held.centres, held.targets].sum() == 0
        seen[places] += 1
        n_held += len(held)
    assert seen.max() == 1  # no pair is held out twice
    assert n_held == pytest.approx(0.3 * matrix.nnz, rel=0.1)


def test_of_much_data_some_users_are_enough(monkeypatch):
    monkeypatch.setattr(penalty, "_MOST", 600)
    monkeypatch.setattr(penalty, "_HELD", 20)
    matrix = run_of(SHORT).encoded.matrix
    ((train, validation),) = penalty._splits(matrix, seed=3)
    assert 500 < train.matrix.nnz < 600
    assert (np.diff(train.matrix.indptr) <= 6).all()
    assert len(np.unique(validation.held.centres)) <= 20


def test_fit_chooses_each_time_and_keeps_it_with_the_model(tmp_path):
    events, word2vec = [], Word2Vec(**OPTIONS)
    data = Input("pairs", SHORT, rectangular=True)
    for listeners in ([events.append], []):
        word2vec.fit(data, listeners=listeners, progress=False)
        assert (word2vec.model.config.l2, word2vec.get_params()["l2"]) == ("2,2.2", None)
    assert [type(event) for event in events].count(PenaltyChosen) == 1
    assert type(events[0]) is PenaltyChosen
    word2vec.save(tmp_path / "model")
    assert Word2Vec.load(tmp_path / "model").get_params()["l2"] is None
    same = Word2Vec(**OPTIONS, l2="2,2.2").fit(data, progress=False)
    assert np.array_equal(same.matrix, word2vec.vectors.matrix)


def test_a_run_that_goes_on_has_its_penalty(tmp_path):
    word2vec = Word2Vec(**OPTIONS, l2="1,1.1", epochs=2)
    word2vec.fit(Input("pairs", SHORT, rectangular=True), progress=False)
    for prior in (Prior.resume(word2vec.model), Prior.update(word2vec.model)):
        run = Run(TrainConfig(**OPTIONS), Input("pairs", SHORT, rectangular=True), prior)
        run.encode()
        assert not run.chooses


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_text("".join(f"{user},{item}\n" for user, item in [("user", "item"), *SHORT]))
    return ["train", "--pairs=log.csv", "--rectangular", "--dim=8", "--workers=1"]


def test_the_command_says_so_before_and_after(table, tmp_path, run_cli):
    said = run_cli(*table, "--save-model=model", "--output=vectors.txt")
    before, after = (line for line in said.err.splitlines() if "--l2" in line)
    assert before == "Choosing --l2 on held-out pairs; give --l2 1,1.1 to skip this ..."
    assert after.startswith("--l2 2,2.2 is chosen; ndcg@10 on held-out pairs: 1,1.1: ")
    assert Word2Vec.load(tmp_path / "model").model.config.l2 == "2,2.2"
    again = run_cli("train", "--config=model/run.toml", "--save-model=again", "--output=again.txt")
    assert "Choosing" not in again.err
    assert (tmp_path / "again.txt").read_bytes() == (tmp_path / "vectors.txt").read_bytes()


def test_dry_run_chooses_nothing_and_counts_its_time(table, run_cli):
    with_it, without = (
        json.loads(run_cli(*table, "--dry-run", "--json", "--epochs=400", *l2).out) for l2 in ([], ["--l2=1"])
    )
    assert with_it["seconds"] > 2 * without["seconds"]  # three penalties on three tenths, nine times nine tenths
    assert with_it["choosing"] == pytest.approx(0.89 * with_it["seconds"], rel=0.01)
    assert without["choosing"] == 0
    assert "  choosing --l2, at most" in run_cli(*table, "--dry-run").out


def test_interrupted_meanwhile_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tried = penalty._trained

    def interrupted(*given):
        threading.Timer(0.05, signal.raise_signal, [signal.SIGINT]).start()
        return tried(*given)

    monkeypatch.setattr(penalty, "_trained", interrupted)
    word2vec = Word2Vec(**OPTIONS, epochs=10**6)
    with pytest.raises(KeyboardInterrupt):
        word2vec.fit(Input("pairs", SHORT, rectangular=True), checkpoints="model", progress=False)
    assert not any((tmp_path / "model").glob("*.npy"))


def test_kept_models_of_runs_with_open_options_are_evaluated_again(table, tmp_path, run_cli):
    """Of top-n epochs and penalty follow from the data; a model that is kept has them settled."""
    (tmp_path / "held.csv").write_text("user,item\n" + "".join(f"u{n},i{n % 5}\n" for n in range(0, USERS, 2)))
    search = ["compare", *table[1:], "--valid=held.csv", "--grid=loss=top-n,us", "--seeds=1", "--keep=kept"]
    first, second = (run_cli(*search, f"--out={out}") for out in ("a", "b"))
    assert "--l2 2,2.2 is chosen" in first.err
    assert second.err.count("existing model, not retrained") == 2


@pytest.mark.parametrize(
    ("l2", "advised"),
    [
        ("1,1.1", "--l2 2,2.2 if"),
        ("1.4,1.54", "--l2 2,2.2 if"),
        ("2,2.2", "more --epochs"),
        ("3", "more --epochs"),
        ("0,0.5", "--l2 0,1 if"),
        ("0", "more --epochs"),
    ],
)
def test_what_is_advised_where_popularity_is_ahead_ends_at_the_noise(l2, advised):
    assert beside_popularity(TrainConfig(l2=l2)).startswith(advised)


def test_with_a_pair_a_user_nothing_can_be_held_out_and_the_penalty_stays():
    run, events = chosen([(f"u{n}", f"i{n % 50}") for n in range(2500)])
    assert run.chooses
    assert run.config.l2 == "1,1.1"
    assert events[0].line() == "--l2 1,1.1 is kept, as the held-out pairs are inconclusive"


def failing_above(strength):
    """What `penalty._trained` is, but for penalties from a strength on, which diverge."""
    trained = penalty._trained

    def some(config, *given):
        if float(config.l2.partition(",")[0]) >= strength:
            raise DivergenceError("training diverged")
        return trained(config, *given)

    return some


@pytest.mark.parametrize(("strength", "l2", "n_events"), [(2, "1.4,1.54", 1), (1.4, "1.2,1.32", 1), (1, "1,1.1", 0)])
def test_penalties_under_which_the_run_fails_are_not_chosen(monkeypatch, strength, l2, n_events):
    monkeypatch.setattr(penalty, "_trained", failing_above(strength))
    run, (event,) = chosen(SHORT)
    assert run.config.l2 == event.l2 == l2
    assert bool(event.figures) == bool(n_events)


def test_what_was_chosen_stands_in_the_history_and_in_the_log(table, tmp_path, run_cli):
    run_cli(*table, "--save-model=model", "--log-json=log.jsonl")
    lines = [(tmp_path / name).read_text().splitlines() for name in ("model/history.jsonl", "log.jsonl")]
    for first, *others in lines:
        event = json.loads(first)
        assert (event["event"], event["l2"], event["epoch"]) == ("PenaltyChosen", "2,2.2", 0)
        assert not any("PenaltyChosen" in other for other in others)


def test_a_model_goes_on_under_its_penalty_and_options_stay_open():
    word2vec, data = Word2Vec(**OPTIONS, epochs=90), Input("pairs", SHORT, rectangular=True)
    word2vec.fit(data, progress=False)
    encoded = word2vec.encode(data)
    word2vec.set_params(epochs=91)
    trainer = word2vec.trainer(encoded, model=word2vec)
    trainer.train()
    assert trainer.config.l2 == "2,2.2"
    word2vec.fit(Input("pairs", [("new", "i1"), ("new", "i2")], rectangular=True), update=True, progress=False)
    assert word2vec.model.config.l2 == "2,2.2"
    assert word2vec.get_params()["l2"] is None


def test_another_objective_does_not_take_over_what_was_chosen(tmp_path):
    word2vec = Word2Vec(**OPTIONS)
    word2vec.fit(Input("pairs", SHORT, rectangular=True), progress=False)
    assert word2vec.model.config.l2 == "2,2.2"
    word2vec.save(tmp_path / "chosen")
    loaded = Word2Vec.load(tmp_path / "chosen")
    assert loaded.set_params(loss="ns").get_params()["l2"] is None
    given = Word2Vec(**OPTIONS, epochs=1, l2="2,2.2")
    given.fit(Input("pairs", SHORT, rectangular=True), progress=False)
    given.save(tmp_path / "given")
    assert Word2Vec.load(tmp_path / "given").get_params()["l2"] == "2,2.2"


def test_kept_models_of_another_penalty_are_refused(table, tmp_path, run_cli):
    (tmp_path / "held.csv").write_text("user,item\n" + "".join(f"u{n},i{n % 5}\n" for n in range(0, USERS, 2)))
    search = ["compare", *table[1:], "--valid=held.csv", "--grid=loss=top-n,css-is", "--seeds=1", "--keep=kept"]
    assert run_cli(*search, "--l2=2,2.2", "--out=a").code == 0
    refused = run_cli(*search, "--out=b")
    assert refused.code == 1
    assert "holds a model with other data or options" in refused.err


def test_ctrl_c_while_a_trial_chooses_ends_the_search_with_what_there_is(monkeypatch):
    trained, calls = penalty._trained, []

    def interrupted(*given):
        calls.append(given)
        if len(calls) > 9:  # the second trial
            raise KeyboardInterrupt
        return trained(*given)

    monkeypatch.setattr(penalty, "_trained", interrupted)
    encoded = run_of(SHORT).encoded
    validation = Validation(HeldOut(np.arange(50), np.arange(50) % 5, np.ones(50), 0, 50), metric="ndcg@10")
    config = TrainConfig(**OPTIONS, epochs=2)
    found = tune(encoded, config, [{"negatives": 4}, {"negatives": 8}], validation)
    assert (found.complete, len(found.trials)) == (False, 1)
    assert found.trials[0].seconds > 0


def test_much_stronger_penalties_have_to_be_better_beyond_the_standard_error(monkeypatch):
    """Made-up models whose figures are known: 1.4 is better by less than an error, and so is 1.2, which is near."""
    monkeypatch.setattr(penalty, "_trained", lambda config, *others: config.l2)
    gains = {"1,1.1": 0.0, "1.4,1.54": 0.02, "1.2,1.32": 0.01, "2,2.2": 0.5}

    def figures(self, model, each):
        n = len(np.unique(self.held.centres))
        swing = np.where(np.arange(n) % 2, 1, -1) * (model != "1,1.1")
        each(None, {"ndcg@10": gains[model] + swing})

    monkeypatch.setattr(Validation, "figures", figures)
    monkeypatch.setattr(Validation, "of_popularity", lambda self, model: 0.0)
    run, (event,) = chosen(SHORT)
    assert (run.config.l2, "2,2.2" in event.figures) == ("1.2,1.32", False)
    gains["1.4,1.54"] = 0.2
    run, (event,) = chosen(SHORT)
    assert (run.config.l2, "1.2,1.32" in event.figures) == ("2,2.2", False)


def test_one_user_does_not_decide():
    rows = [(f"u{n}", f"i{n % 50}") for n in range(2000)] + [("everything", f"i{n}") for n in range(600)]
    run, (event,) = chosen(rows)
    assert (run.config.l2, event.figures) == ("1,1.1", {})


def test_a_run_that_ends_early_is_tried_as_it_will_be_run(monkeypatch):
    """With --valid and --patience each try ends so, too, on what is held out of training."""
    trained, epochs = penalty._trained, []

    def some(config, pairs, validation, of_command):
        assert (validation.patience, validation.every, validation.metric.name) == (1, 2.0, "ndcg@10")
        model = trained(config, pairs, validation, of_command)
        epochs.append(model.position.epoch)
        return model

    monkeypatch.setattr(penalty, "_trained", some)
    held = HeldOut(np.arange(50), np.arange(50) % 5, np.ones(50), 0, 50)
    run = run_of(SHORT, epochs=400)
    run.choose(validation=Validation(held, metric="mpr", patience=1, every=2.0))
    assert run.chosen.figures
    assert max(epochs) < 400


def test_a_run_that_was_seen_behind_popularity_ends_with_a_warning(monkeypatch):
    """Stronger penalties are not advised again."""
    monkeypatch.setattr(Validation, "of_popularity", lambda self, model: 0.9)
    with pytest.warns(UserWarning, match=r"not better than popularity alone \(ndcg@10 .*0.9000\); give more --epochs"):
        Word2Vec(**OPTIONS).fit(Input("pairs", SHORT, rectangular=True), progress=False)


def test_rows_to_begin_with_are_no_reason_to_try_nothing_and_fixed_ones_are(tmp_path):
    word2vec = Word2Vec(**OPTIONS, epochs=2, l2="1,1.1")
    word2vec.fit(Input("pairs", SHORT, rectangular=True), progress=False)
    word2vec.save(tmp_path / "model")
    for freeze in (False, True):
        prior = Prior.init(str(tmp_path / "model"), freeze)
        run = Run(TrainConfig(**OPTIONS), Input("pairs", SHORT, rectangular=True), prior)
        run.encode()
        assert run.chooses != freeze


@pytest.mark.slow
def test_tables_of_a_search_say_which_penalty_trials_chose_and_the_best_one_is_not_chosen_again(
    table, tmp_path, run_cli
):
    (tmp_path / "held.csv").write_text("user,item\n" + "".join(f"u{n},i{n % 5}\n" for n in range(0, USERS, 2)))
    search = [*table[1:], "--valid=held.csv", "--metric=ndcg@10"]
    found = json.loads(run_cli("tune", *search, "--grid=loss=top-n,ns", "--out=tuned", "--json").out)
    chosen = {row["options"]["loss"]: row["l2"] for row in found["rows"]}
    assert chosen["ns"] is None
    l2 = chosen["top-n"]
    heading, *lines = (line.split(" | ") for line in (tmp_path / "tuned/trials.md").read_text().splitlines())
    cells = {line[1]: line[heading.index("l2")] for line in lines[1:]}
    assert cells == {"top-n": l2, "ns": ""}
    assert found["best"] == {"loss": "top-n"}
    assert f'l2 = "{l2}"' in (tmp_path / "tuned/best.toml").read_text()
    again = run_cli("train", *table[1:2], "--config=tuned/best.toml", "--workers=1", "--save-model=model")
    assert "Choosing" not in again.err
    assert Word2Vec.load("model").model.config.l2 == l2
    compared = run_cli("compare", *search, "--grid=loss=ns,top-n", "--seeds=1", "--out=compared")
    (l2,) = re.findall(r"loss top-n chose --l2 (\S+)\.", compared.err)
    assert f"loss top-n chose --l2 {l2}." in (tmp_path / "compared/compare.md").read_text()
    lines = list(csv.DictReader((tmp_path / "compared/compare.csv").read_text().splitlines()))
    assert [(line["run"], line["l2"]) for line in lines] == [("loss ns", ""), ("loss top-n", l2)]
    assert [run.l2 for run in read_compared(tmp_path / "compared")] == [{}, {1: l2}]
    assert f"--l2 {l2} is chosen" in compared.err


def test_penalties_that_differ_by_seed_stay_open_in_the_best_options(tmp_path):
    metric = Metric.parse("ndcg@10")
    folder = TrialFolder(tmp_path / "a", {}, TrainConfig(), metric)
    for seed, l2 in ((1, "2,2.2"), (2, "1,1.1"), (3, "2,2.2")):
        folder.add(Trial({"loss": "top-n"}, seed, {"ndcg@10": 0.1}, 1.0, 1.0, l2=l2))
    folder.write_tables(3)
    best = (tmp_path / "a/best.toml").read_text()
    assert "# each run chose its own l2: 2,2.2; 1,1.1\n" in best
    assert "l2 =" not in best
    again = TrialFolder(tmp_path / "a", {}, TrainConfig(), metric)
    assert [trial.l2 for trial in again.trials] == ["2,2.2", "1,1.1", "2,2.2"]


@pytest.mark.parametrize("l2", ["2,2.2; 3", "1\nplugin = 'mine.py'", "much"])
def test_a_penalty_in_a_kept_trial_that_is_none_is_refused(tmp_path, l2):
    metric = Metric.parse("ndcg@10")
    folder = TrialFolder(tmp_path / "a", {}, TrainConfig(), metric)
    folder.add(Trial({"loss": "top-n"}, 1, {"ndcg@10": 0.1}, 1.0, 1.0, l2=l2))
    with pytest.raises(InputError, match=r"trials.jsonl:1: not a trial \(l2 .* must be a number"):
        TrialFolder(tmp_path / "a", {}, TrainConfig(), metric)
