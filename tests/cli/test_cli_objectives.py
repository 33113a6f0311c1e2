"""`w2vneg objectives`: everything there is, in one line or at length, and from plug-ins too."""

import json
import re
from pathlib import Path

import pytest

import w2vneg
from w2vneg.config.table import options_read
from w2vneg.data.sources import SOURCES
from w2vneg.ground.registry import About
from w2vneg.objectives.inputs import INPUTS
from w2vneg.objectives.losses import LOSSES
from w2vneg.objectives.presets import PRESETS
from w2vneg.objectives.readout import READOUTS
from w2vneg.objectives.samplers import SAMPLERS
from w2vneg.objectives.weighers import WEIGHERS

KINDS = {
    "losses": LOSSES,
    "samplers": SAMPLERS,
    "weighers": WEIGHERS,
    "inputs": INPUTS,
    "readouts": READOUTS,
    "presets": PRESETS,
}
LISTED = {
    "losses": LOSSES,
    "samplers": SAMPLERS,
    "weighers": WEIGHERS,
    "inputs": INPUTS,
    "sources": SOURCES,
    "readouts": READOUTS,
    "presets": PRESETS,
}
PLUGS = [(kind, name) for kind, registry in KINDS.items() for name in registry]

PLUGIN = '''
from w2vneg.kernels.contracts import implement_weigh
from w2vneg.objectives.plugs import Weigher
from w2vneg.objectives.weighers import WEIGHERS


@WEIGHERS.register("toy-told")
class Told(Weigher):
    """Half of everything, whatever it is.

    And more.
    """


@implement_weigh(Told)
def weigh(weigher, state, k, offset, ids, logits, exp_logits, log_q, weights):
    weights[1:] *= 0.5
'''


WITHOUT_ABOUT = """
from w2vneg.kernels.contracts import implement_step
from w2vneg.objectives.losses import LOSSES
from w2vneg.objectives.plugs import Loss
from w2vneg.objectives.presets import Preset, register_preset


@LOSSES.register("toy-loss")
class Toy(Loss):
    def loss_at_init(self, n_negatives):
        return 1.0


@implement_step(Toy)
def step(loss, centre_row, alpha, rng, logits, exp_logits, log_q, weights, gradients):
    return 1.0


register_preset("toy-hard", Preset("toy-loss", {"sampler": "boltzmann"}))
"""


def test_a_preset_of_a_loss_that_says_nothing_of_itself_is_listed(run_cli, tmp_path, request):
    request.addfinalizer(lambda: (LOSSES.unregister("toy-loss"), PRESETS.pop("toy-hard", None)))
    (tmp_path / "loss_without_about.py").write_text(WITHOUT_ABOUT)
    for name in ([], ["toy-hard"]):
        result = run_cli("objectives", "--plugin", tmp_path / "loss_without_about.py", *name)
        assert result.code == 0 and "toy-hard" in result.out, result.err
    assert "same as --loss toy-loss --sampler boltzmann" in " ".join(result.out.split())


def test_one_line_each_with_equation_and_paper(run_cli):
    result = run_cli("objectives")
    assert (result.code, result.err) == (0, "")
    blocks = result.out.strip().split("\n\n")
    assert len(blocks) == 8 and "w2vneg objectives NAME" in blocks[-1]
    for block, registry in zip(blocks, LISTED.values(), strict=False):
        assert [line.split()[0] for line in block.splitlines()[1:]] == list(registry)
    for kind, name in PLUGS:
        about = PRESETS[name] if kind == "presets" else KINDS[kind][name].about
        (line,) = [line for line in result.out.splitlines() if line.startswith(f"  {name} ") and about.summary in line]
        assert f"[{about.paper}]" in line
        assert kind == "presets" or about.equation in line


@pytest.mark.parametrize(("kind", "name"), [plug for plug in PLUGS if plug[0] != "presets"])
def test_every_plug_says_what_it_is_about(kind, name):
    about = KINDS[kind][name].about
    assert isinstance(about, About)
    assert about.summary and about.equation and about.paper and about.cost and about.use
    assert "\n" not in about.summary and len(about.summary) < 110 and not about.summary.endswith(".")
    assert about.summary[0].islower()


def test_the_same_as_json(run_cli):
    document = json.loads(run_cli("objectives", "--json").out)
    assert {kind: [entry["name"] for entry in entries] for kind, entries in document.items()} == {
        kind: list(registry) for kind, registry in LISTED.items()
    }


@pytest.mark.parametrize("name", sorted({name for _, name in PLUGS}))
def test_one_at_length(run_cli, name):
    result = run_cli("objectives", name)
    assert result.code == 0
    told = json.loads(run_cli("objectives", name, "--json").out)
    entries = [entry for kind in told.values() for entry in kind]
    assert {entry["name"] for entry in entries} == {name}
    assert len(result.out.strip().split("\n\n")) == len(entries) == sum(name == other for _, other in PLUGS)
    plain = " ".join(result.out.split())
    for entry in entries:
        for part in ("summary", "equation", "paper", "cost", "use", "note", "same_as", "alpha"):
            assert " ".join(entry.get(part, "").split()) in plain
        for option in entry.get("options", ()):
            assert f"{option['flag']}: " in plain


def test_options_needs_and_defaults_are_derived(run_cli):
    def entry(kind, name):
        (found,) = json.loads(run_cli("objectives", name, "--json").out)[kind]
        return found

    boltzmann = entry("samplers", "boltzmann")
    defaults = {option["flag"]: option["default"] for option in boltzmann["options"]}
    assert defaults["--temp"] == "1" and defaults["--candidates"] == "64" and defaults["--method"] == "rolling"
    assert boltzmann["needs"] == ["gives log q"]
    importance = next(
        e for e in json.loads(run_cli("objectives", "--json").out)["weighers"] if e["name"] == "importance"
    )
    assert importance["needs"] == ["needs log q of the negatives"]
    assert entry("presets", "ubs")["same_as"] == (
        "--loss relaxed --sampler boltzmann --weigher none --negatives 5 --exclude none --temp 0.5 --degeneracy uniform"
    )


def test_a_preset_tells_its_alpha(run_cli):
    def told(name):
        (found,) = json.loads(run_cli("objectives", name, "--json").out)["presets"]
        alpha, _, rest = found["alpha"].partition("; ")
        assert rest == "half for graphs, twice for CBOW"
        return alpha, "--alpha" in found["same_as"]

    assert told("relaxed") == ("0.05", False)
    assert told("nce") == ("0.025 for text, 0.05 for items", False)
    assert told("us") == ("0.1 for text, 0.05 for items", True)
    assert told("bpr") == ("0.05", True)  # the loss's own name, ranking, brings another
    assert (
        "  alpha    0.006 for text, 0.05 for items; half for graphs, twice for CBOW\n"
        in run_cli("objectives", "ranking").out
    )


def test_a_preset_has_the_formula_of_its_own_values(run_cli):
    presets = {entry["name"]: entry for entry in json.loads(run_cli("objectives", "--json").out)["presets"]}
    for name, preset in PRESETS.items():
        own = {"absolute_softmax", *options_read("loss", preset.loss)} - {"self_normalise"}
        assert bool(own & preset.values.keys()) == (presets[name]["equation"] != LOSSES[preset.loss].about.equation)
    assert "L = −Σ log σ(s₀ − s_k)\n" in run_cli("objectives", "bpr").out
    assert presets["ss"]["equation"] == LOSSES["large-vocab"].about.equation
    assert presets["kernel-quartic"]["equation"].count("|s_k|") == 1


def test_an_unknown_name(run_cli):
    result = run_cli("objectives", "boltzman")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith(
        "Error: no loss, sampler, weigher, inputs, source, read-out or preset is called 'boltzman'; "
        "did you mean 'boltzmann'"
    )
    for more in ((), ("--bibtex",)):
        result = run_cli("objectives", "slim", *more)
        assert result.code == 1 and "'w2vneg slim' (Ning and Karypis 2011; Steck 2019)" in result.err
        assert "did you mean" not in result.err


def test_what_a_plugin_registers_is_listed_by_its_docstring(run_cli, tmp_path):
    path = tmp_path / "toy_told.py"
    path.write_text(PLUGIN, encoding="utf-8")
    try:
        result = run_cli("objectives", "--plugin", path)
        assert re.search(r"^  toy-told +Half of everything, whatever it is$", result.out, re.MULTILINE)
        assert "toy-told (weigher): Half of everything" in run_cli("objectives", "toy-told", "--plugin", path).out
    finally:
        WEIGHERS.unregister("toy-told")
    result = run_cli("objectives", "--plugin", tmp_path / "none.py")
    assert result.code == 1 and "none.py: no such file" in result.err


def test_the_document_names_all_of_them_and_what_they_are_made_of():
    text = (Path(__file__).parents[2] / "docs" / "objectives.md").read_text(encoding="utf-8")
    sections = {title.strip(): body for title, body in re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", text, re.M | re.S)}
    for kind, registry in KINDS.items():
        rows = [row for row in sections[kind.capitalize()].splitlines() if row.startswith("| `")]
        named = [name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])]
        assert set(registry) <= set(named), set(registry) - set(named)
        assert len(named) == len(set(named))
        if kind != "presets":
            continue
        assert set(named) == set(PRESETS)
        for row in rows:
            _, names, plugs, n, excluded, alpha, *_ = (cell.strip() for cell in row.replace(r"\|", "").split("|"))
            for name in re.findall(r"`([^`]+)`", names):
                _check_row(name, plugs, n, excluded, float(alpha))


def _check_row(name, plugs, n, excluded, alpha):
    from w2vneg.config import TrainConfig

    config = TrainConfig(loss=name).resolved()
    told = [part.strip().split()[0] for part in re.sub(r"\([^)]*\)|, .*", "", plugs).split("×")]
    chosen = [plug.name for plug in (config.loss, config.sampler, config.weigher) if plug is not None]
    assert told == [plug for plug in chosen if plug != "none"], name
    assert (n, excluded, alpha) == (str(config.negatives or ""), config.exclude or "", config.alpha), name
    if exponent := re.search(r"a = ([\d.]+)", plugs):
        assert float(exponent[1]) == config.sampler.noise_exponent, name
    if temp := re.search(r"T = ([\d.]+)", plugs):
        assert float(temp[1]) == config.sampler.temp, name


def test_papers_of_an_objective_as_bibtex(run_cli):
    result = run_cli("objectives", "relaxed", "--bibtex")
    assert result.code == 0 and "@inproceedings{tanielian2019relaxed," in result.out and "botev2017" not in result.out
    assert run_cli("objectives", "nce", "--bibtex").out.count("@") == 3  # Gutmann and Hyvärinen, CSS, and w2vneg
    citation = (Path(__file__).parent.parent.parent / "CITATION.cff").read_text("utf-8")
    assert "name: The w2vneg authors" in citation and "author = {{The w2vneg authors}}" in result.out
    assert "dns" not in result.out and "chen2018improving" in run_cli("objectives", "dns", "--bibtex").out


def test_every_paper_that_is_named_is_in_the_bibliography_and_none_else(run_cli):
    """Titles, authors, and years but of the one that has none."""
    entries = [one for kind in json.loads(run_cli("objectives", "--json").out).values() for one in kind]
    told = "; ".join(entry["paper"] for entry in entries)
    named = {f"{first.lower()}{year}" for first, year in re.findall(r"([A-Z]\w+)(?: and \w+| et al\.) (\d{4})", told)}
    text = (Path(w2vneg.__file__).parent / "objectives" / "papers.bib").read_text("utf-8")
    keys = re.findall(r"^@\w+\{(\w+),$", text, re.MULTILINE)
    missing = [name for name in named if not any(key.startswith(name) for key in keys)]
    assert not missing and run_cli("objectives", "--bibtex").out.count("\n@") == len(keys)
    assert text.count("  title = {") == text.count("author = {") == len(keys) == text.count("year = {") + 1
