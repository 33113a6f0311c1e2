"""Temperature over a run: closed forms, the effective number that is held, resumption to the bit, refusals."""

import math
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from planted import two_topics

from w2vneg import Word2Vec
from w2vneg.config import TrainConfig
from w2vneg.data.encoded import encode_corpus
from w2vneg.errors import ConfigError
from w2vneg.events import EpochDone, RoundDone
from w2vneg.registry import RunContext
from w2vneg.samplers import SAMPLERS
from w2vneg.samplers.temperature import HIGHEST, LOWEST, Falling, effective_number, inverse, make_schedule
from w2vneg.training.model import Model

V, DIM = 500, 16
COUNTS = (1e5 / np.arange(1, V + 1)).astype(np.int64)
SMALL = {"dim": 8, "window": 3, "subsample": 0, "min_count": 1, "epochs": 2, "workers": 1, "loss": "relaxed"}
ADAPTIVE = {"temp_schedule": "adaptive", "effective_candidates": 20}


@pytest.fixture(scope="module")
def planted():
    return encode_corpus(two_topics(), min_count=1)


def schedule(method="rolling", candidates=64, target=20.0, degeneracy="popularity", temp=1.0):
    given = {"candidates": candidates} if method != "exact" else {}
    options = {"sampler": "boltzmann", "method": method, "degeneracy": degeneracy, "temp": temp, "subsample": 1e-2}
    config = TrainConfig(**options, **given, temp_schedule="adaptive", effective_candidates=target).resolved()
    sampler = SAMPLERS["boltzmann"].from_options(config, RunContext(COUNTS, DIM))
    return make_schedule(config, sampler, COUNTS), sampler


def random_model(sd, seed=1):
    """Return both matrices of a model whose logits have about this standard deviation."""
    rng = np.random.default_rng(seed)
    scale = (sd / math.sqrt(DIM)) ** 0.5
    return tuple((scale * rng.normal(size=(V, DIM))).astype(np.float32) for _ in range(2))


def settled(held, model, rounds=40):
    """Return T after so many rounds on a model that stays as it is."""
    temperature, path = 0.0, []
    for k in range(rounds):
        temperature = held.next(
            temperature, k / rounds, SimpleNamespace(vectors_in=model[0], vectors_out=model[1]), (1, 0, k)
        )
        path.append(temperature)
    return temperature, path


@pytest.mark.parametrize(
    ("cosine", "expected"),
    [(False, [4.0, 3.25, 2.5, 1.0]), (True, [4.0, 4 - 3 * (1 - math.sqrt(0.5)) / 2, 2.5, 1.0])],
)
def test_linear_and_cosine_have_their_closed_forms(cosine, expected):
    falling = Falling(4.0, 1.0, cosine)
    found = [falling.next(0.0, fraction, None, ()) for fraction in (0.0, 0.25, 0.5, 1.0)]
    assert found == pytest.approx(expected, rel=1e-12)


def test_effective_number_by_hand():
    logits = np.log(np.array([[1.0, 1.0, 2.0], [3.0, 3.0, 3.0]])).astype(np.float32)
    assert effective_number(logits, np.float32(0), 1.0) == pytest.approx((16 / 6 + 3) / 2, rel=1e-6)
    assert effective_number(logits, np.float32(0), 0.0) == pytest.approx(3)
    assert effective_number(100 * logits, np.float32(0), 1.0) == pytest.approx((1 + 3) / 2)
    log_d = np.log(np.array([0.5, 0.25, 0.25])).astype(np.float32)
    assert effective_number(logits[1:], log_d, 7.0) == pytest.approx(1 / (0.25 + 2 / 16), rel=1e-6)


def test_centres_come_as_often_as_training_meets_them():
    config = TrainConfig(sampler="boltzmann", temp_schedule="adaptive", effective_candidates=8.0).resolved()
    sampler = SAMPLERS["boltzmann"].from_options(config, RunContext(COUNTS, DIM))
    only = np.zeros(len(COUNTS))
    only[[3, 5]] = 1.0, 3.0
    centres = make_schedule(config, sampler, only).centres
    assert set(centres.tolist()) == {3, 5}
    assert (centres == 5).sum() > (centres == 3).sum()


@pytest.mark.parametrize("degeneracy", ["popularity", "uniform"])
@pytest.mark.parametrize(("method", "target"), [("rolling", 20), ("sir", 40), ("exact", 30)])
def test_adaptive_reaches_its_target_wherever_it_starts(method, target, degeneracy):
    model = random_model(1.5)
    for start in (0.6, 30.0):
        held, sampler = schedule(method, target=target, degeneracy=degeneracy, temp=start)
        temperature, path = settled(held, model)
        assert path[0] == start
        assert LOWEST < temperature < HIGHEST
        if method == "exact":  # the same centres, by enumeration
            scaled = model[0][held.centres].astype(np.float64) @ model[1].T / temperature + sampler.log_d
            q = np.exp(scaled - scaled.max(axis=1, keepdims=True))
            q /= q.sum(axis=1, keepdims=True)
            assert (1 / (q**2).sum(axis=1)).mean() == pytest.approx(target, rel=0.01)
            continue
        rng = np.random.default_rng(5)  # many other candidates
        d = np.exp(sampler.log_d.astype(np.float64))
        centres = np.tile(held.centres, 50)
        candidates = rng.choice(V, (len(centres), 64), p=d / d.sum())
        logits = np.einsum("ij,ikj->ik", model[0][centres], model[1][candidates]).astype(np.float64)
        weights = np.exp(logits / temperature)
        assert (weights.sum(axis=1) ** 2 / (weights**2).sum(axis=1)).mean() == pytest.approx(target, rel=0.06)


def test_a_harder_target_is_a_lower_temperature_and_wider_logits_a_higher_one():
    model = random_model(1.5)
    temperatures = [settled(schedule(target=target)[0], model)[0] for target in (10, 20, 40)]
    assert temperatures == sorted(temperatures) and temperatures[2] > 1.3 * temperatures[0]
    wider = settled(schedule()[0], random_model(3.0))[0]
    assert wider == pytest.approx(2 * temperatures[1], rel=0.15)


def test_adaptive_moves_little_by_little_and_stays_within_its_limits():
    for sd, limit in ((0.0, LOWEST), (500.0, HIGHEST)):
        temperature, path = settled(schedule(target=60)[0], random_model(sd))
        assert temperature == pytest.approx(limit, rel=0.01)
        assert all(abs(math.log(b / a)) <= math.log(2) / 2 + 1e-12 for a, b in pairwise(path))


def test_adaptive_stays_where_it_is_when_the_model_has_exploded():
    held, _ = schedule()
    vectors_in, vectors_out = random_model(1.0)
    vectors_out[:] = np.nan
    assert held.next(1.7, 0.1, SimpleNamespace(vectors_in=vectors_in, vectors_out=vectors_out), (1, 0, 3)) == 1.7


def test_inverse_is_a_plain_float_that_compiled_code_can_hold():
    assert inverse(4.0) == 0.25 and type(inverse(np.float64(4.0))) is float
    assert inverse(1e-300) == 1e30


@pytest.mark.parametrize(
    ("method", "target", "message"),
    [
        ("rolling", 64, r"--effective-candidates \(64\) must be below --candidates \(64\)"),
        ("exact", 500, r"effective_candidates must be below [\d.]+, .* got 500; lower it"),
    ],
)
def test_a_number_that_no_temperature_gives_is_refused(method, target, message):
    with pytest.raises(ConfigError, match=message):
        schedule(method, target=target)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"temp_schedule": "linear"}, "--temp-schedule linear needs .*; add --temp-end"),
        ({"temp_schedule": "adaptive"}, "--temp-schedule adaptive needs .*; add --effective-candidates"),
        ({"temp_end": 2.0}, "--temp-end has no effect with --temp-schedule constant; add --temp-schedule linear"),
        (ADAPTIVE | {"temp_end": 2.0}, "--temp-end has no effect with --temp-schedule adaptive"),
        ({"effective_candidates": 5}, "--effective-candidates has no effect with --temp-schedule constant"),
        (
            {"temp_schedule": "cosine", "temp_end": 1, "temp": "inf"},
            "--temp-schedule cosine needs a finite temperature",
        ),
        (ADAPTIVE | {"loss": "ns"}, "no effect with sampler 'popularity': only sampler boltzmann reads it"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        TrainConfig(**{"loss": "relaxed"} | options).resolved()


def run(corpus, stop_at=None, model=None, **options):
    """Train, stopping after a number of rounds; return (trainer, events)."""
    events = []

    def tell(event):
        events.append(event)
        if stop_at and sum(isinstance(one, RoundDone) for one in events) == stop_at:
            trainer.stop()

    trainer = Word2Vec(**SMALL | options).trainer(corpus, [tell], model)
    trainer.train()
    return trainer, events


def told(events):
    return [event.temperature for event in events if isinstance(event, EpochDone)]


def test_a_schedule_reaches_the_sampler_and_is_told(planted):
    trainer, events = run(planted, temp_schedule="linear", temp=3.0, temp_end=1.0)
    n = trainer.engine.n_rounds
    last = [((epoch * n) + n - 1) / (2 * n) for epoch in (0, 1)]  # where the last round of each epoch began
    assert told(events) == pytest.approx([3 - 2 * fraction for fraction in last])
    assert trainer.engine.plugs.sampler.inverse_temperature == pytest.approx(1 / told(events)[-1])
    assert [record["temperature"] for record in trainer.model.history] == told(events)


def test_a_constant_temperature_is_told_and_none_where_there_is_none(planted):
    assert told(run(planted, temp=0.7)[1]) == [0.7, 0.7]
    assert told(run(planted, loss="ns")[1]) == [None, None]
    weights = np.ones(len(planted.vocab))
    assert told(run(planted, temp=math.inf, degeneracy=weights)[1]) == [None, None]


@pytest.mark.parametrize("stop_at", [1, 5, 8])
@pytest.mark.parametrize(
    "options",
    [{}, ADAPTIVE, ADAPTIVE | {"method": "exact"}, {"temp_schedule": "cosine", "temp_end": 2.0}],
    ids=["constant", "adaptive", "adaptive exact", "cosine"],
)
def test_resumed_equals_uninterrupted_to_the_bit(planted, tmp_path, options, stop_at):
    options = {"temp": 1.5} | options
    whole, events = run(planted, **options)
    first, _ = run(planted, stop_at, **options)
    first.model.save(tmp_path / "model")
    resumed, after = run(planted, model=Model.load(tmp_path / "model"), **options)
    for name in ("vectors_in", "vectors_out"):
        assert getattr(whole.model, name).tobytes() == getattr(resumed.model, name).tobytes()
    assert told(events)[-len(told(after)) :] == told(after)
    assert whole.model.position == resumed.model.position


def test_a_position_from_before_temperatures_changed_still_loads(planted, tmp_path):
    trainer, _ = run(planted, stop_at=2)
    trainer.model.save(tmp_path / "model")
    path = tmp_path / "model" / "position.json"
    text = path.read_text("utf-8")
    path.write_text(text.replace(',\n  "temperature": 0.0', ""), "utf-8")
    assert "temperature" not in path.read_text("utf-8")
    assert Model.load(tmp_path / "model").position == trainer.model.position


def test_a_rollback_takes_the_temperature_back(planted):
    trainer = Word2Vec(**SMALL | ADAPTIVE).trainer(planted)
    trainer.model.position.temperature = 3.0
    good = trainer._keep()
    trainer.model.position.temperature = 9.0
    trainer._roll_back(good)
    assert trainer.model.position.temperature == 3.0
