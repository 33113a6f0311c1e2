"""Draws of w2vneg.torch against the distributions they say they have, which are written down again here."""

import math

import naive
import numpy as np
import pytest
from scipy import sparse, stats

torch = pytest.importorskip("torch", reason='PyTorch is not installed: pip install "w2vneg[torch]"')

from w2vneg.ground.errors import ConfigError  # noqa: E402
from w2vneg.torch import SampledLoss  # noqa: E402
from w2vneg.torch import samplers as torch_samplers  # noqa: E402
from w2vneg.torch.samplers import View  # noqa: E402

V, DIM, ROWS, DRAWS = 30, 5, 3, 4000
COUNTS = np.arange(V, 0, -1) ** 2
UNLIKELY = 1e-6
CONTEXT = (4, 0, 9)
_RNG = np.random.default_rng(5)
BIGRAMS = np.where(_RNG.random((V, V)) < 0.3, _RNG.integers(1, 9, (V, V)), 0)
BIGRAMS[9] = 0  # a context that nothing follows
HIDDEN, WEIGHT, BIAS = _RNG.normal(size=(ROWS, DIM)), _RNG.normal(size=(V, DIM)), _RNG.normal(size=V)
LOGITS = HIDDEN @ WEIGHT.T + BIAS


def power(kernel):
    weights = np.array([kernel(row) for row in LOGITS])
    return weights / weights.sum(axis=1, keepdims=True)


def bigram():
    p = naive.popularity(COUNTS, 0.75)
    rows = [0.8 * BIGRAMS[i] / BIGRAMS[i].sum() + 0.2 * p if BIGRAMS[i].any() else p for i in CONTEXT]
    return np.array(rows)


def boltzmann(degeneracy, temperature, logits=LOGITS):
    return np.array([naive.boltzmann(row, degeneracy, temperature) for row in logits])


LAWS = {  # options -> what draws must follow, (ROWS, V) or (V,)
    "uniform": ({"loss": "us"}, np.full(V, 1 / V)),
    "popularity": ({"loss": "ps", "noise_exponent": 0.5}, naive.popularity(COUNTS, 0.5)),
    "log-uniform": ({"loss": "pops"}, np.log((np.arange(V) + 2) / (np.arange(V) + 1)) / math.log(V + 1)),
    "bigram": (
        {"loss": "relaxed", "sampler": "bigram", "back_off": 0.2, "neighbours": sparse.csr_matrix(BIGRAMS)},
        bigram(),
    ),
    "boltzmann": (
        {"loss": "pbs", "method": "exact", "temp": 2.0, "noise_exponent": 0.75},
        boltzmann(naive.popularity(COUNTS, 0.75), 2.0),
    ),
    "selfplay of |s|": (
        {"loss": "selfplay", "method": "exact", "absolute_softmax": True},
        boltzmann(np.ones(V), 1.0, np.abs(LOGITS)),
    ),
    "quadratic": ({"loss": "kernel-quadratic", "kernel_alpha": 3.0}, power(lambda s: 3 * s**2 + 1)),
    "quartic": ({"loss": "kernel-quartic"}, power(lambda s: s**4 + 1)),
}


def view_of(rows=slice(None)):
    parts = [torch.tensor(part, dtype=torch.float32) for part in (HIDDEN[rows], WEIGHT, BIAS)]
    targets = torch.tensor([1, 7, 28])[rows]
    return View(parts[0], targets, torch.tensor(CONTEXT)[rows], *parts[1:])


def drawn(options, n, seed=1, view=None, shared=False):
    sampler = SampledLoss(COUNTS, DIM, **options).sampler
    return sampler(view or view_of(), n, shared, torch.Generator().manual_seed(seed))


def fits(ids, law):
    """p-value of the chi-square test of ids that they follow a law."""
    seen = np.bincount(ids.numpy().ravel(), minlength=len(law))
    return stats.chisquare(seen, seen.sum() * law).pvalue


@pytest.mark.parametrize("name", LAWS)
def test_draws_follow_their_law_and_log_q_says_which(name):
    options, law = LAWS[name]
    law = np.broadcast_to(law, (ROWS, V))
    view = view_of()
    ids, log_q, log_q_positive = drawn(options, DRAWS)
    assert ids.shape == (ROWS, DRAWS)
    for row in range(ROWS):
        assert fits(ids[row], law[row]) > UNLIKELY
        np.testing.assert_allclose(log_q[row].exp(), law[row][ids[row]], rtol=2e-5)
        assert log_q_positive[row].exp().item() == pytest.approx(law[row][view.targets[row]], rel=2e-5)


@pytest.mark.parametrize("name", ["uniform", "popularity", "log-uniform"])
def test_a_batch_shares_what_looks_at_no_context(name):
    options, law = LAWS[name]
    ids, log_q, log_q_positive = drawn(options, DRAWS, shared=True)
    assert ids.shape == log_q.shape == (DRAWS,)
    assert log_q_positive.shape == (ROWS,)
    assert fits(ids, law) > UNLIKELY


@pytest.mark.parametrize("method", ["sir", "rolling"])
def test_draws_among_many_candidates_follow_nearly_the_boltzmann_law(method):
    options = {"loss": "pbs", "method": method, "candidates": 4000, "temp": 2.0}
    law = boltzmann(naive.popularity(COUNTS, 1.0), 2.0)
    ids, log_q, log_q_positive = drawn(options, DRAWS)
    for row in range(ROWS):
        seen = np.bincount(ids[row], minlength=V) / DRAWS
        assert 0.5 * np.abs(seen - law[row]).sum() < 0.1
        np.testing.assert_allclose(log_q[row], np.log(law[row][ids[row]]), atol=0.15)
    assert log_q_positive[0].item() == pytest.approx(math.log(law[0][1]), abs=0.15)


def test_rolling_candidates_are_kept_and_the_oldest_replaced():
    sampler = SampledLoss(COUNTS, DIM, loss="pbs", candidates=50, replaced=2).sampler
    generator = torch.Generator().manual_seed(1)
    sampler(view_of(), 3, False, generator)
    before = sampler.candidates.clone()
    ids, _, _ = sampler(view_of(), 3, False, generator)
    assert (before >= 0).all()
    assert torch.equal(sampler.candidates[:-6], before[6:])  # 3 examples, 2 each
    assert torch.isin(ids, sampler.candidates).all()


@pytest.mark.parametrize("shared", [False, True])
def test_every_target_enters_by_itself_with_its_own_probability(shared, monkeypatch):
    monkeypatch.setattr(torch_samplers, "_CELLS", 500 * V)
    loss = SampledLoss(COUNTS, DIM, loss="css-bernoulli", negatives=5, noise_exponent=0.5)
    b = loss.sampler.log_b.exp().numpy()
    assert b.sum() == pytest.approx(5, rel=1e-5)
    sets = 1 if shared else 2100
    view = View(torch.zeros(sets, DIM), torch.arange(sets) % V, None, torch.zeros(V, DIM), None)
    generator, seen, n = torch.Generator().manual_seed(1), np.zeros(V), 300 if shared else 1
    for _ in range(n):
        ids, log_q, log_q_positive = loss.sampler(view, 5, shared, generator)
        ids, log_q = ids.view(sets, -1).numpy(), log_q.view(sets, -1).numpy()
        there = ids >= 0
        number = there.sum(axis=1, keepdims=True)
        assert all(len(set(row[row >= 0])) == k for row, k in zip(ids, number[:, 0], strict=True))
        np.testing.assert_allclose(np.exp(log_q[there]), (b[ids] / np.maximum(number, 1))[there], rtol=1e-5)
        assert np.isinf(log_q[~there]).all()
        np.testing.assert_allclose(log_q_positive.exp(), b[view.targets] / np.maximum(number[:, 0], 1), rtol=1e-5)
        seen += np.bincount(ids[there], minlength=V)
    total = sets * n
    z = (seen - total * b) / np.sqrt(total * b * (1 - b))
    assert stats.chi2.sf((z**2).sum(), V) > UNLIKELY


def test_the_hardest_of_some_follow_their_law():
    ids, log_q, _ = drawn({"loss": "dns", "candidates": 3}, DRAWS)
    assert log_q is None
    for row in range(ROWS):
        law = naive.hardest_of(naive.popularity(COUNTS, 0.75), LOGITS[row], 3)
        assert fits(ids[row], law) > UNLIKELY


def test_blocks_of_rows_draw_what_all_rows_together_do(monkeypatch):
    monkeypatch.setattr(torch_samplers, "_CELLS", 2 * V)
    options, law = LAWS["quadratic"]
    ids, log_q, log_q_positive = drawn(options, DRAWS)
    assert ids.shape == (ROWS, DRAWS) and log_q_positive.shape == (ROWS,)
    for row in range(ROWS):
        assert fits(ids[row], law[row]) > UNLIKELY
        np.testing.assert_allclose(log_q[row].exp(), law[row][ids[row]], rtol=2e-5)


@pytest.mark.parametrize("name", LAWS)
def test_a_generator_decides_all_draws(name):
    options, _ = LAWS[name]
    first, again, other = (drawn(options, 50, seed)[0] for seed in (7, 7, 8))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def bigram_of(neighbours, context):
    """Return (ids, log q of all targets) for one context: int64 (V, DRAWS), float (V,)."""
    options = {"loss": "css", "sampler": "bigram", "back_off": 0.2, "noise_exponent": 0.75, "neighbours": neighbours}
    view = View(torch.zeros(V, DIM), torch.arange(V), torch.full((V,), context), torch.zeros(V, DIM), None)
    ids, log_q, log_q_of_all = drawn(options, DRAWS, view=view)
    torch.testing.assert_close(log_q, log_q_of_all[ids], atol=1e-5, rtol=0)
    return ids, log_q_of_all


def _as_given(how):
    """Return `BIGRAMS` as users write them."""
    counts = sparse.csr_matrix(BIGRAMS)
    rows, columns, data = sparse.find(counts)
    order = np.lexsort((-columns, rows))  # columns fall
    falling = sparse.csr_matrix((data[order], columns[order], counts.indptr), (V, V))
    twice = [np.concatenate([part, part]) for part in (data, rows, columns)]
    zeros = sparse.csr_matrix((np.zeros(1, int), ([9], [3])), (V, V))
    return {
        "unsorted": falling,
        "twice": sparse.csr_matrix(sparse.coo_matrix((twice[0], (twice[1], twice[2])), (V, V))),
        "coordinates": sparse.coo_matrix((twice[0], (twice[1], twice[2])), (V, V)),
        "weights": counts * 1e-3,
        "a zero": counts + zeros,
    }[how]


@pytest.mark.parametrize("how", ["unsorted", "twice", "coordinates", "weights", "a zero"])
def test_neighbours_in_any_order_and_scale_give_one_law(how):
    neighbours = _as_given(how)
    former = neighbours.copy()
    for context, law in zip(CONTEXT, bigram(), strict=True):
        ids, log_q = bigram_of(neighbours, context)
        np.testing.assert_allclose(log_q.exp(), law, rtol=2e-5)
        assert fits(ids, law) > UNLIKELY
    assert neighbours.nnz == former.nnz and np.array_equal(neighbours.data, former.data)  # the caller's own


def test_twice_in_a_row_is_the_sum():
    row = sparse.csr_matrix((np.array([1, 1, 2]), np.array([3, 3, 5]), np.array([0, 3])), (1, V))
    _, log_q = bigram_of(row, 0)
    p = naive.popularity(COUNTS, 0.75)
    assert log_q[3].exp().item() == pytest.approx(0.8 * 0.5 + 0.2 * p[3], rel=1e-5)


def test_a_context_below_zero_leaves_popularity_alone():
    p = naive.popularity(COUNTS, 0.75)
    for context in (-1, -V):
        ids, log_q = bigram_of(sparse.csr_matrix(BIGRAMS), context)
        np.testing.assert_allclose(log_q.exp(), p, rtol=2e-5)
        assert fits(ids, p) > UNLIKELY


def test_a_context_of_32_bits_finds_its_row():
    n = 50_000  # n² is beyond 32 bits
    far = sparse.csr_matrix((np.ones(1), ([n - 1], [3])), (n, n))
    sampler = SampledLoss(np.ones(n), 1, loss="css", sampler="bigram", neighbours=far).sampler
    context = torch.tensor([n - 1], dtype=torch.int32)
    _, _, log_q = sampler(View(torch.zeros(1, 1), torch.tensor([3]), context, torch.zeros(n, 1), None), 1, False, None)
    assert log_q.exp().item() == pytest.approx(0.9 + 0.1 / n, rel=1e-5)


@pytest.mark.parametrize(
    ("neighbours", "message"),
    [
        (BIGRAMS, "not ndarray: use scipy.sparse.csr_matrix"),
        (sparse.csr_matrix((V, V + 2)), r"a column for each of 30 targets, found shape \(30, 32\)"),
        (sparse.csr_matrix((V, V - 2)), "a column for each of 30 targets"),
        (sparse.csr_matrix(-BIGRAMS), "none below 0"),
        (sparse.csr_matrix(BIGRAMS * np.nan), "all finite"),
    ],
)
def test_neighbours_that_are_no_counts_are_refused(neighbours, message):
    with pytest.raises(ConfigError, match=message):
        SampledLoss(COUNTS, DIM, loss="css", sampler="bigram", neighbours=neighbours)


def test_a_context_without_a_row_is_refused():
    with pytest.raises(ConfigError, match="context must be below 7"):
        bigram_of(sparse.csr_matrix(BIGRAMS[:7]), 9)


@pytest.mark.parametrize("name", ["boltzmann", "quadratic", "rolling"])
def test_probabilities_keep_their_precision_under_autocast(name):
    options = {"loss": "pbs", "candidates": 50} if name == "rolling" else LAWS[name][0]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        _, log_q, log_q_positive = drawn(options, 50)
    assert log_q.dtype == log_q_positive.dtype == torch.float32


def test_bigram_without_neighbours_or_context_says_so():
    with pytest.raises(ConfigError, match="bigram"):
        SampledLoss(COUNTS, DIM, loss="css", sampler="bigram")
    loss = SampledLoss(COUNTS, DIM, loss="css", sampler="bigram", neighbours=sparse.csr_matrix((V, V), dtype=np.int64))
    with pytest.raises(ConfigError, match="context"):
        loss(torch.zeros(2, DIM), torch.tensor([1, 2]))
    assert torch.isfinite(loss(torch.zeros(2, DIM), torch.tensor([1, 2]), torch.tensor([0, 3])))  # popularity alone
