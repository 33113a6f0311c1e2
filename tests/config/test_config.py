"""What a run can be told: every range, every default, and what each mistake is answered with."""

import dataclasses
import json
import math
import re

import numpy as np
import pytest

from w2vneg import Word2Vec
from w2vneg.config import RunSpec, TrainConfig
from w2vneg.config.compatibility import about_cosines, check_plugs
from w2vneg.config.table import options_read, shown_default, table
from w2vneg.ground.errors import ConfigError
from w2vneg.objectives.presets import epochs_over, preset_of
from w2vneg.objectives.samplers import SAMPLERS

FIELDS = table()
NUMBERS = [name for name, item in FIELDS.items() if item.metadata["kind"] in (int, float)]
FLOATS = [name for name, item in FIELDS.items() if item.metadata["kind"] is float]
INTS = [name for name, item in FIELDS.items() if item.metadata["kind"] is int]
BOOLS = [name for name, item in FIELDS.items() if item.metadata["kind"] is bool]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("window", 0, "window must be at least 1, got 0"),
        ("window", 1001, "window must be at most 1000, got 1001"),
        ("dim", -5, "dim must be at least 1, got -5"),
        ("dim", 0, "dim must be at least 1, got 0"),
        ("min_count", 0, "min_count must be at least 1, got 0"),
        ("max_vocab", 1, "max_vocab must be at least 2, got 1"),
        ("epochs", 0, "epochs must be at least 1, got 0"),
        ("workers", 0, "workers must be at least 1, got 0"),
        ("workers", 1025, "workers must be at most 1024, got 1025"),
        ("temp", 0.0, "temp must be above 0, got 0.0"),
        ("temp", -1, "temp must be above 0, got -1"),
        ("temp", -math.inf, "temp must be above 0, got -inf"),
        ("candidates", 0, "candidates must be at least 1, got 0"),
        ("replaced", 0, "replaced must be at least 1, got 0"),
        ("negatives", 0, "negatives must be at least 1, got 0"),
        ("noise_exponent", 5.5, "noise_exponent must be at most 5, got 5.5"),
        ("subsample", -1e-9, "subsample must be at least 0, got -1e-09"),
        ("subsample", 1.0, "subsample must be below 1, got 1.0"),
        ("alpha", 0, "alpha must be above 0, got 0"),
        ("alpha", math.inf, "alpha must be finite, got inf"),
        ("min_alpha", -0.1, "min_alpha must be at least 0, got -0.1"),
        ("min_alpha", math.inf, "min_alpha must be finite, got inf"),
        ("seed", -1, "seed must be at least 0, got -1"),
        ("seed", 2**63, f"seed must be at most {2**63 - 1}, got {2**63}"),
        ("private_rows", -1, "private_rows must be at least 0, got -1"),
        ("method", "roling", "unknown method 'roling'; did you mean 'rolling'? Known: rolling, sir, exact, pool."),
        ("exclude", "targt", "unknown exclude 'targt'; did you mean 'target'? Known: none, target, window, known."),
        ("dim", None, "dim must have a value"),
        ("dim", None, "dim must have a value"),
        ("loss", 3, "loss must be text, not 3"),
        ("degeneracy", 3, "degeneracy must be text, not 3"),
    ],
)
def test_out_of_range(name, value, message):
    with pytest.raises(ConfigError) as caught:
        TrainConfig(**{name: value})
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("name", NUMBERS)
def test_limits_themselves_are_allowed_and_the_next_value_is_not(name):
    limits, kind = FIELDS[name].metadata["limits"], FIELDS[name].metadata["kind"]
    for limit, outwards in ((limits["at_least"], -1), (limits["at_most"], 1)):
        if limit is not None:
            assert TrainConfig(**{name: limit}).get(name) == limit
            beyond = limit + outwards if kind is int else math.nextafter(limit, outwards * math.inf)
            with pytest.raises(ConfigError):
                TrainConfig(**{name: beyond})
    for limit in (limits["above"], limits["below"]):
        if limit is not None:
            with pytest.raises(ConfigError):
                TrainConfig(**{name: limit})


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", [math.nan, np.float32("nan"), "5", "nan", True, [1], 1j, b"1"], ids=repr)
def test_what_is_no_number_is_refused(name, value):
    with pytest.raises(ConfigError, match=f"^{name} must be a"):
        TrainConfig(**{name: value})


@pytest.mark.parametrize("name", INTS)
@pytest.mark.parametrize("value", [2.5, 1e300, math.inf])
def test_fractions_are_no_whole_numbers(name, value):
    with pytest.raises(ConfigError, match=f"^{name} must be"):
        TrainConfig(**{name: value})


@pytest.mark.parametrize("name", FLOATS)
def test_whole_numbers_too_large_for_a_float_are_refused(name):
    with pytest.raises(ConfigError, match=f"^{name} must be"):
        TrainConfig(**{name: 10**400})


@pytest.mark.parametrize("name", BOOLS)
@pytest.mark.parametrize("value", [0, 1, "yes"])
def test_bools_are_bools(name, value):
    with pytest.raises(ConfigError, match=f"^{name} must be true or false"):
        TrainConfig(**{name: value})


def test_numbers_of_numpy_become_plain_ones():
    config = TrainConfig(dim=np.int64(7), alpha=np.float32(0.5), temp=2, epochs=3.0)
    values = [config.get(name) for name in ("dim", "alpha", "temp", "epochs")]
    assert values == [7, 0.5, 2.0, 3]
    assert [type(value) for value in values] == [int, float, float, int]


def test_relaxed_alone_means_boltzmann_over_popularity_at_temperature_one():
    config = TrainConfig(loss="relaxed").resolved()
    sampler = config.sampler
    assert (sampler.name, sampler.degeneracy, sampler.method) == ("boltzmann", "popularity", "rolling")
    assert sampler.temp == 1.0
    assert config == TrainConfig().resolved()
    assert (config.negatives, config.share_negatives) == (
        preset_of("relaxed").values["negatives"],
        preset_of("relaxed").values["share_negatives"],
    )
    assert (sampler.candidates, sampler.replaced) == (64, 2)


def test_ns_alone_means_word2vec():
    config = TrainConfig(loss="ns").resolved()
    assert (config.sampler, config.negatives) == (SAMPLERS["popularity"].Options(noise_exponent=0.75), 5)
    values = config.as_dict()
    assert values["temp"] is values["method"] is values["degeneracy"] is values["candidates"] is None


@pytest.mark.parametrize("loss", ["ns", "relaxed"])
def test_nothing_is_left_open_and_resolving_again_changes_nothing(loss):
    config = TrainConfig(loss=loss).resolved(cores=3)
    assert config.workers == 3
    assert config.min_alpha == pytest.approx(config.alpha / 10000)
    assert None not in (config.sampler, config.negatives, config.share_negatives, config.alpha)
    assert config.resolved(cores=9) == TrainConfig(**config.flat()).resolved(cores=9) == config


def test_walks_on_graphs_take_half_the_learning_rate():
    assert [TrainConfig(loss="ns", source=source).resolved().alpha for source in ("text", "graph")] == [0.05, 0.025]
    assert TrainConfig(loss="ns", source="graph", alpha=0.1).resolved().alpha == 0.1


def test_given_values_win_over_the_preset():
    given = {"sampler": "uniform", "negatives": 3, "share_negatives": "centre", "alpha": 0.2, "min_alpha": 0.1}
    config = TrainConfig(loss="relaxed", **given).resolved()
    assert given.items() <= config.as_dict().items()


@pytest.mark.parametrize("degeneracy", [None, "popularity", "uniform"])
def test_an_infinite_temperature_is_the_degeneracy_itself(degeneracy):
    config = TrainConfig(loss="relaxed", temp=math.inf, degeneracy=degeneracy).resolved()
    assert config.sampler.name == (degeneracy or "popularity")
    assert config.sampler.values().keys() <= {"noise_exponent"}
    assert TrainConfig(**config.flat()).resolved() == config
    assert config.negatives == preset_of("relaxed").values["negatives"]


@pytest.mark.parametrize("option", [{"temp": 1.0}, {"method": "sir"}, {"degeneracy": "uniform"}, {"candidates": 9}])
@pytest.mark.parametrize("config", [{"loss": "ns"}, {"loss": "relaxed", "sampler": "popularity"}])
def test_boltzmann_options_are_refused_with_another_sampler(config, option):
    with pytest.raises(ConfigError) as caught:
        TrainConfig(**config, **option).resolved()
    flag = "--" + next(iter(option))
    readers = {"--temp": "sampler boltzmann reads", "--degeneracy": "sampler boltzmann reads"}
    readers |= {"--method": "samplers boltzmann and selfplay read"}
    readers |= {"--candidates": "samplers boltzmann, selfplay and dns read"}
    assert str(caught.value) == (
        f"{flag} has no effect with sampler 'popularity': only {readers[flag]} it; "
        f"use --sampler boltzmann or leave {flag} out"
    )


def test_min_alpha_above_alpha():
    with pytest.raises(ConfigError, match=r"min_alpha \(0.1\) is above alpha \(0.05\); lower it"):
        TrainConfig(loss="ns", alpha=0.05, min_alpha=0.1).resolved()


@pytest.mark.parametrize("name", ["winow", "nagatives", "subsampel"])
def test_unknown_options_come_with_near_ones(name):
    near = {"winow": "window", "nagatives": "negatives", "subsampel": "subsample"}[name]
    with pytest.raises(ConfigError) as caught:
        TrainConfig.from_mapping({name: 1}, "run.toml")
    assert str(caught.value).startswith(f"run.toml: unknown option '{name}'; did you mean ")
    assert repr(near) in str(caught.value)


def test_mappings_name_their_file_and_take_dashes():
    assert TrainConfig.from_mapping({"min-count": 2, "noise_exponent": 1}).min_count == 2
    with pytest.raises(ConfigError, match=r"^run.toml: window must be at least 1, got 0$"):
        TrainConfig.from_mapping({"window": 0}, "run.toml")
    with pytest.raises(ConfigError, match=r"^window must be at least 1, got 0$"):
        TrainConfig.from_mapping({"window": 0})
    with pytest.raises(ConfigError, match=r"^config.json: expected options by name, found '\[1, 2\]'$"):
        TrainConfig.from_mapping([1, 2], "config.json")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"loss": "ns", "share_negatives": True, "dynamic_window": False},
        {"temp": math.inf},
        {"seed": 2**63 - 1, "subsample": 0, "max_vocab": 10},
    ],
)
def test_options_survive_strict_json(tmp_path, options):
    config = TrainConfig(**options)
    text = json.dumps(config.as_dict(), allow_nan=False)
    assert TrainConfig(**json.loads(text)) == config
    (tmp_path / "config.json").write_text(json.dumps(config.resolved().stored(), allow_nan=False))
    assert RunSpec.read(tmp_path / "config.json") == config.resolved()


def test_config_is_frozen_and_by_keyword():
    with pytest.raises(dataclasses.FrozenInstanceError):
        TrainConfig().dim = 3
    with pytest.raises(TypeError):
        TrainConfig("ns")


@pytest.mark.parametrize("name", FIELDS)
def test_every_option_has_help_and_a_group(name):
    about = FIELDS[name].metadata
    assert about["help"].endswith(".")
    assert about["group"] in ("objective", "model", "corpus", "run", "ranks", "plug", None)
    assert about["readers"] or FIELDS[name].default is not None or about["default_text"] or about["group"] is None


def test_help_names_the_command_that_lists_plugs():
    for name in ("loss", "sampler", "weigher"):
        assert "'w2vneg objectives'" in FIELDS[name].metadata["help"]


@pytest.mark.parametrize(
    "options",
    [{"method": "exact", "candidates": 9}, {"method": "exact", "replaced": 2}, {"method": "sir", "replaced": 2}],
)
def test_options_without_effect_are_refused(options):
    with pytest.raises(ConfigError, match="no effect"):
        TrainConfig(loss="relaxed", **options).resolved()


def test_the_presets_name_is_no_option_of_its_own():
    with pytest.raises(ConfigError, match=r"run\.toml: preset is not an option; write loss = 'cis'"):
        TrainConfig.from_mapping({"preset": "cis"}, "run.toml")


def test_what_the_help_shows_is_what_resolves():
    for name, item in FIELDS.items():
        for kind, readers in item.metadata["readers"].items():
            for reader in readers:
                config = TrainConfig(**{"loss": "relaxed", kind: reader}).resolved()
                shown, value = shown_default(options_read(kind, reader)[name]), config.as_dict()[name]
                if value is None:
                    assert item.metadata["default_text"] or shown == "none", (name, reader)  # the plug decides
                    continue
                if item.metadata["kind"] is bool:
                    value = {True: "yes", False: "no"}[value]
                assert shown == (f"{value:g}" if isinstance(value, float) else str(value)), (name, reader)
    relaxed, ns = TrainConfig().resolved(), TrainConfig(loss="ns").resolved()
    shown = {name: item.metadata["default_text"] for name, item in FIELDS.items()}
    assert shown_default(FIELDS["candidates"]) == "boltzmann and selfplay: 64, dns: 8"
    assert shown["negatives"] == f"ns: {ns.negatives}, relaxed: {relaxed.negatives}, …"
    common, on_text = shown["alpha"].removeprefix("the preset's: ").split(", on text ")
    assert common == str(relaxed.alpha) == str(ns.alpha)
    for names, alpha in re.findall(r"([a-z][a-z ]*) ([\d.]+)(?:,|$)", on_text):
        for name in names.split(" and "):
            assert TrainConfig(loss=name).resolved().alpha == float(alpha), name
    assert "hinge" in on_text and on_text.endswith("; half for graphs, twice for CBOW")
    graphs, cbow = (
        TrainConfig(loss="ns", **given).resolved().alpha for given in ({"source": "graph"}, {"inputs": "window"})
    )
    assert (graphs, cbow) == (ns.alpha / 2, ns.alpha * 2)
    assert shown["epochs"] == f"5, top-n: {epochs_over(1e12, True)} (many pairs) to {epochs_over(1, True)}"
    assert shown["share_negatives"] == f"{relaxed.share_negatives}, ns: {ns.share_negatives} if possible"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"noise_exponent": 1.0, "degeneracy": "uniform"}, "--noise-exponent has no effect with a degeneracy that is"),
        ({"noise_exponent": 1.0, "sampler": "uniform"}, "--noise-exponent has no effect with sampler 'uniform'"),
        ({"loss": "ns", "margin": 1.0}, "--margin has no effect with loss 'ns': only losses ranking and hinge read it"),
        (
            {"loss": "hinge", "weigh_positive": False},
            "--no-weigh-positive has no effect with weigher 'none': only weigher discriminator reads it; "
            "use --weigher discriminator or leave --no-weigh-positive out",
        ),
        ({"loss": "mle", "sampler": "uniform"}, "--sampler has no effect with loss 'softmax', which scores every word"),
        ({"loss": "mle", "weigher": "discriminator"}, "--weigher has no effect with loss 'softmax'"),
        ({"loss": "fs", "negatives": 5}, "--negatives has no effect with loss 'softmax'"),
        ({"loss": "mle", "share_negatives": True}, "--share-negatives has no effect with loss 'softmax'"),
        ({"loss": "mle", "exclude": "target"}, "--exclude has no effect with loss 'softmax'"),
        ({"loss": "mle", "temp": 1.0}, "--temp has no effect with loss 'softmax'.*--loss sampled-softmax"),
        ({"loss": "mle", "noise_exponent": 1.0}, "--noise-exponent has no effect with loss 'softmax'"),
    ],
)
def test_options_that_do_not_go_together_are_refused_with_a_remedy(options, message):
    with pytest.raises(ConfigError, match=message):
        TrainConfig(**options).resolved()


@pytest.mark.parametrize(
    "options",
    [
        {"loss": "mle", "weigher": "none", "share_negatives": False, "exclude": "none"},
    ],
)
def test_options_that_go_together_are_kept(options):
    config = TrainConfig(**options).resolved()
    assert TrainConfig(**config.flat()).resolved() == config


@pytest.mark.parametrize("name", ["kernel-quadratic", "kernel-quartic"])
def test_who_trains_on_sizes_of_logits_is_told_of_cosines_and_the_cost_of_others(name):
    caution = about_cosines(TrainConfig(loss=name).resolved())
    assert "cosines mean nothing" in caution and "--signed-softmax" in caution and "minutes" in caution
    assert about_cosines(TrainConfig(loss=name, absolute_softmax=False).resolved()) is None
    assert about_cosines(TrainConfig(loss=name, source="pairs").resolved()) is None  # ranked by |s|, as it should be
    without = about_cosines(TrainConfig(loss="mle", absolute_softmax=True).resolved())
    assert without.endswith("train with --signed-softmax, which takes as long")


class FakePlug:
    """What `check_plugs` looks at."""

    takes_absolute_logits = takes_positive_weight = True
    needs_log_q = needs_exclusion = context_free = False
    gives_log_q, parameters = None, ()

    def __init__(self, **attributes):
        vars(self).update(attributes)


@pytest.mark.parametrize(
    ("options", "loss", "weigher", "sampler", "message"),
    [
        ({}, {"needs_log_q": True}, {}, {"gives_log_q": False}, "loss 'relaxed' needs the probabilities of its draws"),
        (
            {"weigher": "importance"},
            {},
            {"needs_log_q": True},
            {"gives_log_q": False},
            "weigher 'importance' needs",
        ),
        ({}, {"needs_exclusion": True}, {}, {}, "loss 'relaxed' sums over .* use --exclude target"),
    ],
)
def test_plugs_that_do_not_go_together_are_refused(options, loss, weigher, sampler, message):
    config = TrainConfig(**options).resolved()
    with pytest.raises(ConfigError, match=message):
        check_plugs(config, FakePlug(**loss), FakePlug(**weigher), FakePlug(**sampler))


@pytest.mark.parametrize("name", ["ns", "nce"])
def test_losses_that_say_no_by_a_negative_logit_take_no_absolute_ones(name):
    with pytest.raises(ConfigError, match=f"--absolute-softmax makes no sense with loss '{name}'"):
        Word2Vec(loss=name, absolute_softmax=True).check()


@pytest.mark.parametrize("name", ["ns", "nce", "ranking", "hinge", "importance"])
def test_losses_with_the_positive_in_no_sum_take_no_weight_of_it(name):
    with pytest.raises(ConfigError, match=f"--weigh-positive has no effect with loss '{name}'"):
        Word2Vec(loss=name, weigher="discriminator", weigh_positive=True).check()


def test_plugs_that_go_together_pass():
    needing, giving = FakePlug(needs_log_q=True, needs_exclusion=True), FakePlug(gives_log_q=True)
    check_plugs(TrainConfig(exclude="target", absolute_softmax=True).resolved(), needing, needing, giving)
    check_plugs(TrainConfig(exclude="target").resolved(), needing, needing, FakePlug())  # a family: not known yet


def test_the_remedy_names_samplers():
    with pytest.raises(ConfigError, match=r"choose --sampler .*popularity.* or "):
        check_plugs(TrainConfig().resolved(), FakePlug(needs_log_q=True), FakePlug(), FakePlug(gives_log_q=False))
