"""`w2vneg objectives NAME --check`: what is right passes, what is wrong fails."""

import json

import numpy as np
import pytest

from w2vneg.ground.errors import ConfigError
from w2vneg.objectives.inputs import INPUTS
from w2vneg.objectives.losses import LOSSES
from w2vneg.objectives.samplers import SAMPLERS
from w2vneg.objectives.weighers import WEIGHERS
from w2vneg.run.checks import _fenced, check_plug

BUILT_IN = [
    (kind, name)
    for kind, table in (("loss", LOSSES), ("sampler", SAMPLERS), ("weigher", WEIGHERS), ("inputs", INPUTS))
    for name in table
]
QUICK = {("loss", "relaxed"), ("sampler", "popularity"), ("weigher", "importance")}
QUICK |= {("inputs", name) for name in INPUTS}

LOSS = """
import numpy as np
from w2vneg.kernels.contracts import implement_step
from w2vneg.objectives.losses import LOSSES
from w2vneg.objectives.plugs import Loss


@LOSSES.register("wrong-loss")
class Wrong(Loss):
    def loss_at_init(self, n_negatives):
        return {at_init}


@implement_step(Wrong)
def step(loss, centre_row, alpha, rng, logits, exp_logits, log_q, weights, gradients):
    value = 0.0
    for k in range(logits.shape[0]):
        gradients[k] = {sign} * logits[k] * {weight}
        value += 0.5 * logits[k] ** 2 * {weight}
    return value
"""

SAMPLER = """
import math
import numpy as np
from w2vneg.kernels.contracts import implement_draw, implement_log_prob
from w2vneg.kernels.rng import next_below
from w2vneg.objectives.plugs import Sampler
from w2vneg.objectives.samplers import SAMPLERS


@SAMPLERS.register("wrong-sampler")
class Wrong(Sampler):
    n_vocab: int

    gives_log_q = True
    context_free = True

    @classmethod
    def from_options(cls, options, context):
        return cls(len(context.counts))


@implement_draw(Wrong)
def draw(sampler, state, group, centre_id, centre, out, rng, n, ids, log_q, logits):
    for k in range(n):
        ids[k] = {draw}
        if log_q.shape[0] > 0:
            log_q[k] = {log_q}
    return False


@implement_log_prob(Wrong)
def log_prob(sampler, state, group, centre_id, n, ids, logits, log_q):
    for k in range(n):
        log_q[k] = {log_q}
"""
TWICE = """
from w2vneg.objectives.inputs import INPUTS
from w2vneg.kernels.contracts import implement_gather
from w2vneg.objectives.plugs import Inputs


@INPUTS.register("twice")
class Twice(Inputs):
    around = {around}

    def room(self, most):
        return {room}, 0


@implement_gather(Twice)
def gather(inputs, tokens, position, m, positives, words, grams):
    words[0] = tokens[position]
    words[1] = {second}
    return m, 2, 0
"""
RIGHT_INPUTS = {"around": "False", "room": "2", "second": "tokens[position]"}
RIGHT_LOSS = {"at_init": "0.0", "sign": "1", "weight": "weights[k]"}
RIGHT_SAMPLER = {"draw": "next_below(rng, sampler.n_vocab)", "log_q": "-math.log(sampler.n_vocab)"}


@pytest.mark.parametrize(
    ("kind", "name"),
    [pytest.param(*one, marks=[] if one in QUICK else pytest.mark.slow) for one in BUILT_IN],
)
def test_what_is_built_in_passes(kind, name):
    found = check_plug(kind, name)
    assert [one for one in found if not one.passed] == []
    assert found or name in ("softmax", "discriminator")


@pytest.mark.parametrize(
    ("text", "values", "failing"),
    [
        (LOSS, {}, None),
        (LOSS, {"sign": "-1"}, "gradient against finite differences"),
        (LOSS, {"sign": "1.1"}, "gradient against finite differences"),
        (LOSS, {"weight": "1.0"}, "a negative of weight 0 has no effect"),
        (LOSS, {"at_init": "1.0"}, "loss_at_init"),
        (SAMPLER, {}, None),
        (SAMPLER, {"log_q": "0.05 - math.log(sampler.n_vocab)"}, "probabilities sum to 1"),
        (SAMPLER, {"draw": "next_below(rng, sampler.n_vocab - 7)"}, "draws follow log q"),
        (SAMPLER, {"draw": "sampler.n_vocab"}, "draws are targets"),
        (SAMPLER, {"draw": "-1"}, "draws are targets"),
        (SAMPLER, {"draw": "min(next_below(rng, 60), 30 + 20 * centre_id)"}, "draws do not depend on the centre"),
    ],
)
def test_what_is_wrong_fails(run_cli, tmp_path, text, values, failing):
    path = tmp_path / "wrong.py"
    right = RIGHT_LOSS if text is LOSS else RIGHT_SAMPLER
    for name, value in (right | values).items():
        text = text.replace(f"{{{name}}}", value)
    path.write_text(text)
    name = "wrong-loss" if right is RIGHT_LOSS else "wrong-sampler"
    try:
        result = run_cli("objectives", name, "--plugin", path, "--check")
        rows = json.loads(run_cli("objectives", name, "--plugin", path, "--check", "--json").out)
    finally:
        LOSSES.unregister("wrong-loss")
        SAMPLERS.unregister("wrong-sampler")
    failed = {row["what"] for row in rows if not row["passed"]}
    assert result.code == (1 if failing else 0), result.out
    assert failing in failed if failing else not failed
    assert ("FAIL" in result.out) is bool(failing)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, None),
        ({"around": "True"}, "the number of positives is right"),
        ({"room": "1"}, "writes past the end of an array"),
        ({"second": "tokens[position] + 1"}, "ids are rows of their matrix"),
    ],
)
def test_inputs_that_are_wrong_fail(run_cli, tmp_path, values, message):
    text = TWICE
    for name, value in (RIGHT_INPUTS | values).items():
        text = text.replace(f"{{{name}}}", value)
    (tmp_path / "twice.py").write_text(text)
    try:
        result = run_cli("objectives", "twice", "--plugin", tmp_path / "twice.py", "--check")
    finally:
        INPUTS.unregister("twice")
    assert result.code == (1 if message else 0), result.out + result.err
    failed = [line for line in result.out.splitlines() if line.startswith("FAIL")] + result.err.splitlines()
    assert any(message in line for line in failed) if message else not failed


def test_who_leaves_the_arrays_is_found_out():
    given = np.arange(6, dtype=np.float32).reshape(2, 3)
    with _fenced(given, np.arange(2)) as (copy, ids):
        assert copy.flags.c_contiguous and np.array_equal(copy, given) and np.isnan(copy.base[6:]).all()
        copy[:] = ids[0] = 7
    for change in ({"place": 6, "value": 0}, {"place": 69, "value": np.inf}):
        with pytest.raises(ConfigError, match="writes past the end of an array"), _fenced(given) as (copy,):
            copy.base[change["place"]] = change["value"]


@pytest.mark.parametrize("penalty", ["0.1", "0.1,0.5", "5,0.1"])
def test_a_loss_that_draws_is_compared_by_its_mean(penalty):
    found = check_plug("loss", "relaxed", {"self_normalise": penalty})
    assert [one for one in found if not one.passed] == []


def test_a_preset_is_checked_by_its_plugs(run_cli):
    result = run_cli("objectives", "ns", "--check")
    assert result.code == 0
    assert "pass  loss ns: gradient" in result.out
    assert run_cli("objectives", "--check").code == 2


def test_the_id_of_a_centre_is_no_target(tmp_path, run_cli):
    """Of rectangular data the two are numbered apart: such a sampler would write beyond the matrix."""
    file = tmp_path / "centres.py"
    file.write_text(
        "from w2vneg.kernels.contracts import implement_draw\n"
        "from w2vneg.objectives.plugs import Sampler\n"
        "from w2vneg.objectives.samplers import SAMPLERS\n"
        "@SAMPLERS.register('centres')\n"
        "class Centres(Sampler):\n"
        "    pass\n"
        "@implement_draw(Centres)\n"
        "def draw(sampler, state, group, centre_id, centre, out, rng, n, ids, log_q, logits):\n"
        "    for k in range(n):\n"
        "        ids[k] = centre_id\n"
        "    return False\n"
    )
    try:
        result = run_cli("objectives", "centres", "--plugin", file, "--check")
    finally:
        SAMPLERS.unregister("centres")
    assert result.code == 1 and "FAIL  sampler centres: draws are targets" in result.out


@pytest.mark.parametrize(
    ("starts", "turns", "title"),
    [
        ("range(61)", "np.arange(60) % 59 * 2", "probabilities of all targets sum to 1"),
        ("[0] * 61", "np.empty(0)", "probabilities of all targets sum to 1"),
        ("range(60)", "np.zeros(59)", "every target has a path"),
        ("range(61)", "np.full(60, 118)", "inner nodes are numbered"),
    ],
)
def test_paths_that_make_no_tree_fail(tmp_path, run_cli, starts, turns, title):
    file = tmp_path / "no_tree.py"
    file.write_text(
        "import math\nimport numpy as np\nfrom w2vneg.objectives.losses import LOSSES\n"
        "from w2vneg.objectives.plugs import Loss\n\n\n"
        '@LOSSES.register("no-tree")\nclass NoTree(Loss):\n    starts: np.ndarray\n    turns: np.ndarray\n'
        "    paths = True\n\n    @classmethod\n    def from_options(cls, options, context):\n"
        f"        return cls(np.array({starts}, np.int64), np.array({turns}, np.int32))\n\n"
        "    def loss_at_init(self, n_negatives):\n        return math.log(2) * n_negatives\n"
    )
    try:
        result = run_cli("objectives", "no-tree", "--plugin", file, "--check")
    finally:
        LOSSES.unregister("no-tree")
    assert result.code == 1 and f"FAIL  loss no-tree: {title}" in result.out


LEAD = """
from w2vneg.kernels.contracts import implement_step
from w2vneg.objectives.losses import LOSSES
from w2vneg.ground.option import option
from w2vneg.objectives.plugs import Loss


@LOSSES.register("lead")
class Lead(Loss):
    lead: float

    class Options:
        lead: float = option(1.0, "What the positive's square counts.", above=0)

    def loss_at_init(self, n_negatives):
        return 0.0


@implement_step(Lead)
def step(loss, centre_row, alpha, rng, logits, exp_logits, log_q, weights, gradients):
    value = 0.0
    for k in range(logits.shape[0]):
        share = loss.lead if k == 0 else 1.0
        gradients[k] = logits[k] * weights[k]  # right for a lead of 1 alone
        value += 0.5 * share * logits[k] ** 2 * weights[k]
    return value
"""


def test_a_plug_is_checked_at_other_values_than_its_defaults(run_cli, tmp_path):
    path = tmp_path / "lead.py"
    path.write_text(LEAD)
    command = ("objectives", "lead", "--plugin", path)
    try:
        assert run_cli(*command, "--check").code == 0
        assert run_cli(*command, "--check", "--lead", 1.0).code == 0
        result = run_cli(*command, "--check", "--lead", 2.0)
        assert result.code == 1 and "FAIL  loss lead: gradient against finite differences" in result.out
        refused = run_cli(*command, "--check", "--lead", 0)
        assert (refused.code, refused.err) == (1, "Error: lead must be above 0, got 0.0\n")
        other = run_cli(*command, "--check", "--temp", 2)
        assert other.code == 1 and "--temp has no effect with lead" in other.err
        without = run_cli(*command, "--lead", 2)
        assert without.code == 2 and "--lead: options are for --check" in without.err
    finally:
        LOSSES.unregister("lead")
