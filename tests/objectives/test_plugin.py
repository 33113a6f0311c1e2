"""A loss and a sampler from outside the package: one file each, registered, and nothing else changed."""

import importlib.util
import os
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from w2vneg import Word2Vec
from w2vneg.ground.errors import ConfigError, InputError, UnknownNameError
from w2vneg.objectives import plugins
from w2vneg.objectives.losses import LOSSES
from w2vneg.objectives.plugins import _failure_to_compile, absolute_plugins, load_plugins
from w2vneg.objectives.presets import PRESETS
from w2vneg.objectives.samplers import SAMPLERS
from w2vneg.run.model import Model

LOSS = '''
"""Logistic loss, written from scratch: the same sums in the same order as the one that is built in."""
import math

import numpy as np

from w2vneg.kernels.contracts import implement_step
from w2vneg.kernels.functions import fast_log
from w2vneg.objectives.losses import LOSSES
from w2vneg.objectives.plugs import Loss


@LOSSES.register("toy-loss")
class ToyLoss(Loss):
    margin: float

    @classmethod
    def from_options(cls, options, context):
        return cls(0.0)

    def loss_at_init(self, n_negatives):
        return (1 + n_negatives) * math.log(2.0)


@implement_step(ToyLoss)
def step(loss, centre_row, alpha, rng, logits, exp_logits, log_q, weights, gradients):
    one = np.float32(1)
    gradients[0] = -one / (one + exp_logits[0])
    value = fast_log(1.0 + 1.0 / np.float64(exp_logits[0])) + loss.margin
    for k in range(1, exp_logits.shape[0]):
        gradients[k] = weights[k] * exp_logits[k] / (one + exp_logits[k])
        value += weights[k] * fast_log(1.0 + np.float64(exp_logits[k]))
    return value
'''

SAMPLER = '''
"""Popularity noise without a table: the place of a uniform number among running sums of counts to the exponent."""
import numpy as np

from w2vneg.kernels.contracts import implement_draw, implement_open_sampler
from w2vneg.kernels.rng import next_unit
from w2vneg.objectives.plugs import Sampler
from w2vneg.objectives.samplers import SAMPLERS
from w2vneg.objectives.samplers.popularity import NoiseOptions


@SAMPLERS.register("toy-sampler")
class ToySampler(Sampler):
    running: np.ndarray

    Options = NoiseOptions

    @classmethod
    def from_options(cls, options, context):
        counts = context.counts
        return cls(np.cumsum(counts**options.noise_exponent / (counts**options.noise_exponent).sum()))


@implement_open_sampler(ToySampler)
def open_sampler(sampler, n_draws):
    return np.zeros(1, np.int64)  # how many groups have come by


@implement_draw(ToySampler)
def draw(sampler, state, group, centre_id, centre, out, rng, n, ids, log_q, logits):
    state[0] += 1
    for k in range(n):
        ids[k] = min(np.searchsorted(sampler.running, next_unit(rng)), sampler.running.shape[0] - 1)
    return False
'''

SLOW = os.environ.get("NUMBA_DISABLE_JIT") == "1"
OPTIONS = {"dim": 12, "window": 2, "epochs": 3, "min_count": 1, "subsample": 0, "workers": 1, "seed": 3}


@pytest.fixture(autouse=True)
def _wrapping_integers():
    """Plain Python warns where uint64 wraps round, which random streams do on purpose."""
    with np.errstate(over="ignore"):
        yield


def corpus():
    """Two topics that never meet: sentences of fruits and sentences of tools."""
    rng = np.random.default_rng(1)
    topics = [[f"{kind}{k}" for k in range(8)] for kind in ("fruit", "tool")]
    return [list(rng.choice(topics[k % 2], 8)) for k in range(10 if SLOW else 600)]


def load(folder, name, text):
    """Import `text` as the module `name` from a file in `folder`."""
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def plugs(tmp_path_factory):
    """Register the two plugs from files of their own for the tests of this module."""
    folder = tmp_path_factory.mktemp("outside")
    names = SimpleNamespace(loss="toy-loss", sampler="toy-sampler")
    load(folder, "w2vneg_toy_loss", LOSS)
    load(folder, "w2vneg_toy_sampler", SAMPLER)
    yield names
    LOSSES.unregister(names.loss)
    SAMPLERS.unregister(names.sampler)  # the modules stay: compiled code in the cache refers to them by name


def topic_gap(vectors):
    """Mean cosine within a topic less that between topics."""
    unit = vectors.matrix / np.linalg.norm(vectors.matrix, axis=1, keepdims=True)
    cosine = unit @ unit.T
    topic = np.array([word.startswith("fruit") for word in vectors.words])
    same = topic[:, None] == topic[None, :]
    return cosine[same & ~np.eye(len(topic), dtype=bool)].mean() - cosine[~same].mean()


def test_a_loss_from_outside_trains_as_the_built_in_one(plugs):
    same = {"sampler": "popularity", "negatives": 5, "alpha": 0.05, "share_negatives": False, "exclude": "target"}
    ours, theirs = (Word2Vec(loss=loss, **same, **OPTIONS) for loss in ("ns", plugs.loss))
    one, other = ours.fit(corpus()), theirs.fit(corpus())
    assert one.words == other.words
    assert one.matrix.tobytes() == other.matrix.tobytes()
    assert ours.model.vectors_out.tobytes() == theirs.model.vectors_out.tobytes()
    losses = [[record["loss"] for record in w.model.history] for w in (ours, theirs)]
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-4)


@pytest.mark.slow
def test_a_sampler_from_outside_trains_with_a_loss_from_outside(plugs):
    vectors = Word2Vec(loss=plugs.loss, sampler=plugs.sampler, alpha=0.2, **OPTIONS).fit(corpus())
    assert SLOW or topic_gap(vectors) > 0.5


def test_what_a_sampler_from_outside_cannot_give_is_refused_in_words(plugs):
    with pytest.raises(ConfigError, match="weigher 'importance' needs the probabilities of its draws"):
        Word2Vec(loss=plugs.loss, sampler=plugs.sampler, weigher="importance", **OPTIONS).fit(corpus())


def test_a_name_that_is_taken_is_refused(plugs):
    with pytest.raises(ConfigError, match="registered already"):
        LOSSES.register("ns")(type("Other", (), {}))


def test_a_plug_that_is_taken_out_is_unknown_again(tmp_path):
    load(tmp_path, "w2vneg_toy_passing", LOSS.replace("toy-loss", "toy-passing"))
    assert "toy-passing" in LOSSES
    LOSSES.unregister("toy-passing")
    del sys.modules["w2vneg_toy_passing"]
    with pytest.raises(UnknownNameError, match="unknown loss 'toy-passing'"):
        Word2Vec(loss="toy-passing", **OPTIONS).fit(corpus())


PRESET = """
from w2vneg.objectives.presets import Preset, register_preset

options = {"sampler": "popularity", "negatives": 2, "exclude": "target"}
register_preset("NAME", Preset("ns", options, "a name of one's own", "none"))
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    """A function that writes a plug-in into the current folder; what it registers is taken out at the end."""
    monkeypatch.chdir(tmp_path)
    before = list(LOSSES), list(PRESETS)

    def write(text, name="mine.py"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return name

    yield write
    for name in set(LOSSES) - set(before[0]):
        LOSSES.unregister(name)
    for name in set(PRESETS) - set(before[1]):
        PRESETS.pop(name)


def test_a_file_is_imported_once_and_kept_by_its_absolute_path(file, tmp_path):
    path = file(PRESET.replace("NAME", "toy-preset"))
    word2vec = Word2Vec(plugin=path, loss="toy-preset", **OPTIONS | {"epochs": 1})
    assert word2vec.config.plugin == str(tmp_path / "mine.py")
    assert "toy-preset" in PRESETS
    with pytest.raises(InputError, match=r"no-such.py: no such file"):
        Word2Vec(plugin="no-such.py")
    word2vec.fit(corpus())
    config = word2vec.model.config
    found = config.loss.name, config.preset, config.sampler.name, config.negatives
    assert found == (
        "ns",
        "toy-preset",
        "popularity",
        2,
    )
    load_plugins(str(tmp_path / "mine.py"))
    word2vec.save(tmp_path / "model")
    assert Model.load(tmp_path / "model").config.plugin == str(tmp_path / "mine.py")
    (tmp_path / "mine.py").unlink()
    assert Word2Vec.load(tmp_path / "model").vectors.words == word2vec.vectors.words  # vectors need no plug-in


def test_a_preset_of_another_loss_has_no_loss_s_name(file):
    with pytest.raises(ConfigError, match="'toy-taken' would name both a loss and a preset of 'ns'"):
        load_plugins(file(LOSS.replace("toy-loss", "toy-taken") + PRESET.replace("NAME", "toy-taken")))
    assert "toy-taken" not in LOSSES and "toy-taken" not in PRESETS


def test_an_edited_file_is_refused_until_python_starts_anew(file):
    path = file(PRESET.replace("NAME", "toy-edited"))
    word2vec = Word2Vec(plugin=path, loss="toy-edited", **OPTIONS | {"epochs": 1})
    file(PRESET.replace("NAME", "toy-edited").replace(": 2", ": 3"))
    with pytest.raises(ConfigError, match=r"mine\.py was edited after it was loaded, .* restart Python"):
        Word2Vec(plugin=path, loss="toy-edited")
    word2vec.fit(corpus())  # what has begun goes on
    file(PRESET.replace("NAME", "toy-edited"))
    load_plugins(path)


def test_modules_by_name_and_several_at_once(file, tmp_path, monkeypatch):
    file(PRESET.replace("NAME", "toy-by-name"), "w2vneg_toy_module.py")
    other = file(PRESET.replace("NAME", "toy-by-path"))
    with pytest.raises(InputError, match=r"did you mean --plugin \./w2vneg_toy_module\.py\?"):
        load_plugins("w2vneg_toy_module")
    monkeypatch.syspath_prepend(tmp_path)
    load_plugins(f"w2vneg_toy_module, ./{other}")
    assert {"toy-by-name", "toy-by-path"} <= set(PRESETS)
    del sys.modules["w2vneg_toy_module"]


def test_paths_are_made_absolute_and_modules_stay(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert absolute_plugins(None) is None
    assert absolute_plugins("a.py, package.module,b/c.py") == f"{tmp_path}/a.py,package.module,{tmp_path}/b/c.py"
    assert absolute_plugins("~/x.py") == os.path.expanduser("~/x.py")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import math\n\nmath.nothing\n", r"mine\.py:3: AttributeError: module 'math' has no attribute 'nothing'"),
        ("x = (\n", r"mine\.py:1: SyntaxError: "),
        ("import w2vneg_is_not_there\n", r"mine\.py:1: ModuleNotFoundError: No module named 'w2vneg_is_not_there'"),
        (
            "# nothing\n",
            r"plug-in \./mine\.py registers no loss, sampler, weigher, inputs, source, read-out, reader or preset; ",
        ),
        (
            "\nfrom w2vneg.objectives.losses import LOSSES\n\n@LOSSES.register('ns')\nclass Mine:\n    pass\n",
            r"mine\.py:\d: a loss named 'ns' is registered already; choose another name",
        ),
        (LOSS.replace("toy-loss", "us"), r"mine\.py:\d+: 'us' would name both a loss and a preset of 'relaxed'; "),
        (PRESET.replace("NAME", "ubs"), r"mine\.py:5: a preset named 'ubs' is registered already"),
        (LOSS.replace("toy-loss", "toy-half") + "\n1 / 0\n", r"mine\.py:\d+: ZeroDivisionError: division by zero"),
    ],
)
def test_mistakes_inside_a_plugin_are_told_with_their_place_and_leave_nothing(file, text, message):
    file(text)
    before = list(LOSSES), list(PRESETS), set(sys.modules)
    with pytest.raises((InputError, ConfigError), match=message):
        load_plugins("./mine.py")
    assert (list(LOSSES), list(PRESETS)) == before[:2]
    assert not any(name.startswith("w2vneg_plugin") for name in set(sys.modules) - before[2])


@pytest.mark.parametrize(
    ("plugin", "message"),
    [
        ("none.py", r"none\.py: no such file; name a \.py file or an importable module"),
        ("sub/", r"is a folder"),
        ("text.txt/", r"no such file|not a Python file"),
        ("./text.txt", r"text\.txt: not a Python file; its name must end in \.py"),
        ("w2vneg_nowhere", r"plug-in w2vneg_nowhere: Python finds no module 'w2vneg_nowhere'; give the path of"),
        ("w2vneg_nowhere.inside", r"Python finds no module 'w2vneg_nowhere'"),
        ("w2vneg.nowhere", r"Python finds no module 'w2vneg.nowhere'"),
    ],
)
def test_a_plugin_that_is_not_there(file, tmp_path, plugin, message):
    file("some text", "text.txt")
    (tmp_path / "sub").mkdir()
    with pytest.raises(InputError, match=message):
        Word2Vec(plugin=plugin, **OPTIONS).fit(corpus())


IN_USE = """
import numpy as np
from w2vneg.kernels.contracts import implement_step
from w2vneg.objectives.losses import LOSSES
from w2vneg.ground.option import option
from w2vneg.objectives.plugs import Loss


@LOSSES.register("in-use")
class InUse(Loss):
    lead: float

    class Options:
        lead: float = option(1.0, "By how much.", above=0)

    def loss_at_init(self, n_negatives):
        return 1.0


@implement_step(InUse)
def step(loss, centre_row, alpha, rng, logits, exp_logits, log_q, weights, gradients):
    for k in range(logits.shape[0]):
        gradients[k] = loss.lead
    return 1.0
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("@implement_step(InUse)\n", "", "InUse has no step; decorate a function with @implement_step"),
        (
            "    def loss_at_init(self, n_negatives):\n        return 1.0\n",
            "",
            "has no loss_at_init, which is required",
        ),
        ("weights, gradients)", "weights)", "must take the arguments (loss, centre_row, alpha"),
        ("gradients[k] = loss.lead\n    return 1.0\n", "gradients[k] = loss.lead\n", "returns nothing"),
        ("    lead: float\n\n", "    leda: float\n\n", "has a field 'leda'"),
        ("return 1.0\n\n\n", "return [][0]\n\n\n", ".py:17: IndexError"),
        pytest.param("loss.lead", "lead", "step of InUse: NameError: name 'lead' is", marks=pytest.mark.slow),
        ("loss.lead\n", "loss.lead\n    import math\n", ".py:24: Use of unsupported opcode (IMPORT_NAME) found."),
        pytest.param("loss.lead\n", "np.exp(logits)[k]\n", ".py:23: creates an array", marks=pytest.mark.slow),
        pytest.param("loss.lead", "loss.leda", ".py:23: Unknown attribute 'leda'", marks=pytest.mark.slow),
    ],
)
def test_mistakes_of_a_plugin_in_use_are_one_line(run_cli, tmp_path, request, old, new, said):
    assert old in IN_USE
    file = tmp_path / f"in_use_{len(said)}.py"
    file.write_text(IN_USE.replace(old, new))
    request.addfinalizer(lambda: LOSSES.unregister("in-use"))
    result = run_cli("objectives", "in-use", "--plugin", file, "--check")
    assert result.code == 1 and said in result.err, result.err
    assert result.err.startswith("Error: ") and result.err.count("\n") == 1


@pytest.mark.parametrize("name", ["metric", "patience", "resume", "force", "help", "help_all"])
def test_an_option_has_no_flag_of_the_command_line_s_own(run_cli, tmp_path, request, name):
    file = tmp_path / f"flag_{name}.py"
    file.write_text(IN_USE.replace("lead", name))
    request.addfinalizer(lambda: LOSSES.unregister("in-use"))
    flag = f"--{name.replace('_', '-')}"
    result = run_cli("train", "--plugin", file, "--loss", "in-use", flag, 3)
    assert result.code == 1 and f"the plug-in's {name!r} would be {flag}, which train has already" in result.err


def test_what_fails_to_compile_is_found_in_a_report_with_colours():
    report = "\x1b[1mUnknown attribute 'leda' of type InUse\x1b[0m\n\x1b[1mDuring: typing at in_use.py (22)\x1b[0m\n"
    said = _failure_to_compile(report, {"in_use.py"})
    assert said == "plug-in in_use.py:22: Unknown attribute 'leda' of type InUse"


WITHIN = """\
No implementation of function Function(<function step at 0x7f>) found for signature:

 >>> step(InUse(float64 x 1), int64)

  Rejected as the implementation raised a specific error:
    TypingError: Failed in nopython mode pipeline (step: nopython frontend)
"""


@pytest.mark.parametrize(
    ("report", "said"),
    [
        ("Use of unsupported opcode (IMPORT_NAME) found. Raised from in_use.py (7)", "Use of unsupported opcode"),
        ('    NRT required but not enabled\n    During: lowering "t = a" at in_use.py (7)', "creates an array, a list"),
        (
            "      Only accept returning of array passed into the function as argument\n      raised from numba.py:9\n"
            "    During: typing of call at numba.py (3)\n    During: typing of call at in_use.py (7)",
            "creates an array, a list, a dict or a string, which compiled functions of a plug may not do; loop over",
        ),
        (
            "    Use of unsupported NumPy function 'numpy.einsum'.\n\n    File \"in_use.py\", line 7:\n"
            "    t = np.einsum()\n    ^\n\n    During: typing of get attribute at in_use.py (7)",
            "Use of unsupported NumPy function 'numpy.einsum'.",
        ),
        (
            "    No implementation of function Function(<built-in function iadd>) found for signature:\n\n"
            "     >>> iadd(Literal[str](a), float64)\n\n      No match.\n"
            "    During: typing of intrinsic-call at in_use.py (7)",
            "No implementation of function iadd(Literal[str](a), float64)",
        ),
    ],
)
@pytest.mark.parametrize("around", ["", WITHIN])
def test_what_fails_to_compile_is_said_with_its_cause(around, report, said):
    found = _failure_to_compile(f"{around}{report}\nDuring: typing of call at checks.py (71)\n", {"in_use.py"})
    assert found.startswith(f"plug-in in_use.py:7: {said}")


def test_what_fails_to_compile_without_a_place_is_found_by_its_plug(monkeypatch):
    report = "No match:\n \n >>> step(InUse(float64 x 1), int64)\n \nNameError: name 'lead' is not defined\n"
    monkeypatch.setattr(plugins, "_loaded", {"in_use"})
    monkeypatch.setitem(sys.modules, "in_use", SimpleNamespace(InUse=object, __file__="in_use.py"))
    said = _failure_to_compile(report, {"in_use.py"})
    assert said == "plug-in in_use.py: step of InUse: NameError: name 'lead' is not defined"
    assert _failure_to_compile(report.replace("InUse", "NotOurs"), {"in_use.py"}) is None


def test_a_probability_that_nobody_is_told_of_is_an_error(run_cli, tmp_path):
    file = tmp_path / "silent.py"
    file.write_text(
        "from w2vneg.kernels.contracts import implement_draw, implement_log_prob\n"
        "from w2vneg.objectives.plugs import Sampler\n"
        "from w2vneg.objectives.samplers import SAMPLERS\n"
        "@SAMPLERS.register('silent')\n"
        "class Silent(Sampler):\n"
        "    pass\n"
        "@implement_draw(Silent)\n"
        "def draw(sampler, state, group, centre_id, centre, out, rng, n, ids, log_q, logits):\n"
        "    return False\n"
        "@implement_log_prob(Silent)\n"
        "def log_prob(sampler, state, group, centre_id, n, ids, logits, log_q):\n"
        "    log_q[0] = 0\n"
    )
    result = run_cli("objectives", "silent", "--plugin", file)
    assert result.code == 1 and "Silent binds log_prob; set gives_log_q = True" in result.err
    assert "silent" not in SAMPLERS


def test_a_file_edited_within_a_second_at_the_same_size_is_read_as_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    plug = tmp_path / "quickly_edited.py"
    for name in ("preset-1", "preset-2"):
        plug.write_text(
            "from w2vneg.objectives.presets import Preset, register_preset\n\n"
            f"register_preset('{name}', Preset('squared-hinge', {{}}))\n"
        )
        os.utime(plug, (1e9, 1e9))
        try:
            load_plugins(str(plug))
            assert name in PRESETS
        finally:
            sys.modules.pop("w2vneg_plugin_quickly_edited", None)
            PRESETS.pop(name, None)
    assert os.listdir(tmp_path) == ["quickly_edited.py"]
