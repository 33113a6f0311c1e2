"""The help in its two lengths: two screens of what most people use, and everything, by plug or for some data."""

import re

import click
import pytest

from w2vneg.cli import _COMMANDS, cli
from w2vneg.cli.options import DATA, SECTIONS, GroupedCommand
from w2vneg.data.sources import SOURCES

GROUPED = [name for name in _COMMANDS if isinstance(cli.get_command(None, name), GroupedCommand)]
HEADINGS = [section.capitalize() for section in SECTIONS]


@pytest.fixture(autouse=True)
def narrow(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


def flags(text):
    """Return the options that a help lists, by their first long flags, in their order."""
    listed = re.split(r"^[A-Z].*:\n", text, maxsplit=1, flags=re.MULTILINE)[1]
    return re.findall(r"^  (?:-\w, )*(--[\w-]+)", listed, flags=re.MULTILINE)


def headings(text):
    return [line[:-1] for line in text.splitlines() if re.match(r"[A-Z].*:$", line)]


def commands(group=cli, words=()):
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        yield (*words, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*words, name))


@pytest.mark.parametrize("words", list(commands()), ids=" ".join)
def test_every_command_has_a_help_by_a_letter(run_cli, words):
    result = run_cli(*words, "-h")
    assert result.code == 0
    assert result.out == run_cli(*words, "--help").out
    assert "-h, --help" in result.out


@pytest.mark.parametrize("name", GROUPED)
def test_help_fits_on_two_screens_a_line_an_option(run_cli, name):
    lines = run_cli(name, "--help").out.splitlines()
    assert len(lines) <= 70 and max(map(len, lines)) <= 80
    listed = lines[next(i for i, line in enumerate(lines) if line[:-1] in HEADINGS) :]
    assert [line for line in listed if line.startswith("   ")] == []  # nothing is wrapped
    assert headings("\n".join(lines)) == [one for one in HEADINGS if f"{one}:" in lines]
    assert [line for line in lines if line.startswith("  -")][-1].startswith("  -h, --help")
    assert f"More: 'w2vneg {name} --help-all'" in lines[-1] or f"More: 'w2vneg {name} --help-all'" in lines[-2]


def test_help_of_train_shows_what_most_people_use(run_cli):
    text = run_cli("train", "--help").out
    assert headings(text) == ["Data", "Objective", "Model", "Run", "Output"]
    common = "--loss --negatives --noise-exponent --temp --dim --window --subsample --minn --cbow --epochs --alpha"
    common += " --workers --seed --min-count --user-col --item-col --valid --resume --output --save-model"
    assert {*common.split(), *(f"--{kind}" for kind in SOURCES)} <= {*flags(text)}
    assert "--window N           Context size: tokens on each side. [text: 5, graph: 10]" in text
    assert "Vector size. [100]" in text and "are not comparable" in " ".join(text.split())


@pytest.mark.parametrize("name", GROUPED)
def test_help_all_shows_every_option_that_the_command_takes(run_cli, name):
    command = cli.get_command(None, name)
    context = click.Context(command, help_option_names=["-h", "--help"])
    params = [one for one in command.get_params(context) if isinstance(one, click.Option)]
    text = run_cli(name, "--help-all").out
    assert sorted(flags(text)) == sorted({next(flag for flag in one.opts if flag[:2] == "--") for one in params})
    assert [line for line in text.splitlines() if line.startswith("  -")][-1].startswith("  -h, --help")
    assert "More:" not in text


def test_help_all_shows_defaults_and_who_reads_an_option_in_sections_by_plug(run_cli):
    text = run_cli("train", "--help-all").out
    assert {*map(lambda one: one.partition(",")[0], headings(text))} == {"Data", "Objective", "Model", "Run", "Output"}
    assert {"Objective, sampler boltzmann", "Objective, several losses", "Model, graph only"} <= {*headings(text)}
    plain = " ".join(text.split())
    for shown in (
        "vectors.txt; none with --save-model",
        "text: relaxed, graphs: ns, items: us, users and items: top-n",
        "100",
        "all cores",
    ):
        assert f"[default: {shown}]" in plain
    assert "[for boltzmann, selfplay; default: rolling]" in plain


@pytest.mark.parametrize("data", DATA)
def test_help_all_shows_what_belongs_to_some_data(run_cli, data):
    own = {
        "text": ["--corpus", "--tokenizer", "--phrases", "--subwords", "--minn"],
        "items": ["--baskets", "--ratings", "--pairs", "--cooccurrence", "--user-col", "--pairs-per-item"],
        "graph": ["--edges", "--source-col", "--directed", "--walk-length", "--p", "--q"],
    }
    shared = ["--loss", "--temp", "--method", "--dim", "--subsample", "--alpha", "--ranks", "--valid", "--output"]
    shown = flags(run_cli("train", "--help-all", data).out)
    assert {*own[data], *shared} <= {*shown}
    assert not {*shown} & {flag for kind in DATA if kind != data for flag in own[kind]}
    assert ("--window" in shown) == (data != "items")
    assert ("--weight-col" in shown) == (data != "text")


def test_help_all_of_other_data_is_refused_with_what_there_is(run_cli):
    result = run_cli("train", "--help-all", "pictures")
    assert result.code == 2
    assert all(f"'{kind}'" in result.err for kind in DATA)


@pytest.mark.parametrize(
    ("arguments", "remedy"),
    [
        (["train", "--windw", "5"], "--window"),
        (["train", "--vector-size", "5"], "It is called --dim here."),
        (["train", "--input", "text"], "It is called --corpus here."),
        (["train", "--walk-lenght", "5"], "--walk-length"),  # not in the short help
        (["tune", "--lr", "5"], "It is called --alpha here."),
        (["train", "-train", "text"], "No such option '-train'. It is called --corpus here."),
        (["train", "-size", "8", "-hs", "0"], "'-size'. It is called --dim here."),
        (["train", "-hs", "1"], "'-hs'. It is called --loss hierarchical here."),
        (["train", "--alpha", "1", "-neg=5"], "'-neg'. It is called --negatives here."),
        (["train", "-minCount", "2"], "'-minCount'. It is called --min-count here."),
        (["train", "--pretrainedVectors", "v"], "It is called --init here."),
        (["train", "-read-vocab", "v"], "It is called --vocab here."),
        (["train", "-save-vocab", "v"], "The vocabulary is vocab.tsv in the folder of --save-model."),
        (["train", "-binary", "1"], "w2vneg export vectors.txt vectors.bin"),
        (["train", "-t", "1e-3"], "'-t'. It is called --subsample here."),
        (["train", "--cbow", "1"], "extra argument (1). --cbow is a switch: give it without a value, or not at all."),
        (["train", "--corpus", "a", "--quiet", "b"], "For several files repeat the flag"),
        (["skipgram", "-input", "text"], "no command 'skipgram'; it is 'train'"),
        (["cbow"], "it is 'train --cbow'"),
        (["nn", "model.bin"], "it is 'nearest'"),
        (["print-word-vectors", "model.bin"], "it is 'export'"),
        (["train", "--corpus", "a", "b"], 'For several files repeat the flag, or quote the pattern: --corpus "*.txt".'),
        (
            ["train", "--corpus", "a", "--min-rating", "4"],
            "--min-rating belongs to --ratings; --corpus does not read it",
        ),
    ],
)
def test_a_flag_that_is_misspelt_or_misplaced_gets_its_remedy(run_cli, arguments, remedy):
    result = run_cli(*arguments)
    assert result.code == 2
    assert remedy in " ".join(result.err.split())


def test_a_flag_that_is_near_none_gets_no_suggestion(run_cli):
    for name in ("train", "nearest", "eval"):
        assert run_cli(name, "--nosuch").err.endswith("No such option '--nosuch'.\n")
        if name != "eval":
            assert re.search("Did you mean '?--readout'?[?]", run_cli(name, "--readuot").err)
    assert re.search("Did you mean '?--temp'?[?]", run_cli("train", "--temperatur", "1").err)  # near a name elsewhere


def test_help_does_not_go_beyond_the_terminal(run_cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    assert 80 < max(map(len, run_cli("train", "--help").out.splitlines())) <= 110
    monkeypatch.setenv("COLUMNS", "60")
    assert max(map(len, run_cli("train", "--help-all").out.splitlines())) <= 60


def test_slim_lists_the_sources_that_it_takes_and_no_other(run_cli):
    for listed in (flags(run_cli("slim", *words).out) for words in (["--help"], ["--help-all"])):
        sources = {"--" + name for name in SOURCES}
        assert sources & set(listed) == {"--ratings", "--cooccurrence", "--pairs", "--baskets"}
        assert "--tokenizer" not in listed and "--user-col" in listed
    result = run_cli("slim", "--corpus", "text.txt", "--save-model", "m")
    assert result.code == 2 and "slim reads one of --baskets, --cooccurrence, --pairs, --ratings." in result.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("eval similarity --model m", "It is given without a flag: w2vneg eval similarity [VECTORS]."),
        ("export --vectors m out.txt", "It is given without a flag: w2vneg export MODEL|VECTORS OUT."),
        ("eval ranking m --test t.tsv", "It is given without a flag: w2vneg eval ranking MODEL TEST."),
        ("nearest --model m king", "It is called --vectors here."),
        ("similarity m", "no command 'similarity'; it is 'eval similarity'"),
    ],
)
def test_an_argument_given_as_a_flag_is_named(run_cli, arguments, said):
    result = run_cli(*arguments.split())
    assert result.code == 2 and said in result.err
