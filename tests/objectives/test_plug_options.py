"""A plug from outside with options of its own: flags, TOML, keywords, searches, model folder, help, refusals."""

import json
import pickle
import sys

import numpy as np
import pytest

from w2vneg import Input, TrainConfig, Word2Vec
from w2vneg.data.sources import SOURCES
from w2vneg.ground.errors import ConfigError, InputError
from w2vneg.objectives.losses import LOSSES
from w2vneg.objectives.plugins import load_plugins
from w2vneg.objectives.plugs import Loss, Sampler, Weigher
from w2vneg.objectives.presets import PRESETS
from w2vneg.objectives.samplers import SAMPLERS
from w2vneg.objectives.weighers import WEIGHERS
from w2vneg.run.model import Model

SAMPLER = '''
"""The k most frequent targets alike, and at times any target."""
from w2vneg.kernels.contracts import implement_draw
from w2vneg.kernels.rng import next_below, next_unit
from w2vneg.ground.option import option
from w2vneg.objectives.plugs import Sampler
from w2vneg.objectives.samplers import SAMPLERS


@SAMPLERS.register("head")
class Head(Sampler):
    """The most frequent targets alike."""

    n_vocab: int
    head: int
    tail_share: float

    class Options:
        head: int = option(3, "How many targets are the head.", at_least=1, at_most=99)
        tail_share: float = option(0.5, "Share of draws from all targets.", at_least=0, below=1)

    context_free = True

    @classmethod
    def from_options(cls, options, context):
        return cls(len(context.counts), min(options.head, len(context.counts)), options.tail_share)


@implement_draw(Head)
def draw(sampler, state, group, centre_id, centre, out, rng, n, ids, log_q, logits):
    for k in range(n):
        far = next_unit(rng) < sampler.tail_share
        ids[k] = next_below(rng, sampler.n_vocab if far else sampler.head)
    return False
'''

LOSS = '''
"""Hinge on the lead, to a power."""
from w2vneg.kernels.contracts import implement_step
from w2vneg.objectives.losses import LOSSES
from w2vneg.ground.option import option
from w2vneg.objectives.plugs import Loss


@LOSSES.register("power-hinge")
class PowerHinge(Loss):
    """Hinge to a power."""

    lead: float

    class Options:
        lead: float = option(1.0, "By how much the positive should lead.", above=0)

    def loss_at_init(self, n_negatives):
        return n_negatives * self.lead


@implement_step(PowerHinge)
def step(loss, centre_row, alpha, rng, logits, exp_logits, log_q, weights, gradients):
    value = 0.0
    gradients[0] = 0
    for k in range(1, logits.shape[0]):
        short = loss.lead - logits[0] + logits[k]
        gradients[k] = weights[k] if short > 0 else 0
        gradients[0] -= gradients[k]
        value += weights[k] * max(short, 0)
    return value
'''

WEIGHER = '''
"""Every negative counts so much."""
from w2vneg.kernels.contracts import implement_weigh
from w2vneg.ground.option import option
from w2vneg.objectives.plugs import Weigher
from w2vneg.objectives.weighers import WEIGHERS


@WEIGHERS.register("flat")
class Flat(Weigher):
    """A constant weight."""

    share: float

    class Options:
        share: float = option(0.5, "What each negative counts.", above=0, at_most=1)


@implement_weigh(Flat)
def weigh(weigher, state, k, offset, ids, logits, exp_logits, log_q, weights):
    for j in range(1, weights.shape[0]):
        weights[j] *= weigher.share
    return True
'''

PLUGS = {  # option that names it -> (text, name, an option of its own, a value, a wrong value, what is said of it)
    "sampler": (SAMPLER, "head", "tail_share", 0.25, 1.5, "tail_share must be below 1, got 1.5"),
    "loss": (LOSS, "power-hinge", "lead", 2.0, -1.0, "lead must be above 0, got -1.0"),
    "weigher": (WEIGHER, "flat", "share", 0.75, 2.0, "share must be at most 1, got 2.0"),
}
OTHERS = {"sampler": {"sampler": "uniform"}, "loss": {"loss": "relaxed"}, "weigher": {"weigher": "none"}}
TINY = {"dim": 8, "window": 2, "epochs": 1, "min_count": 1, "subsample": 0, "workers": 1, "negatives": 2}


@pytest.fixture(params=["sampler", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("loss", "weigher"))])
def plug(request, tmp_path, monkeypatch):
    """(kind, name, option, value, wrong value, message, path of the file); registered only while the test runs."""
    text, *rest = PLUGS[request.param]
    path = tmp_path / f"own_{request.param}.py"
    path.write_text(text)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text").write_text("a b c d e f\n" * 30)
    yield request.param, *rest, path
    for table, name in ((SAMPLERS, "head"), (LOSSES, "power-hinge"), (WEIGHERS, "flat")):
        table.unregister(name)


def chosen(kind, name):
    return {"loss": "relaxed", "sampler": "uniform"} | {kind: name}


def as_flags(options):
    return [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", value)]


def test_help_lists_the_options_under_the_plug(run_cli, plug):
    kind, name, option, *_, path = plug
    told = " ".join(run_cli("train", "--plugin", path, "--help-all").out.split())
    own = told.partition(f"Objective, {kind} {name}: ")[2].partition("Objective, ")[0]
    assert f"--{option.replace('_', '-')} X" in own and "[default: " in own
    assert f"--{option.replace('_', '-')} " not in run_cli("train", "--plugin", path, "--help").out


def test_flags_toml_keywords_and_searches_take_an_option_and_the_model_folder_keeps_it(run_cli, plug):
    kind, name, option, value, *_, path = plug
    own = chosen(kind, name) | {"plugin": str(path), option: value}
    result = run_cli("train", "--corpus", "text", *as_flags(own), *as_flags(TINY), "--save-model", "m", "--quiet")
    assert result.code == 0, result.err
    model = Model.load("m")
    read = getattr(model.config, kind)
    assert getattr(read, option) == value and read.name == name
    assert pickle.loads(pickle.dumps(model.config)) == model.config
    toml = "".join(f"{key} = {json.dumps(value)}\n" for key, value in (own | TINY).items())
    (path.parent / "run.toml").write_text(toml)
    assert run_cli("train", "--corpus", "text", "--config", "run.toml", "--save-model", "n", "--quiet").code == 0
    word2vec = Word2Vec(**own, **TINY)
    word2vec.fit("text")
    for other in (Model.load("n"), word2vec.model):
        assert other.config == model.config
        assert np.array_equal(other.vectors_in, model.vectors_in)
    own.pop(option)
    _a_search_takes_it(run_cli, path.parent, as_flags(own), f"{option}={value},{value / 2}")
    _a_model_folder_is_read_without_the_plug(run_cli, plug)


def _a_search_takes_it(run_cli, folder, own, values):
    (folder / "valid.tsv").write_text("a\tb\t1\nc\td\t1\n")
    grid = ("--grid", values, "--valid", "valid.tsv", "--out", "search", "--quiet")
    result = run_cli("tune", "--corpus", "text", *own, *as_flags(TINY), *grid)
    assert result.code == 0, result.err
    assert values.partition("=")[0] in (folder / "search" / "best.toml").read_text()
    again = ("--config", "search/best.toml", "--quiet", "--output", "v.txt")
    assert run_cli("train", "--corpus", "text", *again).code == 0


def _a_model_folder_is_read_without_the_plug(run_cli, plug):
    """Reading runs nothing of what the folder m names; going on with it does, and misses nothing."""
    kind, name, option, value, *_, path = plug
    for table in (SAMPLERS, LOSSES, WEIGHERS):
        table.unregister(name)
    model = Model.load("m")
    assert getattr(model.config, kind).values()[option] == model.config.as_dict()[option] == value
    assert run_cli("nearest", "a", "--vectors", "m").code == 0
    path.write_text(PLUGS[kind][0].replace(option, "renamed"))
    sys.modules.pop(f"w2vneg_plugin_{path.stem}", None)
    with pytest.raises(ConfigError, match="no plug-in has the option"):
        model.config_to_run("m", plugin=str(path))


def test_a_value_out_of_range_is_refused_with_the_range(run_cli, plug):
    kind, name, option, _, wrong, said, path = plug
    own = chosen(kind, name) | {"plugin": str(path), option: wrong}
    result = run_cli("train", "--corpus", "text", *as_flags(own))
    assert (result.code, result.err) == (1, f"Error: {said}\n")
    with pytest.raises(ConfigError, match=said.replace(".", r"\.")):
        Word2Vec(**own)


def test_beside_another_plug_it_is_refused_as_any_other_option(run_cli, plug):
    kind, name, option, value, *_, path = plug
    flags = as_flags({"loss": "relaxed", "sampler": "uniform"} | OTHERS[kind] | {"plugin": str(path), option: value})
    result = run_cli("train", "--corpus", "text", *flags)
    flag = f"--{option.replace('_', '-')}"
    assert result.code == 1 and f"{flag} has no effect with {kind}" in result.err
    assert f"only {kind} {name} reads it; use --{kind} {name} or leave {flag} out" in result.err


def test_objectives_tells_the_options(run_cli, plug):
    _, name, option, *_, path = plug
    assert f"--{option.replace('_', '-')}: " in run_cli("objectives", name, "--plugin", path).out


def test_without_the_plug_the_option_is_unknown():
    with pytest.raises(ConfigError, match="unknown option 'tail_share'"):
        TrainConfig(tail_share=0.5)


def test_an_old_configuration_learns_of_a_new_option(plug):
    before = TrainConfig()
    _, _, option, *_, path = plug
    load_plugins(str(path))
    assert before.get(option) is None
    assert before.resolved() == TrainConfig().resolved()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("gives_logq = True", "own.py:6: Mine does not use 'gives_logq'; did you mean gives_log_q?"),
        ("def from_option(cls, o, c): pass", "own.py:6: Mine does not use 'from_option'; did you mean from_options?"),
        ("limit = 3", "own.py:6: Mine does not use 'limit'"),
        ("class Options:\n        x: list = option(1, 'X.')", "option x must be annotated as int, float, str or bool"),
        (
            "class Options:\n        dim: int = option(1, 'X.')",
            "option dim of sampler 'mine' is an option of every run",
        ),
        ("class Options:\n        temp: float = option(1, 'X.')", "option temp of sampler 'mine' differs from that of"),
        (
            "class Options:\n        x: float = option(-1.0, 'X.', above=0)",
            "x of Mine.Options: x must be above 0, got -1",
        ),
        ("class Options:\n        x: float = option('a', 'X.')", "x of Mine.Options: x must be a number, not 'a'"),
        (
            "class Options:\n        x: int = 3",
            "option x of sampler 'mine' must be made by w2vneg.ground.option.option",
        ),
    ],
)
def test_a_misspelt_name_is_one_error_with_file_and_line(run_cli, tmp_path, line, said):
    path = tmp_path / "own.py"
    path.write_text(
        "from w2vneg.ground.option import option\nfrom w2vneg.objectives.plugs import Sampler\n"
        "from w2vneg.objectives.samplers import SAMPLERS\n\n"
        f"@SAMPLERS.register('mine')\nclass Mine(Sampler):\n    {line}\n"
    )
    result = run_cli("train", "--plugin", path)
    assert result.code == 1 and result.out == ""
    assert said in result.err and "own.py:" in result.err and len(result.err.splitlines()) == 1
    assert "mine" not in SAMPLERS
    with pytest.raises((ConfigError, InputError)):
        load_plugins(str(path))


def test_what_plugs_are_made_of():
    class Some(Loss):
        x: float
        y: int = 2

    class Bare(Weigher):
        pass

    assert Some(1.0) == (1.0, 2) and Some._fields == ("x", "y") and Some.dense is False
    assert len(Bare()) == 1  # compiled code has no empty tuple
    assert Sampler.batch_groups == 0 and SAMPLERS["popularity"].context_free


def test_a_plug_without_its_base_is_refused():
    from typing import NamedTuple

    class Bare(NamedTuple):
        flavour: int = 0

    with pytest.raises(ConfigError, match=r"Bare must derive from w2vneg\.objectives\.plugs\.Loss"):
        LOSSES.register("bare")(Bare)
    assert "bare" not in LOSSES


def test_every_preset_names_plugs_and_options_that_are_there():
    for name, preset in PRESETS.items():
        assert preset.loss in LOSSES, name
        assert TrainConfig(loss=name, **preset.values) is not None


SOURCE = '''
"""Lines, each told so many times."""
from pathlib import Path

from w2vneg.data.sources import SOURCES, Source
from w2vneg.ground.option import option


@SOURCES.register("echoes")
class Echoes(Source):
    """Lines, again and again."""

    help = "Lines, each read several times."

    class Options:
        times: int = option(2, "How often each line is read.", at_least=1, at_most=9)
        backwards: bool = option(False, "Read lines from their end.")

    @classmethod
    def encode(cls, given, vocab_out=None, **shaping):
        from w2vneg.data.encoded import encode_corpus

        step = -1 if given.backwards else 1
        lines = [line.split()[::step] for path in given.files for line in Path(path).read_text().splitlines()]
        return encode_corpus(lines * given.times, **shaping)
'''


@pytest.fixture
def source(tmp_path, monkeypatch):
    """The path of a plug-in with a source."""
    path = tmp_path / "own_source.py"
    path.write_text(SOURCE)
    (tmp_path / "text").write_text("a b c d e f\n" * 30)
    monkeypatch.chdir(tmp_path)
    yield path
    SOURCES.unregister("echoes")


def test_a_source_of_ones_own_has_flags_help_and_a_place_in_the_model_folder(run_cli, source):
    assert "--echoes PATH" in run_cli("train", "--plugin", source, "--help").out
    told = " ".join(run_cli("train", "--plugin", source, "--help-all", "text").out.split())
    assert "--echoes PATH Lines, each read several times." in told
    assert "Data, --echoes: --times N How often each line is read." in told
    assert "--backwards / --no-backwards" in told
    flags = ("--plugin", source, "--echoes", "text", "--times", 3, "--backwards", "--save-model", "m", "--quiet")
    result = run_cli("train", *flags, *as_flags(TINY | {"loss": "ns"}))
    assert result.code == 0, result.err
    model = Model.load("m")
    assert model.origin.input["times"] == 3 and model.origin.input["backwards"] is True
    assert model.vocab.counts.max() == 90
    assert run_cli("train", "--resume", "m", "--quiet").code == 0
    word2vec = Word2Vec(plugin=str(source), loss="ns", **TINY)
    word2vec.fit(Input("echoes", "text", times=3, backwards=True))
    assert np.array_equal(word2vec.model.vectors_in, model.vectors_in)
    assert "--times: How often each line is read." in run_cli("objectives", "echoes", "--plugin", source).out


def test_options_of_a_source_of_ones_own_are_held_to_their_range(run_cli, source):
    result = run_cli("train", "--plugin", source, "--echoes", "text", "--times", 10)
    assert result.code == 2 and "10 is not in the range 1<=x<=9" in result.err
    with pytest.raises(ConfigError, match="times of an input must be at most 9, got 10"):
        Input("echoes", "text", times=10)
    result = run_cli("train", "--plugin", source, "--corpus", "text", "--times", 2)
    assert result.code == 2 and "--times belongs to --echoes; --corpus does not read it" in result.err
    with pytest.raises(ConfigError, match="times is not an option of corpus"):
        Input("corpus", "text", times=2)


@pytest.mark.parametrize(
    ("old", "new", "flag"),
    [
        ("times: int", "min_count: int", "--min-count"),
        ("times: int", "json: int", "--json"),
        ('register("echoes")', 'register("loss")', "--loss"),
    ],
)
def test_a_source_has_no_flag_of_the_command_line_s_own(run_cli, source, old, new, flag, request):
    request.addfinalizer(lambda: SOURCES.unregister("loss"))
    assert old in SOURCE
    source.write_text(SOURCE.replace(old, new))
    result = run_cli("train", "--plugin", source, "--corpus", "text")
    assert result.code == 1 and f"would be {flag}, which train has already; choose another name" in result.err


def test_a_misspelt_name_in_a_source(run_cli, tmp_path):
    path = tmp_path / "own.py"
    path.write_text("from w2vneg.data.sources import Source\n\n\nclass Mine(Source):\n    option = 3\n")
    result = run_cli("train", "--plugin", path)
    assert result.code == 1 and "own.py:4: Mine does not use 'option'; did you mean Options?" in result.err


@pytest.mark.parametrize(
    ("traversal", "said"),
    [
        ("text", None),
        ("baskets", None),
        ("pairs", "source echoes declares the traversal pairs, but encodes text"),
        ("words", "unknown source 'words'"),
    ],
)
def test_a_source_may_say_in_one_word_how_training_goes_through_it(run_cli, source, traversal, said):
    source.write_text(SOURCE.replace("    class Options", f'    traversal = "{traversal}"\n\n    class Options'))
    flags = ("--plugin", source, "--echoes", "text", "--dim", 8, "--epochs", 1, "--loss", "ns", "--quiet")
    result = run_cli("train", *flags)
    assert result.code == (0 if said is None else 1)
    assert said is None or said in result.err


def test_keywords_of_a_plug_are_known_in_a_fresh_process(tmp_path):
    """The class loads the plug-in before it reads its keywords."""
    import subprocess
    import sys

    (tmp_path / "toy.py").write_text(
        "from w2vneg.ground.option import option\n"
        "from w2vneg.objectives.losses import LOSSES\nfrom w2vneg.objectives.plugs import Loss\n\n\n"
        '@LOSSES.register("toy-fresh")\nclass Toy(Loss):\n    toy: float\n\n'
        "    class Options:\n        toy: float = option(0.5, 'A number.')\n\n"
        "    def loss_at_init(self, n_negatives):\n        return 1.0\n\n\n"
        "from w2vneg.kernels.contracts import implement_step\n\n\n"
        "@implement_step(Toy)\ndef step(loss, centre_row, alpha, rng, logits, exp_logits, log_q, weights, gradients):\n"
        "    return 0.0\n"
    )
    code = "from w2vneg import Word2Vec; print(Word2Vec(plugin='toy.py', loss='toy-fresh', toy=0.25).config.get('toy'))"
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout.strip()) == (0, "0.25"), run.stderr[-500:]
