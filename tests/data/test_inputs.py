"""What is read: the same whether it is told in Python, on the command line, or by a model folder."""

import json

import click
import numpy as np
import pytest
import scipy.sparse
from click.testing import CliRunner

from w2vneg.cli.flags import input_of
from w2vneg.cli.options import DATA, GroupedCommand
from w2vneg.data.encoded import EncodedCorpus, EncodedPairs
from w2vneg.data.inputs import Input, as_input, encode_input
from w2vneg.data.sources import SOURCES
from w2vneg.data.vocab import Vocabulary
from w2vneg.ground.errors import ConfigError


@pytest.mark.parametrize(
    ("given", "source"),
    [
        (Input("corpus", "text8"), "text"),
        (Input("pairs", ("a", "b"), delimiter="tab", header=False, item_col=2, weight_col="n"), "pairs"),
        (Input("cooccurrence", ["m.npz"], names=["rows", "columns"], rectangular=True), "pairs"),
        (Input("baskets", "b", delimiter=","), "baskets"),
        (Input("ratings", "r", min_rating=0.0, max_history=5, time_col="at"), "baskets"),
        (Input("ratings", "r", rectangular=True), "pairs"),
    ],
)
def test_survives_json_and_knows_its_source(given, source):
    assert Input.from_dict(json.loads(json.dumps(given.as_dict()))) == given
    assert given.source == source


def test_whatever_names_a_path_does():
    class Place:
        def __fspath__(self):
            return "a b"

    assert Input("pairs", Place()).files == Input("pairs", [Place()]).files == as_input(Place()).files == ("a b",)


def test_a_path_in_the_home_folder_is_found(files, monkeypatch):
    monkeypatch.setenv("HOME", str(files))
    given = Input("cooccurrence", "~/m.npz", names="~/names").located().absolute()
    assert given.files == (str(files / "m.npz"),) and given.names == (str(files / "names"),)
    assert list(encode_input(given).vocab.words) == ["x", "y"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": "text", "files": "a"}, "unknown kind of input 'text'; known: .*corpus, edges, pairs"),
        ({"kind": "pairs", "files": ()}, "at least one file"),
        ({"kind": "baskets", "files": "a", "header": False}, "header is not an option of baskets"),
        ({"kind": "pairs", "files": "a", "min_rating": 0.0}, "min_rating is not an option of pairs"),
        (
            {"kind": "corpus", "files": "a", "delimeter": ","},
            "delimeter is not an option of corpus; did you mean delimiter",
        ),
        ({"kind": "pairs", "files": "a", "delimeter": ","}, r"is not an option of pairs; did you mean delimiter\?"),
        ({"kind": "corpus", "files": "a", "lowercase": True}, r"it is an option of the run: Word2Vec\(lowercase=…\)"),
        ({"kind": "corpus", "files": "a", "rectangular": True}, "rectangular is not an option of corpus"),
        ({"kind": ["corpus"], "files": "a"}, "unknown kind of input .*corpus"),
        ({"kind": "corpus", "files": 3}, "files of an input must be a path or a list of paths, not '3'"),
        ({"kind": "corpus", "files": ["a", 3]}, "files of an input must be a path or a list of paths"),
        ({"kind": "corpus", "files": "a\0/*"}, "files of an input: invalid file name"),
        ({"kind": "corpus", "files": ["a", "\ud800/*"]}, "files of an input: invalid file name"),
        ({"kind": "corpus", "files": {"a": 1}}, "files of an input must be a path or a list of paths"),
        (
            {"kind": "baskets", "files": [["a", "b"], ["c"]]},
            r"takes files; .* give lists as Input\('ratings', \[\(n, item\)",
        ),
        ({"kind": "cooccurrence", "files": "a", "names": {"a": 1}}, "names of an input must be a path or a list"),
        ({"kind": "pairs", "files": "a", "delimiter": 5}, "delimiter of an input must be text, not 5"),
        ({"kind": "pairs", "files": "a", "header": "yes"}, "header of an input must be true or false"),
        ({"kind": "pairs", "files": "a", "item_col": True}, "item_col of an input must be the name or number of a col"),
        ({"kind": "pairs", "files": "a", "rectangular": 1}, "rectangular of an input must be true or false"),
        ({"kind": "ratings", "files": "a", "min_rating": "4"}, "min_rating of an input must be a number"),
        ({"kind": "ratings", "files": "a", "min_rating": float("nan")}, "min_rating of an input must be a number"),
        ({"kind": "ratings", "files": "a", "max_history": 2.5}, "max_history of an input must be a whole number"),
    ],
)
def test_what_does_not_go_together(arguments, message):
    with pytest.raises(ConfigError, match=message):
        Input(**arguments)


def test_a_damaged_dict():
    for values in ({"kind": "pairs"}, {"kind": "pairs", "files": ["a"], "colour": 1}, 3, ["kind", "files"], None):
        with pytest.raises(ConfigError, match="not an input"):
            Input.from_dict(values)


@pytest.fixture
def files(tmp_path):
    (tmp_path / "text").write_text("a b a b a b a b a b c\n")
    (tmp_path / "pairs").write_text("item\ttarget\tweight\na\tb\t3\nc\ta\t1\n")
    (tmp_path / "baskets").write_text("a,b c\nc,a\n")
    (tmp_path / "ratings").write_text("5;a;u\n3;b;u\n4;c;u\n")
    scipy.sparse.save_npz(tmp_path / "m.npz", scipy.sparse.csr_matrix(np.array([[0, 1.0], [2, 0]])))
    (tmp_path / "names").write_text("x\ny\n")
    return tmp_path


def test_each_kind_is_read(files):
    text = encode_input(Input("corpus", str(files / "text")))
    assert text.vocab.words == ["a", "b"]  # at least five times each
    pairs = encode_input(Input("pairs", str(files / "pairs")))
    assert pairs.vocab.words == ["a", "b", "c"]
    assert pairs.matrix.sum() == 4
    baskets = encode_input(Input("baskets", str(files / "baskets"), delimiter="comma"))
    assert baskets.vocab.words == ["a", "b_c", "c"]
    ratings = Input("ratings", str(files / "ratings"), user_col=3, rating_col=1, min_rating=4)
    assert isinstance(encode_input(ratings), EncodedCorpus)
    assert encode_input(ratings).vocab.words == ["a", "c"]
    matrix = encode_input(Input("cooccurrence", str(files / "m.npz"), names=(str(files / "names"),)))
    assert isinstance(matrix, EncodedPairs)
    assert matrix.vocab.words == ["x", "y"]


def test_choice_of_items_is_handed_on(files):
    given = Input("pairs", str(files / "pairs"))
    vocab = Vocabulary(["b", "a"], [2, 1])
    assert encode_input(given, vocab=vocab, vocab_out=vocab).vocab is vocab
    assert encode_input(given, max_vocab=2).vocab.words == ["a", "b"]
    assert encode_input(given, min_count=3).vocab.words == ["a", "b"]
    with pytest.raises(ConfigError, match="only rectangular data have a second vocabulary"):
        encode_input(given, vocab=vocab, vocab_out=Vocabulary(["b", "a"], [2, 1]))
    both = encode_input(
        Input("pairs", str(files / "pairs"), rectangular=True), vocab=Vocabulary(["c", "a"], [2, 1]), vocab_out=vocab
    )
    assert both.matrix.toarray().tolist() == [[0, 1], [3, 0]]


@click.command(cls=GroupedCommand, reads=DATA)
@click.option("--other")
def command(**values):
    click.echo(json.dumps([input_of(values).as_dict(), values]))


@click.command(cls=GroupedCommand, reads=DATA)
def idle(**values):
    assert input_of(values, needed=False) is None


def test_there_may_be_no_input_but_then_none_of_its_options():
    assert CliRunner().invoke(idle, []).exit_code == 0
    result = CliRunner().invoke(idle, ["--user-col", "1"])
    assert result.exit_code == 2
    assert "no source is named" in result.output


def run(*arguments):
    return CliRunner().invoke(command, arguments)


def test_options_make_an_input():
    result = run("--pairs", "a", "--pairs", "b", "--no-header", "--item-col", "x", "--delimiter", "tab", "--other", "o")
    given, rest = json.loads(result.output)
    assert Input.from_dict(given) == Input("pairs", ("a", "b"), header=False, item_col="x", delimiter="tab")
    assert rest == {"other": "o"}
    given, _ = json.loads(run("--ratings", "r", "--min-rating", "0", "--max-history", "9", "--rectangular").output)
    assert Input.from_dict(given) == Input("ratings", "r", min_rating=0.0, max_history=9, rectangular=True)
    given, _ = json.loads(run("--cooccurrence", "m", "--names", "r", "--names", "c").output)
    assert Input.from_dict(given) == Input("cooccurrence", "m", names=("r", "c"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--pairs", "a", "--ratings", "b"], "--pairs and --ratings exclude each other"),
        (
            ["--baskets", "a", "--no-header"],
            "--header/--no-header belongs to --cooccurrence and --corpus and --edges and --pairs and --ratings",
        ),
        (["--corpus", "a", "--min-rating", "0"], "--min-rating belongs to --ratings; --corpus does not read it"),
        (["--pairs", "a", "--names", "n"], "--names belongs to --cooccurrence"),
        (["--ratings", "a", "--max-history", "1"], "1 is not in the range"),
    ],
)
def test_options_that_contradict_each_other(arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())


def test_no_source():
    with pytest.raises(click.UsageError, match=r"no source is named; give one of .*--corpus, --edges, --pairs"):
        input_of(dict.fromkeys(SOURCES, ()) | {"other": 1})


def test_help_tells_what_reads_an_option():
    text = " ".join(run("--help-all").output.split())
    assert "Data, several sources:" in text
    readers = "[for --cooccurrence, --edges, --pairs; default: by name; without a header 3, if half are numbers]"
    assert readers in text
    for kind in SOURCES:
        assert f"--{kind} " in text


def test_a_graph_says_itself_whether_it_is_directed_and_an_explicit_no_stays():
    networkx = pytest.importorskip("networkx")
    one_way = networkx.DiGraph([("a", "b"), ("b", "c")])
    directed, plain = Input("edges", one_way), Input("edges", networkx.Graph(one_way))
    rows, stated = Input("edges", [("a", "b")]), Input("edges", [("a", "b")], directed=False)
    assert [one.like(directed).directed for one in (directed, plain, rows, stated)] == [True, False, True, False]
    assert [one.like(plain).directed for one in (directed, plain, rows, stated)] == [True, False, False, False]
    assert Input("edges", one_way, directed=None).directed and not Input("edges", one_way, directed=False).directed
    assert Input.from_dict(stated.as_dict() | {"files": ["a.csv"]}).options == {"directed": False}
