"""``benchmarks bounds``: the folded text, and the share of a pair's time that each part takes."""

import numpy as np
import pytest

from benchmarks import bounds
from w2vneg.data.encoded import encode_corpus


def test_a_folded_text_has_as_many_tokens_and_few_words(tmp_path):
    (tmp_path / "text").write_text("a b c d e f g a b\na c a\n")
    encoded = encode_corpus([str(tmp_path / "text")], min_count=1, use_cache=False)
    few = bounds.folded(encoded, 2)
    assert len(few) == len(encoded) and np.array_equal(few.offsets, encoded.offsets)
    assert np.array_equal(few.vocab.counts, np.bincount(few.ids, minlength=2)) and len(few.vocab) == 2
    assert len({(old % 2, new) for old, new in zip(encoded.ids, few.ids, strict=True)}) == 2


def test_what_is_saved_is_relative_to_the_same_round():
    times = {part: [50.0, 50.0] for part in bounds.PARTS} | {bounds.AS_IS: [100.0, 200.0]}
    last = bounds.table({"ns": times}).splitlines()[-1]
    assert last == "| ns | 150 | " + " | ".join(["62% (50%–75%)"] * len(bounds.PARTS)) + " |"


@pytest.mark.slow
def test_the_command_measures_every_part(run_bench, tmp_path):
    (tmp_path / "text").write_text("a b c d e f g h\n" * 300)
    flags = "--only", "ns shared", "--repeats", 1, "--tokens", 500, "--min-count", 1, "--dim", 8
    result = run_bench("bounds", "--corpus", tmp_path / "text", *flags)
    assert result.code == 0, result.err
    head, line = (result.out.splitlines()[k] for k in (-3, -1))
    assert head.count("|") == line.count("|") == 6 and line.startswith("| ns shared | ")
