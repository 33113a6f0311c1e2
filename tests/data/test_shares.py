"""Shares of ranks: together they are the whole, and each knows the whole's vocabulary."""

import numpy as np
import pytest
import scipy.sparse as sparse

from w2vneg import Vocabulary
from w2vneg.config import TrainConfig
from w2vneg.config.options import borders
from w2vneg.data.encoded import EncodedCorpus, EncodedGraph, EncodedPairs, encode_corpus
from w2vneg.data.encoded.corpus import going_round
from w2vneg.ground.errors import ConfigError

SENTENCES = [["a", "b", "c", "d"], ["b", "a"], ["c", "a", "b", "a", "d", "b", "c"]]


def even(n_ranks):
    return borders(TrainConfig(engine="virtual", ranks=n_ranks).resolved())


def sentences_of(corpus):
    return [corpus.ids[a:b].tolist() for a, b in zip(corpus.offsets, corpus.offsets[1:], strict=False)]


@pytest.fixture(scope="module")
def corpus():
    return encode_corpus(SENTENCES, min_count=1)


@pytest.mark.parametrize("n_ranks", [1, 2, 3, 4, 6])
def test_a_text_is_cut_into_stretches(corpus, n_ranks):
    shares = [corpus.share(slot, even(n_ranks)) for slot in range(n_ranks)]
    assert np.concatenate([share.ids for share in shares]).tolist() == corpus.ids.tolist()
    assert max(len(share) for share in shares) - min(len(share) for share in shares) <= 1
    for share in shares:
        assert share.vocab is corpus.vocab
        assert share.offsets[0] == 0 and share.offsets[-1] == len(share.ids) and (np.diff(share.offsets) > 0).all()
    ends = np.cumsum([0] + [len(share) for share in shares])
    cuts = {int(end + place) for end, share in zip(ends, shares, strict=False) for place in share.offsets}
    assert cuts == set(corpus.offsets.tolist()) | set(ends.tolist())


def test_a_text_of_one_line_is_cut_within_it():
    corpus = encode_corpus([["a", "b", "c", "d", "e", "f", "g", "h"]], min_count=1)
    assert [sentences_of(corpus.share(slot, even(2))) for slot in (0, 1)] == [[[0, 1, 2, 3]], [[4, 5, 6, 7]]]


def test_baskets_stay_whole(corpus):
    baskets = EncodedCorpus(corpus.ids, corpus.offsets, corpus.vocab, source="baskets")
    found = [sentences_of(baskets.share(slot, even(2))) for slot in (0, 1)]
    assert found[0] + found[1] == sentences_of(baskets)


def test_rows_of_pairs_go_round():
    rng = np.random.default_rng(1)
    matrix = sparse.random(9, 5, 0.6, format="csr", random_state=rng, dtype=np.float32)
    matrix.data = np.ceil(matrix.data * 5).astype(np.float32)
    vocab, vocab_out = (Vocabulary([f"{k:02}" for k in range(n)], [1] * n) for n in matrix.shape)
    pairs = EncodedPairs(matrix, vocab, vocab_out)
    shares = [pairs.share(slot, even(3)) for slot in range(3)]
    assert (sum(share.matrix for share in shares) != matrix).nnz == 0
    for slot, share in enumerate(shares):
        assert set(np.flatnonzero(np.diff(share.matrix.indptr)) % 3) <= {slot}
        walk = share.walk(TrainConfig(source="pairs", rectangular=True, pairs_per_epoch=1000, dim=4).resolved())
        np.testing.assert_allclose(walk.centre_weights, np.asarray(matrix.sum(axis=1)).ravel())
        drawn = walk.n_positions * walk.mean_group
        assert drawn == pytest.approx(1000 * share.matrix.sum() / matrix.sum(), abs=1)


def test_rows_and_nodes_go_round_by_shares():
    assert going_round(10, even(3)).tolist() == [0, 1, 2, 0, 1, 2, 0, 1, 2, 0]
    config = TrainConfig(engine="virtual", ranks=3, rank_shares="1,0.5,1", source="pairs").resolved()
    owners = going_round(1000, borders(config))
    assert np.bincount(owners).tolist() == [400, 200, 400]
    for k in range(1000):  # nobody is ever far behind: what is sorted by count is dealt out fairly
        done = np.bincount(owners[: k + 1], minlength=3)
        assert (np.abs(done - (k + 1) * np.array([0.4, 0.2, 0.4])) <= 0.61).all()
    ring = sparse.csr_matrix(np.roll(np.eye(5, dtype=np.float32), 1, axis=1))
    graph = EncodedGraph(ring, Vocabulary(list("abcde"), [1] * 5), directed=True)
    origins = [graph.share(slot, borders(config)).origins.tolist() for slot in range(3)]
    assert origins == [[0, 3], [2], [1, 4]]


def test_too_few_data_are_refused(corpus):
    with pytest.raises(ConfigError, match="too few for 9 ranks"):
        corpus.share(0, even(9))


def test_a_slow_rank_gets_less(corpus):
    config = TrainConfig(engine="virtual", ranks=3, rank_shares="2,2,1").resolved()
    parts = [corpus.share(slot, borders(config)) for slot in range(3)]
    assert [len(part) for part in parts] == [5, 5, 3] and np.concatenate([p.ids for p in parts]).tolist() == list(
        corpus.ids
    )
    for wrong, message in (
        ("1,2", "has 2 numbers for 3 ranks"),
        ("1,0,1", "numbers above 0"),
        ("1,x,1", "numbers above 0"),
    ):
        with pytest.raises(ConfigError, match=message):
            TrainConfig(engine="virtual", ranks=3, rank_shares=wrong).resolved()
