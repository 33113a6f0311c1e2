"""Links and labels by vectors: vectors that know tell, noise does not, pairs without an edge have none."""

import json
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from planted import two_blocks

from w2vneg import Vectors
from w2vneg.data.inputs import Input, encode_input
from w2vneg.ground.errors import ConfigError, DoubtError, FileNote, InputError, MissingExtraError
from w2vneg.vectors.evaluation import evaluate_classes, evaluate_links, graph_tasks
from w2vneg.vectors.evaluation.graph_tasks import FITTED, _beside, _chosen, _spread

EDGES = np.array(two_blocks())
BLOCK = {node: node[0] for node in sorted({*EDGES.ravel()})}


@pytest.fixture
def parts(tmp_path):
    """Edges of two blocks in three files, written both ways round (dict of str -> str)."""
    shuffled = EDGES[np.random.default_rng(1).permutation(len(EDGES))]
    thirds = np.array_split(shuffled, 3)
    files = {name: tmp_path / f"{name}.tsv" for name in ("train", "valid", "test")}
    for file, own in zip(files.values(), thirds, strict=True):
        file.write_text("item\ttarget\n" + "".join(f"{a}\t{b}\n{b}\t{a}\n" for a, b in own))
    return {name: str(file) for name, file in files.items()}


@pytest.fixture
def vectors():
    """Vectors that tell the blocks apart, with some noise."""
    places = np.array([[1.0, -1.0] if block == "a" else [-1.0, 1.0] for block in BLOCK.values()])
    return Vectors(BLOCK, places + np.random.default_rng(2).normal(0, 0.2, places.shape))


def test_links_are_told_by_vectors_and_not_by_noise(parts, vectors):
    found = evaluate_links(vectors, parts["test"], train=parts["train"], valid=parts["valid"])
    assert list(found.auc) == ["Hadamard", "L1", "L2", "dot product", "degree product", "common neighbours"]
    assert all(found.auc[name][0] > 0.65 for name in ("Hadamard", "L1", "L2", "dot product"))
    assert found.edges == len(EDGES) // 3 and found.unknown == 0
    noise = Vectors(BLOCK, np.random.default_rng(5).normal(size=(len(BLOCK), 8)))
    bare = evaluate_links(noise, parts["test"], train=parts["train"], seeds=20)
    assert list(bare.auc) == ["dot product", "degree product", "common neighbours"] and not bare.fitted_on
    assert abs(bare.auc["dot product"][0] - 0.5) < 0.15 and 0 < bare.ap["dot product"][1] < 0.2


def test_edges_are_read_as_those_of_training_or_as_edges(tmp_path, parts, vectors):
    plain = evaluate_links(vectors, parts["test"], train=parts["train"], seeds=2)
    own = {"kind": "edges", "files": ["graph.txt"], "source_col": "2", "target_col": "3", "weight_col": "none"}
    forms = ("{1} {2}", None), ("{1} {2} {{'weight': 3}}", None), ("{1} {2} {{}}", own), ("{0} {1} {2}", own)
    for form, data in forms:
        files = {}
        for name in ("test", "train"):
            rows = pd.read_csv(parts[name], sep="\t").to_numpy()[::2]
            lines = [form.format(number, *row) for number, row in enumerate(rows)]
            files[name] = tmp_path / f"{name}.txt"
            files[name].write_text("\n".join([lines[0], "# and so on", *lines[1:], ""]))
        found = evaluate_links(vectors, files["test"], train=files["train"], seeds=2, own=data)
        assert (found.auc, found.edges, found.known, found.unknown) == (plain.auc, plain.edges, 0, 0), form
        assert set(found.columns) == {"test", "train"}


def test_comments_that_look_like_edges_are_counted(parts, vectors):
    told = "left out: 2 comment-like lines (# or %) among the rows"
    Path(parts["test"]).write_text(Path(parts["test"]).read_text() + "# and so on\n#a0\ta1\n%a0\ta2\n")
    found = evaluate_links(vectors, parts["test"], train=parts["train"], seeds=1)
    assert told in found.columns["test"] and len(found.columns["train"]) == len(found.columns["test"]) - 1


def test_pairs_without_an_edge_have_none_and_are_different():
    n = 12
    known = np.array([i * n + j for i in range(n) for j in range(i + 1, n) if (i * j) % 3])
    drawn = _beside(known[:6], known, n, np.random.default_rng(3))
    np.testing.assert_array_equal(drawn[:, :6], np.divmod(known[:6], n))
    numbers = drawn[0] * n + drawn[1]
    assert (drawn[0] < drawn[1]).all() and len(np.unique(numbers)) == 12 and not np.isin(numbers[6:], known).any()
    with pytest.raises(InputError, match="too few to compare 28 edges with"):
        _beside(known, known, n, np.random.default_rng(3))


def test_regressions_are_not_fitted_on_the_pairs_that_they_are_scored_on(monkeypatch, parts, vectors):
    drawn, real = [], graph_tasks._scores
    monkeypatch.setattr(graph_tasks, "_scores", lambda *given: drawn.append(given[2]) or real(*given))
    evaluate_links(vectors, parts["test"], train=parts["train"], valid=parts["valid"], seeds=8)
    assert len(drawn) == 8
    for one in drawn:
        test, valid = (set(zip(*one[name].tolist(), strict=True)) for name in ("test", "valid"))
        assert len(test) == one["test"].shape[1] and not test & valid
    every = [*combinations([f"n{i}" for i in range(8)], 2)]
    few = Vectors([f"n{i}" for i in range(8)], np.random.default_rng(1).normal(size=(8, 2)))
    with pytest.raises(InputError, match="only 8 pairs of nodes without an edge are left, too few to compare 5 edges"):
        evaluate_links(few, every[:5], train=every[10:15], valid=every[5:10])


def test_labels_are_told_and_the_null_model_gives_the_most_frequent(tmp_path, vectors):
    (tmp_path / "labels.tsv").write_text("node\tlabel\n" + "".join(f"{n}\t{block}\n" for n, block in BLOCK.items()))
    found = evaluate_classes(vectors, str(tmp_path / "labels.tsv"), shares=[0.5])
    one = found.shares[0.5]
    assert (found.nodes, found.labels, found.labels_a_node) == (len(BLOCK), 2, 1.0)
    assert one["micro"][0] > 0.95 and one["macro"][0] > 0.95
    assert one["null_micro"][0] < 0.6 and one["null_macro"][0] < 0.45
    rows = [*BLOCK.items(), *((node, "all") for node in BLOCK)]
    several = evaluate_classes(vectors, rows, shares=[0.5], seeds=2)
    assert _spread({"a": [1.0, 3.0], "b": [2.0]}) == {"a": (2.0, pytest.approx(2**0.5)), "b": (2.0, None)}
    assert several.labels_a_node == 2 and several.shares[0.5]["micro"][0] > 0.95


HEADS = "word\tlabel", "label\tword", "item\tCategory", "user_id\ttags", "name\tpos", "node\tclass_id", "gene\tlabel"


@pytest.mark.parametrize("head", HEADS)
def test_a_header_of_things_and_labels_is_no_row_even_if_its_words_have_vectors(tmp_path, vectors, head):
    names = head.split("\t")
    known = Vectors([*vectors.words, *names], np.vstack([vectors.matrix, np.ones((2, 2))]))
    place = next(i for i, name in enumerate(names) if name.lower() in {"label", "category", "tags", "pos", "class_id"})
    rows = [(node, block) if place else (block, node) for node, block in BLOCK.items()]
    (tmp_path / "labels.tsv").write_text("".join("\t".join(row) + "\n" for row in (names, *rows)))
    plain = evaluate_classes(known, [*BLOCK.items()], shares=[0.5], seeds=2)
    assert evaluate_classes(known, tmp_path / "labels.tsv", shares=[0.5], seeds=2) == plain
    assert evaluate_classes(known, pd.DataFrame(rows, columns=names), shares=[0.5], seeds=2) == plain
    (tmp_path / "none.tsv").write_text("".join("\t".join(row) + "\n" for row in rows[:: 2 * place - 1]))
    if place:
        assert evaluate_classes(known, tmp_path / "none.tsv", shares=[0.5], seeds=2) == plain


def test_labels_beside_numbers_of_rows_and_two_columns_of_them(tmp_path, vectors):
    rows = [f"{i},{node},{block}\n" for i, (node, block) in enumerate(BLOCK.items())]
    (tmp_path / "labels.csv").write_text("".join([",node,label\n", *rows]))
    plain = evaluate_classes(vectors, [*BLOCK.items()], shares=[0.5], seeds=2)
    assert evaluate_classes(vectors, tmp_path / "labels.csv", shares=[0.5], seeds=2) == plain
    (tmp_path / "two.csv").write_text("".join(["label,word,tag\n", *rows]))
    with pytest.raises(DoubtError, match=r"several columns fit: 'label' and 'tag'.*order the columns as word, label"):
        evaluate_classes(vectors, tmp_path / "two.csv")
    for head in ("user,item,label", "label,user,item"):
        (tmp_path / "two.csv").write_text("".join([f"{head}\n", *rows]))
        with pytest.raises(DoubtError, match=r"name or order the columns as word, label$"):
            evaluate_classes(vectors, tmp_path / "two.csv")


def test_ids_of_what_is_labelled_are_no_numbers_of_rows(tmp_path):
    known = Vectors(map(str, range(40)), np.repeat(np.eye(2), 20, axis=0))
    plain = evaluate_classes(known, [(str(i), "ab"[i // 20]) for i in range(40)], shares=[0.5], seeds=2)
    for head in ("id,age,label", "Id,name,Class"):
        (tmp_path / "labels.csv").write_text(
            "".join([f"{head}\n", *(f"{i},{i % 7},{'ab'[i // 20]}\n" for i in range(40))])
        )
        found = evaluate_classes(known, tmp_path / "labels.csv", shares=[0.5], seeds=2)
        assert (found.shares, found.unknown) == (plain.shares, 0), head
    for head in ("id,name,club", "ID,Title,Party"):
        rows = [f"{i},n{i},{'ab'[i // 20]}\n" for i in range(40)]
        (tmp_path / "labels.csv").write_text("".join([f"{head}\n", *rows]))
        assert evaluate_classes(known, tmp_path / "labels.csv", shares=[0.5], seeds=2).shares == plain.shares, head
    (tmp_path / "numbers.csv").write_text(
        "node,community,degree,core\n" + "".join(f"{i},{i // 20},4,{i}\n" for i in range(40))
    )
    assert evaluate_classes(known, tmp_path / "numbers.csv", shares=[0.5], seeds=2).shares == plain.shares
    for head, read in (("id,node,label", "'node'"), ("index,name,label", "'name'")):
        (tmp_path / "labels.csv").write_text("".join([f"{head}\n", *(f"{i},n{i},{i // 20}\n" for i in range(40))]))
        found = (
            rf"words = column {read}; labels = column '(label|ml_target)'; not used: .*0 of .*table of only these two"
        )
        with pytest.raises(InputError, match=found):
            evaluate_classes(known, tmp_path / "labels.csv")


@pytest.mark.parametrize("head", ["node,community,weight\n", ""])
def test_labels_have_no_weight(tmp_path, vectors, head):
    rows = [f"{node},{block},{number % 2}\n" for number, (node, block) in enumerate(BLOCK.items())]
    (tmp_path / "labels.csv").write_text("".join([head, *rows]))
    found = evaluate_classes(vectors, tmp_path / "labels.csv", shares=[0.5], seeds=2)
    assert found.shares == evaluate_classes(vectors, [*BLOCK.items()], shares=[0.5], seeds=2).shares
    assert "labels = column 'community'" in found.columns or not head


def test_a_column_for_each_label_is_refused_and_one_of_0_and_1_is_a_label(tmp_path, vectors):
    rows = [(node, str(int(block == "a")), str(int(block == "b"))) for node, block in BLOCK.items()]
    plain = evaluate_classes(vectors, [*BLOCK.items()], shares=[0.5], seeds=2)
    heads = {"node,c0,c1\n": "'c0' and 'c1' hold", "": "column 2 and column 3 hold", "node,label,held\n": ""}
    for head, told in heads.items():
        (tmp_path / "labels.csv").write_text(head + "".join(",".join(row) + "\n" for row in rows))
        if "label" in head:
            assert evaluate_classes(vectors, tmp_path / "labels.csv", shares=[0.5], seeds=2).shares == plain.shares
            continue
        with pytest.raises(InputError, match=rf"{told} only 0 and 1.*write a row of name and label for each 1"):
            evaluate_classes(vectors, tmp_path / "labels.csv")
    with pytest.raises(InputError, match="column 2 and column 3 hold only 0 and 1"):
        evaluate_classes(vectors, rows)
    assert evaluate_classes(vectors, [row[:2] for row in rows], shares=[0.5], seeds=2).labels == 2
    (tmp_path / "cora.content").write_text("".join("\t".join((*row, f"of {row[1]}")) + "\n" for row in rows))
    with pytest.raises(
        InputError, match=r"in the last column, column 4, extract it: awk -F '\[\\t,;\]' '{print \$1 .* \$NF}'"
    ):
        evaluate_classes(vectors, tmp_path / "cora.content")
    (tmp_path / "gaps.csv").write_text(
        "node,c0,c1\n" + "".join(f"{n},{one},{other}\n" for n, one, other in rows[1:]) + "x,0,\n"
    )
    with pytest.raises(InputError, match=r"'c0' and 'c1' hold only 0 and 1.*write a row of name and label for each 1"):
        evaluate_classes(vectors, tmp_path / "gaps.csv")
    numbered = [f"{i},{node},{one}\n" for i, (node, one, _) in enumerate(rows)]
    (tmp_path / "labels.csv").write_text("".join([",node,held\n", *numbered]))
    assert evaluate_classes(vectors, tmp_path / "labels.csv", shares=[0.5], seeds=2).shares == plain.shares


def test_names_of_labels_are_no_header_of_pairs(tmp_path):
    (tmp_path / "pairs.tsv").write_text("word\tlabel\nword\tother\nother\tlabel\n")
    assert "word" in encode_input(Input("pairs", tmp_path / "pairs.tsv")).vocab.words


def test_names_are_in_lower_case_where_the_text_was(vectors):
    labels = [(node.upper() if i % 2 else node, block) for i, (node, block) in enumerate(BLOCK.items())]
    plain = evaluate_classes(vectors, [*BLOCK.items()], shares=[0.5], seeds=2)
    lower = Vectors(vectors.words, vectors.matrix, lowercase=True)
    assert evaluate_classes(lower, labels, shares=[0.5], seeds=2) == plain
    assert evaluate_classes(vectors, labels, shares=[0.5], seeds=2).unknown == len(BLOCK) // 2


def test_labels_of_one_node_are_refused_before_they_are_learnt(monkeypatch, vectors):
    with pytest.warns(FileNote, match="2 of 3 labels have two words or more"):
        evaluate_classes(vectors, [*BLOCK.items(), (next(iter(BLOCK)), "own")], shares=[0.5], seeds=1)
    monkeypatch.setattr("sklearn.linear_model.LogisticRegression", None)
    with pytest.raises(InputError, match=f"0 of {len(BLOCK)} labels have two words or more.*that words share"):
        evaluate_classes(vectors, [(node, f"of {node}") for node in BLOCK])


def test_a_node_gets_as_many_labels_as_it_has():
    chances = np.array([[0.1, 0.6, 0.3], [0.5, 0.2, 0.3]])
    truth = np.array([[True, True, False], [False, False, True]])
    assert _chosen(chances, truth).tolist() == [[False, True, True], [True, False, False]]


def test_what_cannot_be_evaluated_is_told(monkeypatch, parts, vectors):
    with pytest.raises(ConfigError, match=r"must be above 0 and below 1, not 1\.5"):
        evaluate_classes(vectors, [("a", "b")], shares=[1.5])
    with pytest.raises(InputError, match="too little to train and test on"):
        evaluate_classes(vectors, [*((node, "one") for node in BLOCK), ("else", "two")])
    monkeypatch.setitem(sys.modules, "sklearn.metrics", None)
    with pytest.raises(MissingExtraError, match=r'pip install "w2vneg\[sklearn\]"'):
        evaluate_classes(vectors, parts["test"])
    with pytest.raises(MissingExtraError, match=r'pip install "w2vneg\[sklearn\]"'):
        evaluate_links(vectors, parts["test"], train=parts["train"])


def test_the_commands(tmp_path, run_cli, parts, vectors, monkeypatch):
    monkeypatch.chdir(tmp_path)
    vectors.save("vectors.txt")
    (tmp_path / "labels.tsv").write_text("".join(f"{node}\t{block}\n" for node, block in BLOCK.items()))
    assert run_cli("eval", "links", "vectors.txt", "test.tsv").code == 2
    result = run_cli("eval", "links", "vectors.txt", "test.tsv", "--train=train.tsv", "--valid=valid.tsv")
    assert result.code == 0 and "Hadamard" in result.out and "degree product" in result.out, result.err
    assert f"features of an edge ({', '.join(FITTED)})" in " ".join(run_cli("eval", "links", "--help").out.split())
    assert "Warning" not in result.err
    Vectors(["a0", "a1", "b0"], np.eye(3)).save("strange.txt")
    (tmp_path / "few.tsv").write_text("a0\ta1\nb0\ta2\na4\tb4\na5\tb5\n")
    result = run_cli("eval", "links", "strange.txt", "few.tsv", "--train=few.tsv")
    assert "most rows of few.tsv have a node without a vector" in result.err
    (tmp_path / "graph.csv").write_text("".join(f"{a},{b}\n" for a, b in EDGES))
    assert run_cli("split", "--edges", "graph.csv", "--out", "split").code == 0
    result = run_cli("eval", "links", "vectors.txt", "split/test.tsv", "--json")
    assert result.code == 0 and json.loads(result.out)["fitted_on"], result.err
    result = run_cli("eval", "classify", "vectors.txt", "labels.tsv", "--shares=0.5", "--seeds=2")
    assert result.code == 0 and "50%" in result.out and "2 labels, 1.00 for each" in result.out, result.err
    assert "Columns of labels.tsv: separated by tab; words = column 1; labels = column 2\n" in result.out
    one = ["eval", "classify", "vectors.txt", "labels.tsv", "--shares=0.5", "--seeds=1"]
    assert "±" in result.out and "±" not in run_cli(*one).out
    assert json.loads(run_cli(*one, "--json").out)["shares"]["0.5"]["micro"][1] is None
    for more, unknown in (("", 0), ("other\t1\n", 1)):
        labels = "node\tlabel\n" + "".join(f"{node}\t{block}\n" for node, block in BLOCK.items()) + more
        (tmp_path / "labels.tsv").write_text(labels.replace("\t1\n", f"\t{next(iter(BLOCK.values()))}\n"))
        told = json.loads(run_cli("eval", "classify", "vectors.txt", "labels.tsv", "--shares=0.5", "--json").out)
        assert (told["unknown"], told["labels"]) == (unknown, 2)  # the heading is no node


def test_users_and_items_have_no_links(tmp_path, monkeypatch, run_cli):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{i}\t{(3 * i + k) % 20}\n" for i in range(20) for k in range(3))
    Path("pairs.tsv").write_text(rows)
    small = "--dim=4", "--epochs=1", "--workers=1"
    assert run_cli("train", "--pairs=pairs.tsv", "--rectangular", "--save-model=model", *small).code == 0
    found = run_cli("eval", "links", "model", "pairs.tsv", "--train=pairs.tsv")
    assert found.code == 1 and "links are between nodes of one" in found.err and "eval ranking" in found.err
    found = run_cli("eval", "links", "model", "pairs.tsv", "--train=pairs.tsv", "--readout=out", "--seeds=1")
    assert found.code == 0, found.err


def test_edges_of_numbered_rows_are_told_and_known_ones_left_out_both_ways(tmp_path, monkeypatch, run_cli):
    monkeypatch.chdir(tmp_path)
    for name, own in (("train", EDGES[8:]), ("test", EDGES[8::7])):
        Path(f"{name}.txt").write_text("".join(f"{i} {a} {b}\n" for i, (a, b) in enumerate(own)))
    columns = "--source-col=2", "--target-col=3", "--weight-col=none"
    small = "--dim=4", "--epochs=1", "--workers=1", "--walks-per-node=1", "--walk-length=5"
    assert run_cli("train", "--edges=train.txt", "--save-model=nodes", *columns, *small).code == 0
    told = run_cli("eval", "links", "nodes", "test.txt", "--train=train.txt", "--seeds=1")
    read = "separated by blank; sources = column 2; targets = column 3; no weights; not used: column 1 with 0"
    assert told.out.startswith("20 edges of test.txt;"), told.err
    assert f"Columns of test.txt, train.txt: {read}; edges in both directions\n" in told.out
    told = run_cli("eval", "ranking", "nodes", "test.txt", "--exclude-known=train.txt")
    assert "20 of 20 pairs evaluated" in told.out and "40 distinct ones" in told.out, told.err
    head, tail = EDGES[9]
    for node, other in ((head, tail), (tail, head)):
        assert other in run_cli("recommend", "nodes", node, "-k", "99").out.split()
        assert other not in run_cli("recommend", "nodes", node, "-k", "99", "--exclude-known=train.txt").out.split()


def test_what_was_trained_on_the_held_out_edges_is_warned_of(tmp_path, monkeypatch, run_cli):
    monkeypatch.chdir(tmp_path)
    rows = [f"a{i},a{(i * 7 + k) % 40}\n" for i in range(40) for k in (1, 2, 3)]
    Path("all.csv").write_text("source,target\n" + "".join(rows))
    assert run_cli("split", "--edges", "all.csv", "--out", "parts").code == 0
    trained_on = ["--train=parts/train.tsv", "--valid=parts/valid.tsv", "--seeds=1"]
    small = "--dim=4", "--epochs=1", "--workers=1", "--walks-per-node=1", "--walk-length=5"
    for data, leak in (("all.csv", True), ("parts/train.tsv", False)):
        trained = run_cli("train", "--edges", data, "--save-model", "nodes", "--force", *small)
        assert trained.code == 0, trained.err
        told = run_cli("eval", "links", "nodes", "parts/test.tsv", "--seeds=1")
        assert told.code == 0, told.err
        assert ("the model was trained on" in told.err) == leak, told.err
        assert "of these edges are in" not in told.err
        n_known = len(Path("parts/train.tsv").read_text().splitlines()) // 2  # an edge stands there both ways
        told = run_cli("eval", "links", "nodes", "all.csv", *trained_on)
        assert f"Warning: {n_known} of these edges are in parts/train.tsv too" in told.err, told.err
