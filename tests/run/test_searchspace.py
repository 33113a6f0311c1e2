"""What a search tries: grids, ranges, draws, and what is wrong with them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from w2vneg.config import TrainConfig
from w2vneg.ground.errors import ConfigError
from w2vneg.run.search.space import Range, combinations, draws, parse_grid, parse_ranges


def test_values_of_a_grid_have_the_kind_of_their_option():
    texts = ["alpha=0.025, 5e-2", "negatives=5,10", "loss=ns,relaxed", "share-negatives=no,window", "temp=1,inf"]
    texts += ["dynamic-window=yes,no"]
    grid = parse_grid(texts)
    assert grid == {
        "alpha": [0.025, 0.05],
        "negatives": [5, 10],
        "loss": ["ns", "relaxed"],
        "share_negatives": ["no", "window"],
        "dynamic_window": [True, False],
        "temp": [1.0, "inf"],
    }
    assert type(grid["negatives"][0]) is int
    every = combinations(grid)
    assert len(every) == 64 == len({str(one) for one in every})
    assert all(TrainConfig(**one) for one in every)
    assert parse_grid(["--noise-exponent=0.5,0.5,0"]) == {"noise_exponent": [0.5, 0.0]}


@pytest.mark.parametrize(
    "text, message",
    [
        ("alpha", "--grid alpha: expected NAME=VALUES, such as alpha=0.025,0.05"),
        ("alpha=", "expected NAME=VALUES"),
        ("alhpa=1", "unknown option 'alhpa'; did you mean 'alpha'"),
        ("alpha=0.1,x", "--grid alpha=0.1,x: 'x' is not a number"),
        ("alpha=0.1,", "'' is not a number"),
        ("alpha=0", "--grid alpha=0: alpha must be above 0, got 0.0"),
        ("alpha=nan", "alpha must be a number, not nan"),
        ("negatives=2.5", "'2.5' is not a whole number"),
        ("dynamic_window=maybe", "'maybe' is not true or false"),
        ("share_negatives=windows", "unknown share_negatives 'windows'; did you mean 'window'?"),
        ("method=rollin", "unknown method 'rollin'; did you mean 'rolling'"),
        ("min_count=1,5", "min_count cannot be searched: data are encoded once for all trials"),
        ("lowercase=yes", "lowercase cannot be searched"),
        ("seed=1,2", "seed cannot be searched: use --seeds to repeat each combination"),
        ("source=text", "source cannot be searched"),
    ],
)
def test_a_wrong_grid(text, message):
    with pytest.raises(ConfigError) as raised:
        parse_grid([text])
    assert message in str(raised.value)


def test_options_are_given_once():
    with pytest.raises(ConfigError, match="alpha is given twice"):
        parse_grid(["alpha=1", "alpha=2"])
    with pytest.raises(ConfigError, match="alpha is given twice"):
        parse_ranges(["alpha=0.1..0.2"], {"alpha": [1]})


def test_ranges():
    assert parse_ranges(["alpha=0.01..0.2:log", "dim=10..300", "noise-exponent=-1..1:linear"]) == {
        "alpha": Range(0.01, 0.2, True, False),
        "dim": Range(10, 300, False, True),
        "noise_exponent": Range(-1.0, 1.0, False, False),
    }


@pytest.mark.parametrize(
    "text, message",
    [
        ("alpha=0.1", "expected a numeric option as NAME=LOW..HIGH"),
        ("loss=ns..relaxed", "expected a numeric option"),
        ("alpha=0.1..0.2:lag", "expected a numeric option"),
        ("alpha=0.2..0.1", "LOW must be below HIGH"),
        ("temp=1..inf", "both finite"),
        ("noise_exponent=-1..1:log", "and above 0 for :log"),
        ("negatives=0..5", "negatives must be at least 1, got 0"),
    ],
)
def test_a_wrong_range(text, message):
    with pytest.raises(ConfigError) as raised:
        parse_ranges([text])
    assert message in str(raised.value)


@given(
    low=st.floats(1e-6, 1e3),
    factor=st.floats(1.01, 1e4),
    log=st.booleans(),
    whole=st.booleans(),
    seed=st.integers(0, 99),
)
def test_draws_stay_within_their_range(low, factor, log, whole, seed):
    low, high = (max(1, round(low)), max(1, round(low)) + round(factor)) if whole else (low, low * factor)
    rng = np.random.default_rng(seed)
    for value in (Range(low, high, log, whole).draw(rng) for _ in range(20)):
        assert low <= value <= high
        assert type(value) is (int if whole else float)


def test_draws_are_spread_as_asked():
    rng = np.random.default_rng(1)
    plain = [Range(0.0, 1.0).draw(rng) for _ in range(4000)]
    logs = [math.log10(Range(1e-3, 10.0, log=True).draw(rng)) for _ in range(4000)]
    assert np.histogram(plain, 4, (0, 1))[0] == pytest.approx(1000, abs=150)
    assert np.histogram(logs, 4, (-3, 1))[0] == pytest.approx(1000, abs=150)
    whole = np.bincount([Range(1, 4, whole=True).draw(rng) for _ in range(4000)])
    assert whole[1:] == pytest.approx(1000, abs=150)  # the ends as often as the others


def test_more_draws_begin_with_the_same_and_the_order_of_options_does_not_matter():
    grid, ranges = {"negatives": [5, 10]}, {"alpha": Range(0.01, 0.2, True), "dim": Range(2, 50, whole=True)}
    few, many = draws(grid, ranges, 5, 3), draws(grid, ranges, 12, 3)
    assert many[:5] == few
    assert len(many) == 12 == len({str(one) for one in many})
    assert draws(grid, dict(reversed(ranges.items())), 5, 3) == few
    assert draws(grid, ranges, 5, 4) != few
    assert sorted(one["negatives"] for one in draws(grid, {}, 50, 1)) == [5, 10]  # there are no more
