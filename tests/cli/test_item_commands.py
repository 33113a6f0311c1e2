"""Items from files to recommendations: where the commands meet."""

import json

import numpy as np
import pytest
import scipy.sparse

from w2vneg import Input, TrainConfig, Vectors, Vocabulary, Word2Vec
from w2vneg.data.inputs import encode_input
from w2vneg.ground.errors import ConfigError, FileNote
from w2vneg.run.model import Model
from w2vneg.run.search.tuning import tune
from w2vneg.run.validation import Validate

SMALL = ("--dim=4", "--epochs=1", "--workers=1", "--loss=ns")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with pairs of items, and of users and movies (as many as there are users)."""
    monkeypatch.chdir(tmp_path)
    rows = [f"i{i}\ti{j}\t{1 + (i * j) % 5}\n" for i in range(8) for j in range(8) if i != j]
    (tmp_path / "pairs.tsv").write_text("".join(rows))
    rows = [f"u{u}\tm{m}\t1\n" for u in range(8) for m in range(8) if u % 2 == m % 2]
    (tmp_path / "seen.tsv").write_text("".join(rows))
    return tmp_path


@pytest.fixture
def train(folder, run_cli):
    def run(*arguments, code=0):
        force = [] if "--resume" in arguments else ["--force"]
        result = run_cli("train", *SMALL, *arguments, *force)
        assert result.code == code, result.err
        return result

    return run


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("-", "/dev/stdout for standard output"),
        ("v.bin", "has the suffix of word2vec-binary; name it v.txt"),
        ("v.NPZ", "has the suffix of npz"),
        ("v.npz.gz", "has the suffix of npz; name it v.txt, then convert it: w2vneg export v.txt v.npz\n"),
        ("-v.npz", "convert it: w2vneg export ./-v.txt ./-v.npz"),
    ],
)
def test_a_name_of_vectors_promises_what_is_written(train, folder, name, said):
    assert said in train("--pairs", "pairs.tsv", "--output", name, code=2).err
    assert not (folder / name).exists()


@pytest.mark.parametrize(("data", "unit"), [(("--pairs", "pairs.tsv"), None), (("--baskets", "pairs.tsv"), "items")])
def test_events_have_the_rates_that_their_data_have(train, data, unit):
    events = map(json.loads, train(*data, "--log-json=-").out.splitlines())
    rounds = [event for event in events if event["event"] == "RoundDone"]
    rates = {name for event in rounds for name in event if name.endswith("_per_s")}
    assert rates == {"pairs_per_s", *([f"{unit}_per_s"] if unit else [])}


def test_files_that_a_shell_has_named_are_answered(train, folder):
    (folder / "other.tsv").touch()
    assert 'quote the pattern: --corpus "*.txt"' in train("--pairs", "pairs.tsv", "other.tsv", code=2).err


class TestNothingReadIsOverwritten:
    @pytest.mark.parametrize(
        ("arguments", "file"),
        [
            ("--pairs all --output all/one.tsv", "all/one.tsv"),
            ("--pairs all/*.tsv --output ./all/one.tsv", "all/one.tsv"),
            ("--pairs pairs.tsv --valid all/one.tsv --output all/one.tsv", "all/one.tsv"),
            (
                "--pairs pairs.tsv --valid pairs.tsv --valid-exclude-known all/one.tsv --output all/one.tsv",
                "all/one.tsv",
            ),
            ("--cooccurrence counts.npz --names names.txt --output names.txt", "names.txt"),
        ],
    )
    def test_by_vectors(self, train, folder, arguments, file):
        (folder / "all").mkdir()
        (folder / "all" / "one.tsv").write_text((folder / "pairs.tsv").read_text())
        scipy.sparse.save_npz("counts.npz", scipy.sparse.csr_matrix(np.ones((3, 3))))
        (folder / "names.txt").write_text("a\nb\nc\n")
        before = (folder / file).read_bytes()
        assert f"{file}, which is read" in train(*arguments.split(), code=2).err
        assert (folder / file).read_bytes() == before

    def test_by_a_run_that_is_resumed(self, train, folder, run_cli):
        (folder / "valid.tsv").write_text("i1\ti2\t1\n")
        train("--pairs", "pairs.tsv", "--valid", "valid.tsv", "--save-model", "model")
        result = run_cli("train", "--resume", "model", "--output", "valid.tsv")
        assert result.code == 2 and "which is read" in result.err
        assert (folder / "valid.tsv").read_text() == "i1\ti2\t1\n"


class TestTwoKinds:
    @pytest.fixture
    def model(self, train):
        train("--pairs", "seen.tsv", "--rectangular", "--save-model", "model")
        return Model.load("model")

    def test_each_matrix_is_exported_with_its_own_names(self, model, run_cli):
        for matrix, vocab, expected in (
            ("in", model.vocab, model.vectors_in),
            ("out", model.vocab_out, model.vectors_out),
        ):
            assert run_cli("export", "model", "new.txt", "--readout", matrix, "--force").code == 0
            written = Vectors.load("new.txt")
            assert written.words == vocab.words
            np.testing.assert_array_equal(written.matrix, expected)

    def test_there_is_no_sum(self, model, run_cli):
        result = run_cli("export", "model", "new.txt", "--readout", "sum")
        assert result.code == 1 and "two kinds of things here" in result.err

    def test_a_target_is_no_centre(self, model, run_cli):
        assert "the user 'm1', only an item of that name" in run_cli("recommend", "model", "m1").err

    def test_a_model_in_the_place_of_one_of_the_other_kind(self, model, train, run_cli):
        train("--pairs", "pairs.tsv", "--save-model", "model")
        assert run_cli("export", "model", "new.txt", "--readout", "out").code == 0
        assert set(Vectors.load("new.txt").words) == {f"i{i}" for i in range(8)}
        assert run_cli("recommend", "model", "i1").code == 0
        train("--pairs", "seen.tsv", "--rectangular", "--save-model", "model")
        assert run_cli("export", "model", "new.txt", "--readout", "out", "--force").code == 0
        assert set(Vectors.load("new.txt").words) == {f"m{m}" for m in range(8)}

    def test_each_side_keeps_to_a_vocabulary_of_its_own(self, model, train, folder):
        (folder / "users.tsv").write_text("u3\t9\nu2\t7\nnew\t1\n")
        (folder / "movies.tsv").write_text("m6\t9\nm1\t7\nm3\t7\n")
        rectangular = ("--pairs", "seen.tsv", "--rectangular", "--save-model", "again")
        for given in (("vocab",), ("vocab_out",), ("vocab", "vocab_out")):
            files = {"vocab": "users.tsv", "vocab_out": "movies.tsv"}
            flags = [word for name in given for word in ("--" + name.replace("_", "-"), files[name])]
            train(*rectangular, *flags)
            again = Model.load("again")
            assert again.vocab.words == (["u3", "u2", "new"] if "vocab" in given else model.vocab.words)
            assert again.vocab_out.words == (["m6", "m1", "m3"] if "vocab_out" in given else model.vocab_out.words)
        assert len(again.vectors_in) == len(again.vectors_out) == 3

    def test_those_of_a_model_folder_give_the_same_model(self, model, train):
        fixed = ("--vocab", "model/vocab.tsv", "--vocab-out", "model/vocab_out.tsv")
        train("--pairs", "seen.tsv", "--rectangular", *fixed, "--save-model", "again")
        np.testing.assert_array_equal(Model.load("again").vectors_out, model.vectors_out)

    def test_what_chose_the_items_is_told(self, model, train):
        chosen = ("--pairs", "seen.tsv", "--rectangular", "--max-vocab", "5")
        one = train(*chosen, "--vocab-out", "model/vocab_out.tsv", "--save-model", "again")
        assert "The columns are those of --vocab-out; --min-count and --max-vocab affect the rows only." in one.err
        again = Model.load("again")
        assert (len(again.vocab), len(again.vocab_out)) == (5, 8)
        both = train(*chosen, "--vocab", "model/vocab.tsv", "--vocab-out", "model/vocab_out.tsv")
        assert "The words are those of --vocab and --vocab-out; --min-count and --max-vocab have no effect." in both.err

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ("--pairs pairs.tsv --vocab-out no.tsv", "--pairs has one vocabulary, set by --vocab; give --rectang"),
            ("--baskets pairs.tsv --vocab-out no.tsv", "--baskets has one vocabulary, set by --vocab\n"),
            ("--resume model --vocab-out no.tsv", "takes its vocabulary from the model folder; leave --vocab-out out"),
            ("--resume model --vocab no.tsv", "takes its vocabulary from the model folder; leave --vocab out"),
            (
                "--pairs seen.tsv --rectangular --vocab-out model/vocab_out.tsv --output model/vocab_out.tsv",
                "would overwrite model/vocab_out.tsv, which is read",
            ),
        ],
    )
    def test_a_second_vocabulary_that_means_nothing_is_refused(self, model, run_cli, arguments, message):
        result = run_cli("train", *arguments.split())
        assert result.code == 2 and message in result.err

    def test_vocabularies_in_each_others_place_are_told(self, model, train):
        swapped = ("--vocab", "model/vocab_out.tsv", "--vocab-out", "model/vocab.tsv")
        result = train("--pairs", "seen.tsv", "--rectangular", *swapped, code=1)
        assert "no centre of the data is in the given vocabulary" in result.err
        result = train("--pairs", "seen.tsv", "--rectangular", "--vocab-out", "model/vocab.tsv", code=1)
        assert "no target of the data is in the given vocabulary" in result.err

    def test_two_vocabularies_from_python(self, model, folder):
        small = {"dim": 4, "epochs": 1, "workers": 1}
        few = Vocabulary(["m6", "m1"], [9, 7])
        word2vec = Word2Vec(**small)
        word2vec.fit(Input("pairs", "seen.tsv", rectangular=True), vocab=model.vocab, vocab_out=few)
        assert word2vec.model.vocab.words == model.vocab.words and word2vec.model.vocab_out.words == few.words
        encoded = encode_input(Input("pairs", "seen.tsv", rectangular=True))
        for data, message in (
            (Input("pairs", "pairs.tsv"), "only rectangular data have a second vocabulary"),
            ("pairs.tsv", "only rectangular data have a second vocabulary"),
            ([["m6", "m1"]] * 9, "sentences have one vocabulary"),
            (encoded, "encoded data have their vocabularies already"),
        ):
            with pytest.raises(ConfigError, match=message):
                Word2Vec(**small, min_count=1).fit(data, vocab_out=few)
        with pytest.raises(ConfigError, match="encoded data have their vocabularies already"):
            Word2Vec(**small).fit(encoded, vocab=model.vocab)

    def test_a_damaged_configuration_is_told(self, model, folder, run_cli):
        (folder / "model" / "config.json").write_text("[")
        result = run_cli("nearest", "u1", "--vectors", "model")
        assert result.code == 1 and "config.json: not JSON" in result.err


def test_a_model_of_items_has_no_likelihood_of_a_text(train, folder, run_cli):
    train("--pairs", "pairs.tsv", "--save-model", "model")
    (folder / "text.txt").write_text("i1 i2 i3\n")
    result = run_cli("eval", "likelihood", "model", "--corpus", "text.txt")
    assert result.code == 1 and "evaluate it with w2vneg eval ranking" in result.err


def test_lower_cased_names_are_found_by_all_that_read_pairs(train, folder, run_cli):
    (folder / "mixed.tsv").write_text((folder / "pairs.tsv").read_text().replace("i", "I"))
    result = train("--pairs", "mixed.tsv", "--lowercase", "--valid", "mixed.tsv", "--save-model", "model", "--json")
    assert "unknown to the training data" not in result.err
    found = run_cli("eval", "ranking", "model", "mixed.tsv", "--json", "--bootstrap", "0")
    assert json.loads(found.out)["test"]["evaluated"] == 1
    known = ["--exclude-known", "mixed.tsv"]
    assert json.loads(run_cli("recommend", "model", "I1", *known, "--json").out)["recommended"] == []


def test_known_pairs_of_other_items_are_told(train, folder):
    (folder / "other.tsv").write_text("x\ty\t1\n")
    result = train("--pairs", "pairs.tsv", "--valid", "pairs.tsv", "--valid-exclude-known", "other.tsv", code=1)
    assert "other.tsv: none of its 1 pairs" in result.err


@pytest.mark.parametrize(
    ("source", "options"),
    [
        ("--pairs pairs.tsv", ""),
        ("--baskets baskets.txt", "--ordered"),
        ("--baskets baskets.txt", "--by user"),
        ("--ratings ratings.csv --time-col 4 --min-rating 2", "--by time"),
        ("--ratings ratings.csv --time-col 4 --rectangular", "--by time"),
        ("--corpus baskets.txt --tokenizer whitespace --min-count 1 --window 2", ""),
    ],
)
def test_a_split_read_again_is_the_split(folder, run_cli, source, options):
    rng = np.random.default_rng(1)
    names = ["007", "7", 'say "hi"', "a,b", "naïve", "NA", "'q'", "x;y", "|", "e", "f", "g"]
    lines = [" ".join(names[i].replace(" ", "_") for i in rng.permutation(12)[:6]) for _ in range(60)]
    (folder / "baskets.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    rows = [
        f"u{u},{quoted[i]},{1 + (u + i) % 5},{rng.integers(99)}" for u in range(60) for i in rng.permutation(12)[:6]
    ]
    (folder / "ratings.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    result = run_cli("split", *source.split(), *options.split(), "--out", "parts", "--json")
    assert result.code == 0, result.err
    rectangular = "--rectangular" in source
    for part in json.loads(result.out)["parts"].values():
        again = encode_input(Input("pairs", f"parts/{part['file']}", rectangular=rectangular))
        assert (again.matrix.nnz, again.matrix.sum(dtype=np.float64)) == (part["pairs"], part["weight"])
        known = set(names) | {'say_"hi"'} | {f"u{u}" for u in range(60)} | {f"i{i}" for i in range(8)}
        assert known.issuperset(again.vocab.words) and known.issuperset(again.vocab_out.words)


@pytest.mark.parametrize(
    ("source", "unit"),
    [
        ("--corpus pairs.tsv --min-count 1", "words"),
        ("--baskets pairs.tsv --loss us", "items"),
        ("--pairs pairs.tsv", ""),
    ],
)
def test_progress_counts_what_is_gone_through(train, monkeypatch, source, unit):
    monkeypatch.setattr("w2vneg.cli.progress._LINE_EVERY", 0.0)
    lines = [line for line in train(*source.split(), "--output", "v.txt").err.splitlines() if "pairs/s" in line]
    assert lines
    for line in lines:
        assert ("/s, " in line.split("pairs/s")[0]) == bool(unit)
        assert f"k {unit}/s" in line or not unit


def test_a_place_for_a_search_that_cannot_be_written_is_told_before_data_are_read(folder, run_cli, monkeypatch):
    monkeypatch.setattr("w2vneg.data.inputs.encode_input", lambda *a, **o: pytest.fail("the data were read"))
    (folder / "file").write_text("")
    result = run_cli("tune", "--pairs=pairs.tsv", "--valid=pairs.tsv", "--grid=alpha=0.1", "--out=file/search")
    assert result.code == 1 and "cannot write file/search" in result.err


def test_weights_with_fractions_are_summed_for_people(folder, run_cli):
    (folder / "parts.tsv").write_text("a\tb\t2.5\nb\tc\t0.001\nc\ta\t1e3\na\tc\t1\n")
    table = run_cli("split", "--pairs", "parts.tsv", "--valid", "0", "--train", "0.8", "--out", "parts").out
    assert "00000" not in table and any(cell in table for cell in ("1,003.501", "1,004.5", "1,003.5", "1,001.001"))


def test_from_python_on_files_of_items(folder):
    word2vec = Word2Vec(dim=4, epochs=2, workers=1)
    with pytest.warns(FileNote, match="trained on pairs.tsv, which has these pairs too"):
        word2vec.fit(Input("pairs", "pairs.tsv"), valid=Validate("pairs.tsv", metric="ndcg@5", patience=1))
    assert word2vec.model.best.finished
    assert word2vec.vectors.words == word2vec.model.vocab.words
    encoded = encode_input(Input("pairs", "seen.tsv", rectangular=True))
    users = Word2Vec(dim=4, epochs=1, workers=1)
    assert users.fit(encoded).words == encoded.vocab.words
    users.save("users")
    again = Word2Vec.load("users")
    assert {name for name, _ in again.recommend("u1")} <= set(encoded.vocab_out.words)
    assert again.evaluate_ranking("seen.tsv", bootstrap=0).model.pairs == 32


def test_encoded_data_know_what_they_are(folder):
    (folder / "baskets.txt").write_text("a b c d e f g h i j k l\n" * 20)
    histories = encode_input(Input("baskets", "baskets.txt"))
    word2vec = Word2Vec(dim=4, epochs=1, workers=1, pairs_per_item=11)
    word2vec.fit(histories)
    assert (word2vec.model.config.source.name, word2vec.model.history[-1]["pairs"]) == ("baskets", 20 * 12 * 11)
    pairs = encode_input(Input("pairs", "seen.tsv", rectangular=True))
    with pytest.warns(FileNote, match="trained on 32 of these pairs"):
        validation = Validate("seen.tsv").of(pairs)
    found = tune(pairs, TrainConfig(dim=4, epochs=1, workers=1), [{"pairs_per_epoch": 5}], validation)
    assert found.best.reason is None


def test_a_run_knows_weights_and_rows_of_its_pairs_again(train, folder, run_cli):
    lines = ["a\tb\t2\n", "b\tc\t3\n", "c\ta\t4\n"]
    (folder / "three.tsv").write_text("".join(lines))
    train("--pairs", "three.tsv", "--save-model", "model")
    for other in (["a\tb\t3\n", *lines[1:]], ["a\tb\t2\n", "b\tc\t3\n", "b\ta\t4\n"]):
        (folder / "three.tsv").write_text("".join(other))
        result = run_cli("train", "--resume", "model")
        assert result.code == 1 and "was trained on other data" in result.err
    (folder / "three.tsv").write_text("".join(reversed(lines)))
    assert run_cli("train", "--resume", "model").code == 0
