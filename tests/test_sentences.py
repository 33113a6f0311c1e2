"""Vectors of texts."""

import unicodedata

import numpy as np
import pytest

from w2vneg.ground.errors import ConfigError
from w2vneg.vectors import Vectors, keyed

MATRIX = np.array([[1, 0], [0, 2], [3, 4]], np.float32)
VECTORS = Vectors(["the", "cat", "sat"], MATRIX, [80, 15, 5])


def test_words_are_weighted_by_their_rarity():
    weights = 0.1 / (0.1 + np.array([0.8, 0.15, 0.05]))
    found = VECTORS.encode(["The cat!", ["sat"], ""], a=0.1)
    assert found.shape == (3, 2) and found.dtype == np.float32
    np.testing.assert_allclose(found[0], (weights[:2, None] * MATRIX[:2]).sum(0) / 3, rtol=1e-6)
    np.testing.assert_allclose(found[1], weights[2] * MATRIX[2], rtol=1e-6)
    assert not found[2].any()


def test_rows_have_length_one_if_asked():
    found = VECTORS.encode(["the cat", "unknown"], normalize=True)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), [1, 0], rtol=1e-6)


def test_the_plain_mean_is_the_exported_one(tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    pytest.importorskip("safetensors")
    VECTORS.save(tmp_path / "m", format="sentence-transformers")
    ids = tokenizers.Tokenizer.from_file(str(tmp_path / "m" / "tokenizer.json")).encode("The dog, the cat sat.").ids
    expected = np.vstack([MATRIX, np.zeros((1, 2), np.float32)])[ids].mean(0)
    np.testing.assert_allclose(VECTORS.encode(["The dog, the cat sat."], a=None)[0], expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("words", "text", "rows"),
    [
        (["लड़की", "किताब", "है"], "लड़की, किताब है।", [0, 3, 1, 2, 3]),
        (["می\u200cخواهم", "کتاب"], "می\u200cخواهم کتاب.", [0, 1, 2]),
        (["x²", "ⓐb", "٣"], "x² ⓐb ٣", [0, 1, 2]),
        (["a²", "b"], "a² b.", [0, 2]),
        (["m", "²"], "m² ²", [0, 1, 1]),
        (["σοφος", "οδός", "και"], "ΣΟΦΟΣ και ΟΔΌΣ, ΟΔΟ\u0301Σ", [0, 2, 1, 3, 3]),
        (["σας'ας", "οδός", "σ"], "ΣΑΣ'ΑΣ ΟΔΌσ Σ", [3, 3, 2]),
    ],
)
def test_texts_of_any_script_are_split_and_lowered_as_the_export_does(tmp_path, words, text, rows):
    agree(tmp_path, words, text, rows)


def agree(folder, words, text, rows):
    tokenizers = pytest.importorskip("tokenizers")
    pytest.importorskip("safetensors")
    vectors = Vectors(words, np.eye(len(words)))
    vectors.save(folder / "m", format="sentence-transformers")
    assert tokenizers.Tokenizer.from_file(str(folder / "m" / "tokenizer.json")).encode(text).ids == rows
    expected = np.vstack([vectors.matrix, np.zeros((1, len(words)), np.float32)])[rows].mean(0)
    np.testing.assert_allclose(vectors.encode([text], a=None)[0], expected, rtol=1e-6)


def test_pieces_are_those_of_the_library():
    tokenizers = pytest.importorskip("tokenizers")
    kinds = {code: unicodedata.category(chr(code)) for code in range(32, 0x20000)}
    text = " ".join(f"a{chr(code)}" for code, kind in kinds.items() if kind not in ("Cn", "Cs"))
    assert keyed._pieces().findall(text) == [
        piece for piece, _ in tokenizers.pre_tokenizers.Whitespace().pre_tokenize_str(text)
    ]


def test_what_cannot_be_encoded_is_refused():
    with pytest.raises(ConfigError, match="a=None"):
        Vectors(["a"], [[1.0]]).encode(["a"])
    with pytest.raises(ConfigError, match="list of texts"):
        VECTORS.encode("the cat")
    with pytest.raises(ConfigError, match="positive"):
        VECTORS.encode(["the cat"], a=0)


def test_word_movers_distance():
    wv = Vectors(["a", "b", "c"], [[0.0, 1.0], [3.0, 1.0], [0.0, 5.0]])
    assert wv.wmdistance(["a", "b"], ["b", "a", "x"]) == pytest.approx(0, abs=1e-9)
    assert wv.wmdistance(["a"], ["b", "c"], norm=False) == pytest.approx(3.5)
    assert wv.wmdistance(["a", "a", "b"], ["c"], norm=False) == pytest.approx((4 * 2 + 5) / 3)
    assert wv.wmdistance(["x"], ["a"]) == float("inf")
