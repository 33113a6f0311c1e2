"""Files of edges as graphs: what is read, what is left out and told, what is refused."""

import gzip
import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from w2vneg import Input, Vocabulary
from w2vneg.config import TrainConfig
from w2vneg.data.encoded import EncodedGraph
from w2vneg.data.encoded.pairs import count_centres
from w2vneg.data.inputs import as_input, encode_input
from w2vneg.ground.errors import ConfigError, DoubtError, InputError


def read(data, **options):
    of_graph = {name: options.pop(name) for name in list(options) if name in ("min_count", "max_vocab", "vocab")}
    return encode_input(Input("edges", data, **options), **of_graph)


@pytest.fixture
def file(tmp_path):
    """A function that writes text to a file and returns its path."""

    def write(text, name="graph.txt"):
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return write


def as_dict(graph):
    """Return {(name of a node, name of the next): weight}."""
    matrix, words = graph.matrix.tocoo(), graph.vocab.words
    return {(words[i], words[j]): float(w) for i, j, w in zip(matrix.row, matrix.col, matrix.data, strict=True)}


def left_out(graph):
    return {why: number for why, number in graph.report.left_out.items() if number}


WEIGHTED = {("a", "b"): 2, ("b", "a"): 2, ("b", "c"): 1, ("c", "b"): 1}


class TestFiles:
    @pytest.mark.parametrize(
        "text",
        [
            "a,b,2\nb,c,1\n",
            "a\tb\t2\r\nb\tc\t1\r\n",
            "a b 2\nb c 1\n",
            "a   b  2.0\nb c 1.0\n",
            "source,target,weight\na,b,2\nb,c,1\n",
            "# Nodes: 3 Edges: 2\n# FromNodeId\tToNodeId\na\tb\t2\nb\tc\t1\n",
            "% sym posweighted\n% 2 3 3\na b 2\n# in between\nb c 1\n",
            "a,b,1\na,b,1\nb,c,1\n",
            "a,b,1\nb,a,1\nb,c,1\n",
        ],
    )
    def test_are_delimited_tables_with_or_without_header_and_comments(self, file, text):
        graph = read(file(text))
        assert isinstance(graph, EncodedGraph) and not graph.directed
        assert as_dict(graph) == WEIGHTED
        assert graph.matrix.has_sorted_indices and graph.matrix.data.dtype == np.float32

    def test_without_weights_count_each_row_once(self, file):
        graph = read(file("source target\na b\nb c\na b\n"))
        assert as_dict(graph) == WEIGHTED
        assert not left_out(graph) and graph.report.added == {"rows that repeat an edge, in either direction": 1}
        line = graph.report.line()
        assert "weights added up: 1 row that repeats an edge, in either direction; left out: nothing" in line
        assert "no weights" in graph.report.line() and "2 edges of 3 nodes" in graph.report.line()

    def test_directed_edges_lead_one_way(self, file):
        graph = read(file("a b 2\nb c 1\nc b 3\n"), directed=True)
        assert as_dict(graph) == {("a", "b"): 2, ("b", "c"): 1, ("c", "b"): 3}

    def test_loops_nodes_alone_and_comments_are_told(self, file):
        graph = read(file("# one\na a 1\na b 2\nz z 1\nb c 1\n"))
        assert as_dict(graph) == WEIGHTED
        told = {"comment lines": 1, "self-loops": 2, "nodes without an edge to another": 1}
        assert left_out(graph) == told

    def test_columns_may_be_named(self, file):
        text = "when,from,to,strength\n7,a,b,2\n8,b,c,1\n"
        graph = read(file(text), source_col="from", target_col="to", weight_col="strength")
        assert as_dict(graph) == WEIGHTED

    def test_may_be_packed(self, file, tmp_path):
        with gzip.open(tmp_path / "graph.gz", "wt") as stream:
            stream.write("# packed\na b 2\nb c 1\n")
        assert as_dict(read(str(tmp_path / "graph.gz"))) == WEIGHTED

    def test_names_that_begin_with_a_sign_stand_in_quotes(self, file):
        assert as_dict(read(file('"#a","#b"\n"#b",c\n'))).keys() == {
            ("#a", "#b"),
            ("#b", "#a"),
            ("#b", "c"),
            ("c", "#b"),
        }


class TestInMemory:
    MATRIX = scipy.sparse.csr_matrix(np.array([[0, 2.0, 0], [0, 0, 1], [0, 0, 0]]))

    @pytest.mark.parametrize(
        "data",
        [
            [("a", "b", 2), ("b", "c", 1)],
            pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"], "weight": [2, 1]}),
            np.array([["a", "b"], ["a", "b"], ["b", "c"]]),
        ],
    )
    def test_is_what_a_file_of_it_would_be(self, data):
        assert as_dict(read(data)) == WEIGHTED

    def test_a_sparse_matrix_has_numbers_for_names(self, tmp_path):
        expected = {(str("abc".index(i)), str("abc".index(j))): w for (i, j), w in WEIGHTED.items()}
        assert as_dict(read(self.MATRIX)) == expected
        scipy.sparse.save_npz(tmp_path / "graph.npz", self.MATRIX)
        assert as_dict(read(str(tmp_path / "graph.npz"))) == expected

    def test_both_halves_of_a_symmetric_matrix_weigh_alike(self):
        one, both = read(self.MATRIX), read(self.MATRIX + self.MATRIX.T)
        np.testing.assert_array_equal(one.matrix.toarray() * 2, both.matrix.toarray())
        np.testing.assert_array_equal(one.vocab.counts, both.vocab.counts)

    def test_a_graph_of_networkx_keeps_names_weights_and_direction(self):
        networkx = pytest.importorskip("networkx")
        graph = networkx.Graph()
        graph.add_weighted_edges_from([("a", "b", 2), ("b", "c", 1)])
        graph.add_edge("c", 7)
        graph.add_node("alone")
        found = read(graph)
        assert as_dict(found) == WEIGHTED | {("c", "7"): 1, ("7", "c"): 1} and not found.directed
        assert left_out(found) == {"nodes without an edge to another": 1}
        led = as_input(networkx.DiGraph([("a", "b"), ("b", "c")]))
        assert led.kind == "edges" and as_dict(encode_input(led)) == {("a", "b"): 1, ("b", "c"): 1}
        assert not as_dict(encode_input(led.replace(directed=False))).keys() - WEIGHTED.keys()
        with pytest.raises(ConfigError, match="has no edges"):
            Input("edges", networkx.Graph())


class TestNodes:
    def test_are_counted_by_visits_and_sorted(self, file):
        graph = read(file("a b\na c\na d\nx y\n"))
        assert list(graph.vocab.words) == ["a", "x", "y", "b", "c", "d"]
        # a star: at every other step in the middle; ten walks of 80 from each node
        assert graph.vocab.counts.tolist() == [1600, 800, 800, 534, 534, 534]

    @pytest.mark.parametrize("chosen", [{"min_count": 600}, {"max_vocab": 3}])
    def test_rare_ones_go_with_their_edges_and_who_has_no_other(self, file, chosen):
        graph = read(file("a b\na c\na d\nx y\n"), **chosen)
        assert list(graph.vocab.words) == ["x", "y"] and graph.vocab.counts.tolist() == [800, 800]
        told = {"rare nodes": 3, "edges of rare nodes": 3, "nodes without an edge to another": 1}
        assert left_out(graph) == told and graph.report.items == 2
        assert as_dict(graph) == {("x", "y"): 1, ("y", "x"): 1}
        assert graph.walk(TrainConfig(source="graph", walks_per_node=1).resolved()).n_positions == 160

    def test_of_a_directed_graph_end_walks_and_stay(self, file):
        graph = read(file("a b\na c\nx y\nx y\ny x\nx a\n"), directed=True, max_vocab=4)
        assert "b" not in graph.vocab.words or "c" not in graph.vocab.words
        assert {node for edge in as_dict(graph) for node in edge} == set(graph.vocab.words)

    def test_may_be_those_of_a_vocabulary(self, file):
        graph = read(file("a b\nb c\n"), vocab=Vocabulary(["b", "a", "q"], [5, 3, 1]))
        assert as_dict(graph) == {("a", "b"): 1, ("b", "a"): 1}
        assert left_out(graph) == {"unknown nodes": 1, "edges of unknown nodes": 1}

    def test_are_shared_by_ranks(self, file):
        graph = read(file("a b\nb c\nc a\n"))
        shares = [graph.share(slot, [0, 0.5, 1]) for slot in range(2)]
        assert sorted(np.concatenate([share.origins for share in shares]).tolist()) == [0, 1, 2]
        with pytest.raises(ConfigError, match="3 nodes are too few for 4 ranks"):
            graph.share(3, [0, 0.25, 0.5, 0.75, 1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# c\na b 1\nb c 0\n", r"graph.txt:3: in column 3 \(--weight-col\), the weight 0 of an edge is not above 0"),
        (
            "a b 1\nb c -2\n",
            r"the weight -2 of an edge is not above 0.* --bad-rows skip, or ignore all weights with --weight-col none$",
        ),
        ("a b 1\nb c nan\n", r"graph.txt:2: .* nan is not a finite number"),
        ("a b 1\nb c inf\n", r"graph.txt:2: .* inf is not a finite number"),
        ("a b 1\n# x\nb c\n", r"graph.txt:3: 2 fields where the first row has 3"),
        ("a,b\n,c\n", r"graph.txt:2: the cell in column 1 \(--source-col\) is empty"),
        ("a a\nb b\n", "no edge is left: all are self-loops"),
        ("# nothing\n% at all\n", "no row"),
        ("%%MatrixMarket matrix\n3 3 1\n1 2 3\n", "Matrix Market format.*scipy.sparse.save_npz"),
        ("a b 1e38\na b 1e38\nb c 2e38\n", "sum to more than can be counted"),
    ],
)
def test_what_is_no_graph_is_refused(file, text, message):
    with pytest.raises(InputError, match=message):
        read(file(text))


def test_a_file_without_the_weights_that_others_have_is_named(file):
    texts = {"1.csv": "a,b,2\n", "2.csv": "source,target\nb,c\n", "3.csv": "target,source,weight\na,c,3\n"}
    files = [file(text, name) for name, text in texts.items()]
    (hint,) = read(files).report.hints
    assert hint.startswith(f"{files[1]} has no weight column, unlike other files") and "--weight-col none" in hint
    assert read(files, weight_col="none").report.hints == ()
    assert read(files[::2]).report.hints == read(files[1]).report.hints == ()


def lines(*columns):
    return "".join(" ".join(map(str, row)) + "\n" for row in zip(*columns, strict=True))


def test_first_nodes_of_edges_are_counted_as_those_of_pairs(file):
    found = count_centres(Input("edges", file("a b\nb c\na c\n")))
    assert dict(zip(found.words, found.counts.tolist(), strict=True)) == {"a": 2, "b": 1}


class TestNumbersThatAreNames:
    def test_may_have_thousands_of_digits(self, file):
        assert len(read(file(f"{'9' * 5000} 2\n1 2\n2 3\n3 1\n")).vocab) == 4

    def test_of_triples_are_doubted(self, file):
        heads, tails = np.random.default_rng(1).permuted(np.tile(np.arange(1, 61), (2, 5)), axis=1)
        path = file(lines(heads, heads * tails % 7, tails))
        with pytest.raises(DoubtError, match=r"graph.txt: .* --source-col 1 --target-col 3; or give --weight-col 3"):
            read(path)
        read(path, weight_col=3)
        assert "no weights" in read(path, source_col=1, target_col=3).report.line()

    def test_of_lists_of_neighbours_are_doubted(self, file):
        nodes = np.arange(40)
        path = file(lines(nodes + 1, (nodes + 1) % 40 + 1, (nodes - 1) % 40 + 1, (nodes + 7) % 40 + 1))
        with pytest.raises(DoubtError, match=r"lists of neighbours: awk .* FILE > edges.txt; or give --weight-col 3"):
            read(path)
        read(path, weight_col=3)

    @pytest.mark.skipif(not shutil.which("awk"), reason="awk is not here")
    @pytest.mark.parametrize("sign", [" ", ",", "\t", ";", "|"])
    def test_of_lists_of_neighbours_become_edges(self, file, tmp_path, sign):
        nodes = np.arange(40)
        text = lines(nodes + 1, (nodes + 1) % 40 + 1, (nodes - 1) % 40 + 1, (nodes + 7) % 40 + 1)
        path = file(text.replace(" ", sign))
        with pytest.raises(DoubtError) as error:
            read(path)
        command = re.search("awk .* > edges.txt", str(error.value))[0].replace("FILE", path)
        subprocess.run(command, shell=True, cwd=tmp_path, check=True)
        edges = {(a, b) for a in range(40) for b in ((a + 1) % 40, (a - 1) % 40, (a + 7) % 40)}
        assert len(as_dict(read(str(tmp_path / "edges.txt"), directed=True))) == len(edges)

    @pytest.mark.parametrize("most", [20, 100])
    def test_are_weights_of_an_ordinary_graph(self, file, most):
        rng = np.random.default_rng(1)
        heads, tails = np.triu_indices(100, 1)
        kept = rng.random(len(heads)) < 0.3
        heads, tails = heads[kept] + 1, tails[kept] + 1
        weights = rng.integers(1, most + 1, len(heads))
        by_column = np.argsort(tails, kind="stable")
        for order in (slice(None), by_column, rng.permutation(len(heads)), by_column[:100]):
            assert read(file(lines(heads[order], tails[order], weights[order]))).report.rows == len(heads[order])
        assert (
            read(file(lines(np.arange(2, 101), rng.integers(1, 100, 99), rng.integers(1, 101, 99)))).report.rows == 99
        )


def test_zeros_of_a_matrix_are_refused(tmp_path):
    matrix = scipy.sparse.coo_matrix(([1.0, 0.0], ([0, 1], [1, 2])), (3, 3))
    message = r"coo_matrix: row 1 \(from 0\).*the weight 0 of an edge is not .*bad_rows='skip'.*MATRIX.eliminate_zeros"
    with pytest.raises(InputError, match=message):
        read(matrix)
    assert as_dict(read(matrix, bad_rows="skip", directed=True)) == {("0", "1"): 1}
    matrix.eliminate_zeros()
    assert as_dict(read(matrix, directed=True)) == {("0", "1"): 1}
