"""Diagnosis of draws against brute force on a vocabulary of 30 words, and what the command line makes of it."""

import itertools
import json
import math
import re

import numpy as np
import pytest
from naive import LOSSES as ORACLES
from naive import boltzmann, popularity
from planted import as_text, two_topics

from w2vneg import Word2Vec
from w2vneg.data.encoded import encode_corpus
from w2vneg.ground.errors import ConfigError
from w2vneg.ground.events import Diagnosis, EpochDone
from w2vneg.ground.jit import compilations
from w2vneg.kernels.cooccurrence import occurring, pair_counts
from w2vneg.objectives.losses import LOSSES
from w2vneg.objectives.samplers import SAMPLERS
from w2vneg.objectives.weighers import WEIGHERS
from w2vneg.run import diagnostics
from w2vneg.run.diagnostics import Diagnoser

V, DIM = 30, 6
SMALL = {"dim": DIM, "window": 2, "subsample": 0, "min_count": 1, "epochs": 1, "workers": 1, "loss": "relaxed"}
FIGURES = {
    "total_variation": 1,
    "effective_size": 10000,
    "true_positives": 1,
    "cosine": 1,
    "relative_error": math.inf,
    "noise": math.inf,
    "negative_gradient": math.inf,
}


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(3)
    share = 1 / np.arange(1, V + 1) ** 0.7
    lines = rng.choice(V, (150, 6), p=share / share.sum())
    return encode_corpus([[f"w{i:02}" for i in line] for line in [*lines, *np.arange(V).reshape(5, 6)]], min_count=1)


def diagnoser(corpus, n_pairs=25, n_sets=800, sd=1.0, **options):
    """Return a `Diagnoser` of a random model whose logits have about the standard deviation `sd`."""
    trainer = Word2Vec(**SMALL | {"negatives": 2} | options).trainer(corpus)
    rng = np.random.default_rng(8)
    scale = (sd / math.sqrt(DIM)) ** 0.5
    for matrix in (trainer.engine.vectors_in, trainer.engine.vectors_out):
        matrix[:] = scale * rng.normal(size=matrix.shape)
    return Diagnoser(trainer.engine, corpus, trainer.config, n_pairs, n_sets)


def parts(found):
    """Yield (x, all output vectors, logits, positive) of each pair, float64."""
    out = found.engine.vectors_out.astype(np.float64)
    for centre, positives in zip(found.pairs.centres, found.pairs.positives, strict=True):
        x = found.engine.vectors_in[centre].astype(np.float64)
        yield x, out, out @ x, positives[0]


def softmax(logits):
    return boltzmann(logits, np.ones(len(logits)), 1.0)


def expected(found, loss, noise):
    """Return what two draws from ``noise(logits)`` give, every pair of draws enumerated, as a dict of figures."""
    inner = own = full = spread = norm = size = 0.0
    for x, out, logits, positive in parts(found):
        q, p = noise(logits), softmax(logits)
        g = p @ out - out[positive]
        mean, square = np.zeros(DIM), 0.0
        for pair in itertools.product(range(V), repeat=2):
            chance = q[pair[0]] * q[pair[1]]
            ids = [positive, *pair]
            _, gradient = ORACLES[loss](logits[ids], np.ones(3))
            step = gradient @ out[ids]
            mean += chance * step
            square += chance * step @ step
            norm += chance * np.abs(gradient[1:]).mean() * np.linalg.norm(x)
            w = (p / q)[list(pair)]
            size += chance * w.sum() ** 2 / (w**2).sum()
        inner, own, full = inner + mean @ g, own + mean @ mean, full + g @ g
        spread += square - mean @ mean
    n = len(found.pairs.centres)
    return {
        "cosine": inner / math.sqrt(own * full),
        "relative_error": math.sqrt((own - 2 * inner + full) / full),
        "noise": math.sqrt(spread / full),
        "negative_gradient": norm / n,
        "effective_size": size / n,
    }


def exact_noise(logits):
    return boltzmann(logits, np.ones(V), 1.0)


@pytest.fixture(scope="module")
def uniform(corpus):
    return diagnoser(corpus, sampler="uniform")


@pytest.fixture(scope="module")
def exact(corpus):
    return diagnoser(corpus, method="exact", degeneracy="uniform")


def test_uniform_draws_against_enumeration(uniform):
    found = uniform.diagnose(1)
    for name, value in expected(uniform, "relaxed", lambda logits: np.full(V, 1 / V)).items():
        assert getattr(found, name) == pytest.approx(value, rel=0.02), name


def test_exact_boltzmann_draws_against_enumeration(exact):
    found = exact.diagnose(1)
    for name, value in expected(exact, "relaxed", exact_noise).items():
        assert getattr(found, name) == pytest.approx(value, rel=0.02), name
    assert found.effective_size == pytest.approx(2, rel=1e-4)  # Q is the full softmax itself


def test_boltzmann_draws_are_nearer_to_the_full_softmax_than_uniform_ones(uniform, exact):
    assert uniform.diagnose(1).cosine < exact.diagnose(1).cosine - 0.005
    assert uniform.diagnose(1).effective_size < 1.8


@pytest.mark.parametrize("name", ["uniform", "exact"])
def test_draws_from_the_target_itself_differ_by_noise_alone(name, request):
    found = request.getfixturevalue(name)
    distances = [found.diagnose(epoch).total_variation for epoch in (1, 2, 3)]
    floor = found.diagnose(1).variation_floor
    assert floor == pytest.approx(math.sqrt(19 / (2 * math.pi * 25 * 800 * 2)))
    assert max(distances) < 1.6 * floor
    assert len(set(distances)) == 3  # each epoch draws anew


def sir_marginal(logits, d):
    """Return the distribution of a draw among two candidates from `d`, by enumeration."""
    w = np.exp(logits)
    chosen = np.outer(d, d) * w[:, None] / (w[:, None] + w[None, :])  # (chosen, other)
    return 2 * chosen.sum(axis=1)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["sir", "rolling"])
def test_total_variation_of_draws_among_two_candidates(corpus, method):
    found = diagnoser(corpus, n_sets=1000, method=method, candidates=2)
    d = popularity(corpus.vocab.counts, 0.75)
    each = [0.5 * np.abs(sir_marginal(logits, d) - boltzmann(logits, d, 1.0)).sum() for _, _, logits, _ in parts(found)]
    measured = found.diagnose(1)
    assert measured.total_variation > 20 * measured.variation_floor
    assert 0.75 * np.mean(each) < measured.total_variation < 1.05 * np.mean(each)


def test_true_positives_are_counted_in_the_corpus(corpus, uniform):
    lines = [[corpus.ids[k] for k in range(a, b)] for a, b in itertools.pairwise(corpus.offsets)]
    near = np.zeros((V, V), int)
    for line in lines:
        for here, there in itertools.product(range(len(line)), repeat=2):
            if here != there and abs(here - there) <= 2:
                near[line[here], line[there]] += 1
    assert np.array_equal(uniform.known, near[uniform.pairs.centres] > 0)
    assert np.array_equal(occurring(corpus.ids, corpus.offsets, np.arange(V), 2, V), near)
    assert uniform.diagnose(1).true_positives == pytest.approx(uniform.known.mean(), abs=0.02)


def test_true_positives_of_an_ordered_run_come_after_the_centre(corpus):
    known = diagnoser(corpus, n_sets=8, ordered=True)
    after = pair_counts(corpus.ids, corpus.offsets, V, 2, ordered=True).toarray() > 0
    assert np.array_equal(known.known, after[known.pairs.centres])


def test_slopes_are_those_that_the_scores_were_made_with(corpus, monkeypatch):
    monkeypatch.setattr(diagnostics, "_OFTEN", 1)
    found = diagnoser(corpus, dim=V)
    beside = occurring(corpus.ids, corpus.offsets, np.arange(V), 2, V)
    popular = np.log(corpus.vocab.counts / corpus.vocab.counts.sum())
    pmi = np.log(np.maximum(beside, 1) / beside.sum(axis=1, keepdims=True)) - popular
    found.engine.vectors_in[:] = np.arange(V)[:, None] + 0.7 * popular + 0.4 * pmi
    found.engine.vectors_out[:] = np.eye(V)
    diagnosis = found.diagnose(1)
    assert diagnosis.popularity_slope == pytest.approx(0.7, abs=1e-5)
    assert diagnosis.pmi_slope == pytest.approx(0.4, abs=1e-5)


def test_few_frequent_pairs_have_no_slopes(uniform):
    diagnosis = uniform.diagnose(1)
    assert diagnosis.popularity_slope is None and diagnosis.pmi_slope is None
    assert "unknown, unknown" in diagnosis.line()


def test_the_pairs_are_pairs_of_the_corpus_and_always_the_same(corpus, uniform):
    rows = np.arange(len(uniform.pairs.centres))
    assert uniform.known[rows, uniform.pairs.positives[:, 0]].all()
    again = diagnoser(corpus, sampler="uniform")
    for one, other in zip(uniform.pairs, again.pairs, strict=True):
        assert np.array_equal(one, other)
    assert uniform.diagnose(2).as_dict() | {"seconds": 0} == again.diagnose(2).as_dict() | {"seconds": 0}
    assert not np.array_equal(uniform.pairs.centres, diagnoser(corpus, sampler="uniform", seed=2).pairs.centres)
    many = diagnoser(corpus, n_pairs=4000, n_sets=8, sampler="uniform")
    share = np.bincount(many.pairs.centres, minlength=V) / len(many.pairs.centres)
    np.testing.assert_allclose(share, corpus.vocab.counts / len(corpus), atol=0.025)


def test_excluded_negatives_count_for_nothing(corpus, as_python):
    found = diagnoser(corpus, n_sets=20, sampler="uniform", exclude="window")
    seen = found._draw(1)
    assert (seen.weights[:, :, 1:] == 0).any()
    for c, (positives, size) in enumerate(zip(found.pairs.positives, found.pairs.sizes, strict=True)):
        excluded = np.isin(seen.ids[:, c], positives[:size])
        assert np.array_equal(seen.weights[:, c, 1:] == 0, excluded)
        assert not seen.gradients[:, c, 1:][excluded].any()


@pytest.mark.parametrize("steps", ["both", "1:3"])
def test_a_discriminator_weighs_the_draws_whose_turn_it_is_too(corpus, as_python, steps):
    found = diagnoser(corpus, 5, 8, weigher="discriminator", discriminator_steps=steps)
    rows_in, rows_out = (found.engine.shared(f"discriminator_{side}") for side in ("in", "out"))
    rng = np.random.default_rng(1)
    for rows in (rows_in, rows_out):
        rows[:] = rng.normal(size=rows.shape)
    seen = found._draw(1)
    logits = np.einsum("spkd,pd->spk", rows_out[seen.ids], rows_in[found.pairs.centres])
    np.testing.assert_allclose(seen.weights[:, :, 1:], 1 / (1 + np.exp(logits)), rtol=1e-4)


def test_absolute_softmax_has_the_chain_rule(corpus):
    found = diagnoser(corpus, n_sets=8, sampler="uniform", absolute_softmax=True)
    seen = found._draw(1)
    for c, (_, _, logits, positive) in enumerate(parts(found)):
        for ids, gradient in zip(seen.ids[:, c], seen.gradients[:, c], strict=True):
            s = logits[[positive, *ids]]
            _, reference = ORACLES["relaxed"](np.abs(s), np.ones(3))
            np.testing.assert_allclose(gradient, reference * np.sign(s), rtol=1e-4, atol=1e-5)
    assert 0 < found.diagnose(1).cosine <= 1


WITHOUT_NEGATIVES = {name for name in LOSSES if LOSSES[name].dense or LOSSES[name].paths}


def combinations():
    """Yield options with every registered loss, sampler and weigher, each beside plain others."""
    plain = {"loss": "relaxed", "sampler": "popularity", "weigher": "none"}
    for kind, table in (("loss", LOSSES), ("sampler", SAMPLERS), ("weigher", WEIGHERS)):
        for name in sorted(set(table) - WITHOUT_NEGATIVES):
            yield plain | {kind: name} if kind != "loss" else {"loss": name}
    yield {"loss": "relaxed", "method": "exact", "weigher": "importance"}


@pytest.mark.parametrize("options", list(combinations()), ids=lambda options: " ".join(options.values()))
def test_whatever_is_registered_can_be_looked_at(corpus, options, as_python):
    looked = compilations().get("kernels.observe._observe")
    found = diagnoser(corpus, n_pairs=5, n_sets=8, **options)
    before = {name: matrix.copy() for name, matrix in found.engine.replicated.items()}
    figures = found.diagnose(1).as_dict()
    for name, highest in FIGURES.items():
        value = figures[name]
        assert value is None or (math.isfinite(value) and -1 <= value <= highest + 1e-6), name
    assert None not in (figures["cosine"], figures["negative_gradient"], figures["noise"])
    for name, matrix in before.items():
        assert np.array_equal(matrix, found.engine.replicated[name]), f"{name} has changed"
    json.dumps(figures, allow_nan=False)
    assert compilations().get("kernels.observe._observe") == looked, "the fixture as_python compiles"


@pytest.mark.parametrize(
    "options",
    [pytest.param({}, id="rolling", marks=pytest.mark.slow), pytest.param({"method": "exact"}, id="exact")],
)
def test_training_is_the_same_to_the_bit(corpus, options):
    events = []
    with_it, without = Word2Vec(**SMALL | options | {"epochs": 2}), Word2Vec(**SMALL | options | {"epochs": 2})
    with_it.fit(corpus, listeners=[events.append], diagnose=True)
    without.fit(corpus)
    assert with_it.model.vectors_out.tobytes() == without.model.vectors_out.tobytes()
    kinds = [type(event) for event in events if isinstance(event, EpochDone | Diagnosis)]
    assert kinds == [EpochDone, Diagnosis] * 2
    assert [record["event"] for record in with_it.model.history] == ["EpochDone", "Diagnosis"] * 2
    assert [record["epoch"] for record in with_it.model.history] == [1, 1, 2, 2]


def test_large_sets_and_large_vocabularies_are_looked_at_less_often(corpus, monkeypatch):
    monkeypatch.setattr("w2vneg.run.diagnostics._NUMBERS", 1600)
    found = diagnoser(corpus, n_pairs=40, n_sets=500, sampler="uniform")
    assert len(found.pairs.centres) == 40
    assert found.n_sets == 20
    monkeypatch.setattr("w2vneg.run.diagnostics._WORDS", 10 * V)
    assert len(diagnoser(corpus, sampler="uniform").pairs.centres) == 10


def test_the_command_line_prints_a_table_and_keeps_it(run_cli, tmp_path, monkeypatch, as_python):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("w2vneg.run.diagnostics._NUMBERS", 2000)
    (tmp_path / "corpus.txt").write_text(as_text(two_topics(n_sentences=200)))
    options = "--loss ns --negatives 10 --dim 6 --window 2 --subsample 0 --min-count 1 --epochs 2 --workers 1"
    command = ["train", "--corpus", "corpus.txt", "--diagnose", "--save-model", "model", "--json", *options.split()]
    result = run_cli(*command)
    assert result.code == 0, result.err
    lines = result.err.splitlines()
    epochs = [k for k, line in enumerate(lines) if line.startswith("epoch ")]
    assert len(epochs) == 2
    for k in epochs:
        heading, figures = lines[k + 1 : k + 3]
        assert re.split(r"\s{2,}", heading.strip()) == [
            "variation (floor)", "effective size", "true positives", "|gradient|", "cosine", "error", "noise", "slopes",
        ]  # fmt: skip
        pattern = r"\s+0\.\d{4} \(0\.\d{4}\)\s+\d+\.\d\d of 10\s+\d+\.\d\d%(\s+\d\.\d+){4}  unknown, unknown$"
        assert re.match(pattern, figures), figures
        assert len(heading) == len(figures)
    history = json.loads(result.out)["history"]
    assert [record["event"] for record in history] == ["EpochDone", "Diagnosis"] * 2
    assert 0.3 < history[-1]["true_positives"] < 0.6  # half of the words are of the centre's topic
    kept = (tmp_path / "model" / "history.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line) for line in kept] == history


def test_a_loss_that_draws_nothing_cannot_be_diagnosed(corpus):
    with pytest.raises(ConfigError, match="nothing to diagnose: loss 'softmax' draws no negatives"):
        Word2Vec(**SMALL | {"loss": "softmax"}).fit([["a", "b"]], diagnose=True)
