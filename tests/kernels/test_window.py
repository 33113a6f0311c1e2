"""Negatives shared by a window: the loop against an oracle, and what it may stand beside."""

import math

import naive
import numpy as np
import pytest
from planted import same_topic, two_topics
from scripted import Scripted
from test_kernels import assert_seen, plugs_of, replicated, stream, toy_run

from w2vneg import Word2Vec
from w2vneg.cli.train import train
from w2vneg.config import TrainConfig
from w2vneg.data.encoded import EncodedCorpus, encode_corpus
from w2vneg.data.vocab import Vocabulary
from w2vneg.ground.errors import ConfigError
from w2vneg.ground.registry import Sharing
from w2vneg.kernels.contracts import implement_prepare_group
from w2vneg.kernels.groups import LoopSpec, make_scratch
from w2vneg.kernels.linalg import AnyWidth, Rows, width_of
from w2vneg.kernels.shard import run_shard
from w2vneg.kernels.window import _largest_repeated_step
from w2vneg.objectives.plugs import Weigher
from w2vneg.objectives.samplers.exclusions import ExcludeKnown
from w2vneg.objectives.weighers import WEIGHERS
from w2vneg.run.trainer import Trainer

CASES = [  # loss, weigher, negatives, bounded, targets excluded
    ("ns", "none", 5, True, True),
    pytest.param("relaxed", "importance", 4, True, True, marks=pytest.mark.slow),
    pytest.param("ns", "none", 3, False, False, marks=pytest.mark.slow),
    pytest.param("blackout", "none", 7, False, True, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("loss", "weigher", "n", "bounded", "exclude"), CASES)
@pytest.mark.parametrize("n_private", [0, 4])
@pytest.mark.parametrize("repeats", [False, True])
def test_run_shard_does_what_the_oracle_does(loss, weigher, n, bounded, exclude, n_private, repeats):
    source, tokens, last, inputs, outputs, drawn, log_q = toy_run(n, repeats)
    start, end = (1e-3, 2e-4) if repeats else (0.4, 0.1)
    window = source.window
    plugs = plugs_of(source, Scripted(drawn, log_q, False), loss, weigher, exclude)
    needs_log_q = plugs.weigher.needs_log_q or plugs.loss.needs_log_q
    shape = LoopSpec(2 * window, n, int(Sharing.WINDOW), needs_log_q, bounded, weighed=weigher != "none")
    rows_in, rows_out = replicated(inputs, n_private, 3, 1), replicated(outputs, n_private, 3, 1)
    value, pairs = run_shard(plugs, shape, rows_in, rows_out, tokens, 0, last, (start, end), stream())

    alphas = start + (end - start) * np.arange(last) / last
    places = np.flatnonzero(tokens[:last] >= 0)
    groups = [(places[p], c, t) for p, c, t in naive.groups(source.ids, source.offsets, window)]
    wide_in, wide_out = inputs.astype(np.float64), outputs.astype(np.float64)
    options = {"loss": loss, "weigher": weigher, "n": n, "bounded": bounded, "alphas": alphas, "exclude": exclude}
    expected, expected_pairs = naive.train_windows(groups, drawn, log_q, wide_in, wide_out, **options)
    assert pairs == expected_pairs
    assert value == pytest.approx(expected, rel=1e-4)
    # a word that comes twice may meet its own first step: second order in alpha, far less than a step lost
    close = {"rtol": 0, "atol": 5e-5} if repeats else {"rtol": 2e-4, "atol": 2e-5}
    assert_seen(rows_in, wide_in, **close)
    assert_seen(rows_out, wide_out, **close)


@pytest.mark.slow
def test_rows_of_a_length_known_to_the_compiler_give_the_same():
    source, tokens, last, inputs, outputs, drawn, log_q = toy_run(5, dim=50)
    shape = LoopSpec(4, 5, int(Sharing.WINDOW), False, True, weighed=False)
    plugs, found = plugs_of(source, Scripted(drawn, log_q, False), "ns", exclude=True), []
    for width in (AnyWidth(), width_of(50)):
        rows = [Rows(matrix.copy(), 0, len(inputs), 0, width) for matrix in (inputs, outputs)]
        value, pairs = run_shard(plugs, shape, *rows, tokens, 0, last, (0.4, 0.1), stream())
        found.append((value, pairs, *(each.matrix for each in rows)))
    assert found[0][1] == found[1][1] > 0
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-6)
    assert np.abs(found[0][2] - inputs).max() > 0.01


def test_a_known_pair_is_left_out_for_the_centre_that_knows_it_alone():
    source, tokens, _, inputs, outputs, drawn, log_q = toy_run(seed=6)
    word, around, negative = tokens[2], tokens[[0, 1, 3, 4]], drawn[0, 0]
    starts = np.zeros(len(inputs) + 1, np.int64)
    starts[around[0] + 1 :] = 1
    plugs = plugs_of(source, Scripted(drawn, log_q, False), "ns")
    plugs = plugs._replace(exclusion=ExcludeKnown(starts, np.array([negative], np.int32)))
    rows = Rows(inputs.copy(), 0, len(inputs), 0), Rows(outputs.copy(), 0, len(inputs), 0)
    shape = LoopSpec(4, 1, int(Sharing.WINDOW), False, False, weighed=False)
    run_shard(plugs, shape, *rows, tokens, 2, 3, (1e-3, 1e-3), stream())
    others = inputs[around[1:]]
    exp_logits = np.exp(others.astype(float) @ outputs[negative])
    expected = outputs[negative] - 1e-3 * (exp_logits / (1 + exp_logits)) @ others
    np.testing.assert_allclose(rows[1].matrix[negative], expected, atol=1e-6)
    of_knowing = inputs[around[0]] + 1e-3 / (1 + np.exp(inputs[around[0]] @ outputs[word])) * outputs[word]
    np.testing.assert_allclose(rows[0].matrix[around[0]], of_knowing, atol=2e-6)


def run_one_window(inputs, outputs, source, tokens, drawn, log_q, alpha):
    rows = Rows(inputs, 0, len(inputs), 0), Rows(outputs, 0, len(inputs), 0)
    plugs = plugs_of(source, Scripted(drawn, log_q, False), "ns", exclude=True)
    shape = LoopSpec(4, 3, int(Sharing.WINDOW), False, True, weighed=False)
    return run_shard(plugs, shape, *rows, tokens, 2, 3, (alpha, alpha), stream())


@pytest.mark.parametrize("repeated", [[], [0, 4], [0, 1, 4]])
def test_a_bounded_window_moves_no_logit_by_much_more_than_one_through_a_row(repeated):
    source, tokens, _, inputs, outputs, drawn, log_q = toy_run(seed=3, scale=3.0)
    tokens[repeated] = tokens[3]  # the word in the middle is at 2
    target, around = tokens[2], tokens[[0, 1, 3, 4]]
    outputs[target] *= 3  # so that centres move further than it does
    before, centres, row = outputs.copy(), inputs[around].copy(), outputs[target].copy()
    outputs[drawn[0, :3]] = before[drawn[0, :3]] = 0.0  # so that centres move along the target's row alone
    run_one_window(inputs, outputs, source, tokens, drawn, log_q, 5.0)
    norms = (centres**2).sum(axis=1)
    assert np.all(np.abs((outputs - before) @ centres.T) <= np.sqrt(norms / norms.min()) + 1e-3)
    moved = np.abs((inputs[around] - centres) @ row)
    if repeated:
        assert moved[around == tokens[3]].max() <= 1 + 1e-3
    else:  # a word that comes once may step further, as the centre of the other loop may
        assert moved.max() > 1


@pytest.mark.parametrize("rows", [[7], [3, 3], [5, 21, 5, 37, 21, 5], [0, 16, 32, 48, 0, 64, 80, 16]])
def test_steps_of_centres_that_come_again_are_summed(rows):
    """The table has 16 or 32 places, so that many of these rows fall on the same."""
    steps = np.linspace(-1.0, 0.5, len(rows)).astype(np.float32)
    scratch = make_scratch(LoopSpec(len(rows), 1, int(Sharing.WINDOW), False, True), 4)
    scratch.centre_rows[:], scratch.positive_steps[:] = rows, steps
    sums = {row: np.abs(steps[np.equal(rows, row)]).sum() for row in rows if rows.count(row) > 1}
    found = _largest_repeated_step(scratch, len(rows))
    assert found == pytest.approx(max(sums.values(), default=0.0), rel=1e-6)


def test_an_exploded_centre_gives_a_loss_of_nan():
    source, tokens, _, inputs, outputs, drawn, log_q = toy_run(seed=4)
    inputs[tokens[1]] = 1e5
    value, _ = run_one_window(inputs, outputs, source, tokens, drawn, log_q, 0.1)
    assert math.isnan(value)


OBJECTIVES = {  # all but the first are compiled by themselves
    "ns": {"loss": "ns"},
    "draws that leave places empty": {"loss": "css-bernoulli", "negatives": 5},
    "a row of its own for each centre": {"loss": "nce", "negatives": 5, "log_z": "learned", "alpha": 0.025},
    "log q of positives, |s|": {"loss": "large-vocab", "negatives": 5, "absolute_softmax": True},
    "weighed": {"loss": "us", "weigher": "self-adversarial"},
}
SMALL = {"dim": 8, "window": 3, "subsample": 0, "min_count": 1, "epochs": 3, "workers": 1}


@pytest.fixture(scope="module")
def planted():
    return encode_corpus(two_topics(), min_count=1)


def trained(corpus, **options):
    word2vec = Word2Vec(**SMALL | {"share_negatives": "window"} | options)
    word2vec.fit(corpus)
    return word2vec


@pytest.mark.filterwarnings("ignore:these vectors were trained on")
@pytest.mark.parametrize(
    "objective",
    [pytest.param(OBJECTIVES[name], id=name, marks=[pytest.mark.slow] if name != "ns" else []) for name in OBJECTIVES],
)
def test_planted_topics_are_recovered(planted, objective):
    word2vec = trained(planted, **objective)
    assert same_topic(word2vec.vectors) >= 0.95
    ends = [record for record in word2vec.model.history if record["event"] == "EpochDone"]
    assert ends[-1]["loss"] < ends[0]["untrained"]
    if "weigher" not in objective:  # with weights that sharpen the loss itself becomes another
        assert ends[-1]["loss"] < ends[0]["loss"] < ends[0]["untrained"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the loss has hardly fallen")
def test_the_loss_of_an_untrained_model_is_the_reference(planted):
    history = trained(planted, loss="ns", alpha=1e-12, epochs=1, exclude="none").model.history
    assert history[-1]["loss"] == pytest.approx(history[-1]["untrained"], rel=1e-4)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_seed_repeats_to_the_bit_and_pairs_are_those_of_a_centre(planted, workers):
    options = {"loss": "ns", "workers": workers, "dynamic_window": False}
    first, second = (trained(planted, **options) for _ in range(2))
    assert first.model.vectors_in.tobytes() == second.model.vectors_in.tobytes()
    assert first.model.vectors_out.tobytes() == second.model.vectors_out.tobytes()
    by_centre = trained(planted, **options | {"share_negatives": "no"})
    assert not np.array_equal(by_centre.model.vectors_in, first.model.vectors_in)
    for model in (first.model, by_centre.model):
        pairs = [record["pairs"] for record in model.history if record["event"] == "EpochDone"]
        assert pairs == [800 * sum(min(i, 3) + min(7 - i, 3) for i in range(8))] * 3


def test_baskets_train():
    rng = np.random.default_rng(3)
    lists = [rng.choice(np.arange(half, 40, 2), rng.integers(2, 8), replace=False) for half in (0, 1) * 300]
    offsets = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    ids = np.concatenate(lists).astype(np.int32)
    ids.flags.writeable = offsets.flags.writeable = False  # as data on disk are, so that nothing is compiled for it
    vocab = Vocabulary([f"item{i:02}" for i in range(40)], np.sort(np.bincount(ids, minlength=40))[::-1])
    corpus = EncodedCorpus(ids, offsets, vocab, source="baskets")
    config = TrainConfig(source="baskets", loss="ns", share_negatives="window", epochs=10, dim=16, workers=1)
    unit = Trainer(corpus, config).train().vectors_in
    unit = unit / np.linalg.norm(unit, axis=1, keepdims=True)
    np.fill_diagonal(similar := unit @ unit.T, -1)
    assert (similar.argmax(axis=1) % 2 == np.arange(40) % 2).mean() >= 0.9


class Regarding(Weigher):
    """A weigher from outside that looks at groups."""


@pytest.fixture
def regarding():
    @implement_prepare_group(Regarding)
    def prepare_group(weigher, state, width, centre_row, m, positive_rows, n, negative_rows, negatives, alpha, rng):
        return True

    WEIGHERS.register("regarding")(Regarding)
    yield
    WEIGHERS.unregister("regarding")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "relaxed"}, "sampler 'boltzmann' draws for one centre; use --share-negatives centre"),
        ({"loss": "ns", "sampler": "bigram"}, "sampler 'bigram' draws for one"),
        ({"loss": "dns"}, "sampler 'dns' draws for one"),
        ({"loss": "us", "weigher": "discriminator"}, "weigher 'discriminator' needs a single one"),
        ({"loss": "ns", "weigher": "regarding"}, "weigher 'regarding' needs a single one"),
        ({"loss": "ns", "ordered": True}, "which --ordered forbids"),
        ({"loss": "ns", "exclude": "window"}, "use --exclude target"),
        ({"loss": "mle"}, "--share-negatives has no effect with loss 'softmax'"),
    ],
)
def test_what_it_cannot_stand_beside_is_refused_before_any_work(regarding, options, message):
    with pytest.raises(ConfigError, match=message):
        Word2Vec(share_negatives="window", **options).check()


def test_a_trainer_by_itself_refuses_a_weigher_that_looks_at_groups(planted, regarding):
    with pytest.raises(ConfigError, match="weigher 'regarding' needs a single one"):
        Trainer(planted, TrainConfig(loss="ns", weigher="regarding", share_negatives="window"))


def test_pairs_have_no_window(tmp_path, run_cli):
    path = tmp_path / "pairs.tsv"
    path.write_text("a\tb\nb\tc\n")
    result = run_cli("train", "--pairs", path, "--share-negatives", "window", "--output", tmp_path / "v.txt")
    assert result.code == 1 and "a row of pairs is not a window" in result.err
    assert not (tmp_path / "v.txt").exists()


@pytest.mark.parametrize(
    ("given", "value"),
    [((), None), (("--share-negatives",), "centre"), (("--share-negatives", "window", "--dim", "4"), "window")],
)
def test_the_flag_alone_means_centre(given, value):
    with train.make_context("train", ["--loss", "ns", *given]) as context:
        assert context.params["share_negatives"] == value


@pytest.mark.parametrize(
    ("options", "value"),
    [
        ({}, "window"),
        ({"source": "baskets"}, "window"),
        ({"sampler": "uniform", "weigher": "self-adversarial", "exclude": "known"}, "window"),
        ({"source": "pairs"}, "no"),
        ({"ordered": True}, "no"),
        ({"exclude": "window"}, "no"),
        ({"sampler": "boltzmann"}, "no"),
        ({"weigher": "discriminator"}, "no"),
        ({"weigher": "regarding"}, "no"),
        ({"share_negatives": "centre", "sampler": "boltzmann"}, "centre"),
    ],
)
def test_ns_shares_by_windows_where_that_can_be(regarding, options, value):
    config = TrainConfig(loss="ns", **options).resolved()
    assert config.share_negatives == value
    assert config.resolved() == config


def test_true_and_false_are_centre_and_no():
    assert [TrainConfig(share_negatives=value).share_negatives for value in (True, False)] == ["centre", "no"]
    with pytest.raises(ConfigError, match="no, centre, window, true or false, not 3"):
        TrainConfig(share_negatives=3)
    with pytest.raises(ConfigError, match="did you mean 'window'"):
        TrainConfig(share_negatives="windows")
