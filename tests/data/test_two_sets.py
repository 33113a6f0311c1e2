"""docs/items.md, "Two sets per row, and several tasks": its lines build the matrices that the comments describe."""

import itertools
from collections import Counter

import numpy as np
import scipy.sparse

from w2vneg import Input, Word2Vec

RNG = np.random.default_rng(3)
ITEMS, TAGS = 12, 4
ROWS = [(RNG.choice(np.arange(t, ITEMS, TAGS), 2, replace=False), [t]) for t in RNG.integers(0, TAGS, 300)]


def membership(sets, n):
    """Return which row holds what, csr (n_rows, n)."""
    ids = np.concatenate(sets)
    return scipy.sparse.csr_matrix((np.ones(len(ids)), ids, np.cumsum([0, *map(len, sets)])), (len(sets), n))


def test_a_product_counts_every_pair_across_two_sets():
    bought, tagged = membership([row[0] for row in ROWS], ITEMS), membership([row[1] for row in ROWS], TAGS)
    across = (bought.T @ tagged).tocoo()
    expected = Counter(itertools.chain.from_iterable(itertools.product(*map(tuple, row)) for row in ROWS))
    assert {(i, j): n for i, j, n in zip(across.row, across.col, across.data, strict=True)} == expected


def test_what_belongs_together_across_two_sets_is_learnt():
    bought, tagged = membership([row[0] for row in ROWS], ITEMS), membership([row[1] for row in ROWS], TAGS)
    word2vec = Word2Vec(loss="us", dim=8, epochs=20, workers=1)
    word2vec.fit(Input("pairs", bought.T @ tagged, rectangular=True))
    model = word2vec.model
    scores = model.vectors_in @ model.vectors_out.T
    best = np.array([int(tag) for tag in model.vocab_out.words])[scores.argmax(axis=1)]
    np.testing.assert_array_equal(best, [int(item) % TAGS for item in model.vocab.words])


def test_a_weighted_sum_trains_shared_vectors_on_two_tasks():
    """Items and tags in one vocabulary; the tag of an item is near to it, and so are items of the same tag."""
    bought, tagged = membership([row[0] for row in ROWS], ITEMS), membership([row[1] for row in ROWS], TAGS)
    beside, across = bought.T @ bought, bought.T @ tagged
    beside.setdiag(0)
    beside, across = 0.3 * beside / beside.sum(), 0.7 * across / across.sum()
    tasks = scipy.sparse.bmat([[beside, across / 2], [across.T / 2, None]]).tocsr()
    assert np.isclose(tasks.sum(), 1)
    assert np.isclose(tasks[:ITEMS, :ITEMS].sum(), 0.3)
    options = {"pair_weights": "sample", "pairs_per_epoch": 3000}
    word2vec = Word2Vec(loss="us", dim=8, epochs=20, workers=1, **options)
    word2vec.fit(Input("pairs", tasks))
    vectors = word2vec.vectors
    for tag in range(TAGS):
        nearest = {int(word) for word, _ in vectors.most_similar(str(ITEMS + tag), k=ITEMS // TAGS)}
        assert nearest == set(range(tag, ITEMS, TAGS))
