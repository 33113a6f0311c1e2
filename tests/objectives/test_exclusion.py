"""What a negative must not be, against the rules said plainly, over random groups. Runs with and without the JIT."""

import numpy as np
import pytest
from drawing import SLOW, compiled_only

from w2vneg import Word2Vec
from w2vneg.config import TrainConfig
from w2vneg.config.options import EXCLUSIONS
from w2vneg.data.encoded import EncodedCorpus
from w2vneg.data.vocab import Vocabulary
from w2vneg.ground.jit import njit
from w2vneg.kernels.contracts import exclude
from w2vneg.objectives.samplers.exclusions import make_exclusion

N_VOCAB, WINDOW = 30, 3


def corpus():
    """Return sentences (list of list of int) over all words but the last, which stands alone, and their encoding."""
    rng = np.random.default_rng(3)
    sentences = [rng.integers(0, N_VOCAB - 1, n).tolist() for n in rng.integers(1, 9, 25)] + [[N_VOCAB - 1]]
    offsets = np.r_[0, np.cumsum([len(sentence) for sentence in sentences])].astype(np.int64)
    counts = np.arange(2 * N_VOCAB, N_VOCAB, -1)
    vocab = Vocabulary([f"w{i:02}" for i in range(N_VOCAB)], counts)
    return sentences, EncodedCorpus(np.concatenate(sentences).astype(np.int32), offsets, vocab)


def known_pairs(sentences):
    return {
        (i, j)
        for sentence in sentences
        for a, i in enumerate(sentence)
        for b, j in enumerate(sentence)
        if 0 < abs(a - b) <= WINDOW
    }


RULES = {
    "none": lambda centre, j, positive, positives, known: False,
    "target": lambda centre, j, positive, positives, known: j == positive,
    "window": lambda centre, j, positive, positives, known: j in positives,
    "known": lambda centre, j, positive, positives, known: j == positive or (centre, j) in known,
}


@njit
def exclude_each(exclusion, centres, positives, sizes, ids, weights, found):
    for g in range(len(centres)):
        found[g] = exclude(exclusion, centres[g], positives[g], sizes[g], ids[g], weights[g])


def test_there_is_a_rule_for_every_exclusion():
    assert set(RULES) == set(EXCLUSIONS)


@pytest.mark.parametrize("name", EXCLUSIONS)
def test_excluded_negatives_weigh_nothing_and_the_others_what_they_weighed(name):
    sentences, encoded = corpus()
    known = known_pairs(sentences)
    rng = np.random.default_rng(9)
    groups, n, most = 300 if SLOW else 5_000, 12, 6
    centres = rng.integers(0, N_VOCAB, groups).astype(np.int32)
    positives = rng.integers(0, N_VOCAB, (groups, most)).astype(np.int32)
    sizes = rng.integers(1, most + 1, groups)
    ids = rng.integers(-1, N_VOCAB, (groups, 1 + n)).astype(np.int32)  # -1: a place that stays empty
    ids[:, 0] = positives[:, 0]
    weights = rng.uniform(0.5, 2, ids.shape).astype(np.float32)
    before, found = weights.copy(), np.zeros(groups, bool)
    exclude_each(
        make_exclusion(name, encoded, TrainConfig(window=WINDOW).resolved()),
        centres,
        positives,
        sizes,
        ids,
        weights,
        found,
    )
    banned = np.zeros(ids.shape, bool)
    for g in range(groups):
        mine = set(positives[g, : sizes[g]].tolist())
        for k in range(1, 1 + n):
            banned[g, k] = RULES[name](int(centres[g]), int(ids[g, k]), int(ids[g, 0]), mine, known)
    assert np.array_equal(weights, np.where(banned, 0, before))
    assert np.array_equal(found, banned.any(axis=1))
    assert banned.any() == (name != "none")


@pytest.mark.slow
@compiled_only
def test_training_with_known_pairs_excluded_never_moves_them_as_negatives():
    """Words meet only within their topic: with all known pairs excluded, noise comes from the other one alone."""
    rng = np.random.default_rng(0)
    sentences = [[f"{'ab'[s % 2]}{i}" for i in rng.integers(0, 6, 12)] for s in range(400)]
    options = {"loss": "ns", "dim": 8, "window": 4, "min_count": 1, "subsample": 0, "workers": 1, "alpha": 0.1}
    vectors = Word2Vec(exclude="known", sampler="bernoulli", epochs=4, **options)
    vectors.fit(sentences)
    model = vectors.model
    logits = model.vectors_in @ model.vectors_out.T
    topics = np.array([word[0] for word in model.vocab.words])
    same = topics[:, None] == topics
    assert logits[same].min() > 2  # never pushed down, but pulled up again and again
    assert logits[~same].max() < 0
