"""The module that a model ends with: values, gradients of vectors, unbiased estimates, exclusion, state, refusals."""

import copy
import subprocess
import sys
from pathlib import Path

import naive
import numpy as np
import pytest
from scipy import sparse

from w2vneg.ground.errors import ConfigError, UnknownNameError

torch = pytest.importorskip("torch", reason='PyTorch is not installed: pip install "w2vneg[torch]"')

from torch import nn  # noqa: E402
from torch.nn.functional import cross_entropy, log_softmax  # noqa: E402

from w2vneg.torch import SampledLoss  # noqa: E402

torch.set_num_threads(1)  # threads that wait for one another take longer beside other tests

V, DIM, B = 40, 6, 5
COUNTS = np.arange(V, 0, -1) ** 2
_FLAT = {"noise_exponent": 0.5}


def batch(seed=0, size=B, scale=1.0):
    generator = torch.Generator().manual_seed(seed)
    hidden = scale * torch.randn(size, DIM, generator=generator)
    return hidden.requires_grad_(), torch.randint(V, (size,), generator=generator)


def made(loss, seed=0, **options):
    torch.manual_seed(seed)
    return SampledLoss(COUNTS, DIM, loss, **options)


@pytest.mark.parametrize("name", ["ns", "css", "large-vocab", "nce", "ranking", "us", "importance"])
@pytest.mark.parametrize("shared", [False, True])
def test_gradients_of_vectors_are_the_oracles_for_the_same_candidates(name, shared):
    loss = made(name, negatives=6, reduction="sum", shared=shared)
    hidden, targets = batch()
    value = loss(hidden, targets, generator=torch.Generator().manual_seed(3))
    value.backward()
    draws = loss.sampler(_view(loss, hidden, targets), loss.config.negatives, shared, torch.Generator().manual_seed(3))
    ids, log_q, log_q_positive = draws[0].expand(B, -1), draws[1].expand(B, -1), draws[2]
    x, out = hidden.detach().numpy().astype(float), loss.output.weight.detach().numpy().astype(float)
    total, at_hidden, at_out = 0.0, np.zeros((B, DIM)), np.zeros((V, DIM))
    for k in range(B):
        rows = np.array([int(targets[k]), *ids[k].tolist()])
        logs = np.array([float(log_q_positive[k]), *log_q[k].tolist()])
        weights = np.ones(7)
        if loss.config.exclude == "target":
            weights[1:] = rows[1:] != rows[0]
        oracle = naive.LOSSES["relaxed" if name == "us" else name]
        options = {"margin": np.log(V - 1)} if name == "ranking" else {}
        one, slopes = oracle(out[rows] @ x[k], weights, logs, **options)
        total += one
        at_hidden[k] = slopes @ out[rows]
        np.add.at(at_out, rows, np.outer(slopes, x[k]))
    assert value.item() == pytest.approx(total, rel=1e-5)
    np.testing.assert_allclose(hidden.grad.numpy(), at_hidden, atol=1e-5, rtol=1e-5)
    np.testing.assert_allclose(loss.output.weight.grad.numpy(), at_out, atol=1e-5, rtol=1e-5)


def _view(loss, hidden, targets):
    from w2vneg.torch.samplers import View

    return View(hidden.detach(), targets, None, loss.output.weight.detach(), None)


def test_the_full_softmax_is_cross_entropy_and_log_prob_its_opposite():
    loss = made("softmax", bias=True, reduction="none")
    hidden, targets = batch()
    expected = cross_entropy(loss.output(hidden), targets, reduction="none")
    torch.testing.assert_close(loss(hidden, targets), expected)
    log_p = loss.log_prob(hidden)
    torch.testing.assert_close(-log_p[torch.arange(B), targets], expected)
    torch.testing.assert_close(log_p.exp().sum(dim=1), torch.ones(B))
    penalised = made("softmax", self_normalise="0.5", bias=True, reduction="none")
    penalised.load_state_dict(loss.state_dict())
    torch.testing.assert_close(penalised(hidden, targets), expected + 0.5 * loss.output(hidden).logsumexp(dim=1) ** 2)


@pytest.mark.parametrize("name", ["softmax", "relaxed", "ns", "css", "us", "dns", "cis", "kernel-quadratic"])
def test_autocast_multiplies_in_bfloat16_and_sums_in_float32(name):
    loss = made(name, seed=1)
    hidden, targets = batch(size=64)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        value, log_p = loss(hidden, targets), loss.log_prob(hidden)
        scores = loss.output(hidden)
    assert scores.dtype == torch.bfloat16
    assert value.dtype == log_p.dtype == torch.float32
    full = cross_entropy(scores.abs().float() if loss.config.absolute_softmax else scores.float(), targets)
    torch.testing.assert_close(-log_p[torch.arange(64), targets].mean(), full)
    if name == "softmax":
        torch.testing.assert_close(value, full)


@pytest.mark.parametrize("weigher", ["none", "importance", "self-adversarial", "discriminator"])
@pytest.mark.parametrize("name", ["relaxed", "ns", "css", "nce", "importance", "blackout", "ranking"])
def test_a_set_that_nobody_enters_has_a_finite_loss(name, weigher):
    given = {"exclude": "target"} if name in ("css", "blackout") else {}
    loss = made(name, sampler="bernoulli", weigher=weigher, negatives=1, reduction="none", **given)
    hidden, targets = batch(size=64)
    values = loss(hidden, targets, generator=torch.Generator().manual_seed(3))
    draws = loss.sampler(_view(loss, hidden, targets), 1, False, torch.Generator().manual_seed(3))
    assert (draws[0] < 0).all(dim=1).any()
    values.sum().backward()
    assert torch.isfinite(values).all() and torch.isfinite(hidden.grad).all()


@pytest.mark.parametrize(
    "options",
    [
        {**_FLAT},
        {**_FLAT, "shared": True},
        {**_FLAT, "shared": True, "spare": 5},
        {"sampler": "uniform"},
        {"sampler": "kernel"},
    ],
    ids=["popularity", "shared", "spare", "uniform", "kernel"],
)
def test_the_estimate_of_the_normaliser_is_unbiased(options):
    """E e^{L} of complementary sums is Z / e^{s₀}, whatever the noise."""
    loss = made("css", negatives=5, reduction="none", **options)
    hidden, target = batch(size=1)
    exact = (-loss.log_prob(hidden)[0, target]).exp().item()
    generator = torch.Generator().manual_seed(1)
    sets = 2000
    if options.get("shared"):
        found = torch.cat([loss(hidden, target, generator=generator).detach().exp() for _ in range(sets)])
    else:
        found = loss(hidden.expand(sets, -1), target.expand(sets), generator=generator).detach().exp()
    error = found.std().item() / sets**0.5
    assert abs(found.mean().item() - exact) < 5 * error
    assert error < 0.06 * exact


def test_softmax_draws_have_the_full_gradient_on_average_for_any_number():
    """Theorem 2.1 of the kernel paper: with q the softmax of the other classes one draw is free of bias."""
    loss = made("sampled-softmax", sampler="selfplay", method="exact", negatives=1, spare=30)
    hidden, target = batch(size=1, scale=2.0)
    sets = 4000
    loss(hidden.expand(sets, -1), target.expand(sets), generator=torch.Generator().manual_seed(1)).backward()
    sampled, hidden.grad = hidden.grad.clone(), None
    (-loss.log_prob(hidden)[0, target]).sum().backward()
    assert (sampled - hidden.grad).norm() < 0.05 * hidden.grad.norm()


def test_the_positive_is_no_negative_of_its_own():
    """With two targets and the positive excluded every negative that counts is the other one."""
    loss = SampledLoss([3, 1], 2, "css", negatives=4, shared=True, spare=40, reduction="none")
    hidden = torch.zeros(2, 2)
    values = loss(hidden, torch.tensor([0, 1]), generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(values, torch.full((2,), np.log(2)).float())  # κ = (1 − q₀) / (4 q₁) = ¼


def test_each_loss_by_itself_has_the_shape_of_its_target_and_is_0_where_that_is_passed_over():
    loss = made("softmax", bias=True, reduction="none")
    hidden, targets = batch(size=6)
    targets[1:3] = -1
    values = loss(hidden.view(2, 3, DIM), targets.view(2, 3))
    expected = cross_entropy(loss.output(hidden), targets, reduction="none", ignore_index=-1)
    torch.testing.assert_close(values, expected.view(2, 3))
    values.sum().backward()
    assert (hidden.grad.norm(dim=1) > 0).tolist() == (targets >= 0).tolist()


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize(
    "name", ["softmax", "ns", "css", "css-bernoulli", "dns", "kernel-quadratic", "sampled-softmax"]
)
def test_a_batch_of_padding_alone_is_0_and_so_are_its_gradients(name, reduction):
    loss = made(name, bias=True, reduction=reduction)
    hidden, targets = batch(size=4)
    value = loss(hidden.view(2, 2, DIM), torch.full_like(targets, -1).view(2, 2))
    torch.testing.assert_close(value, torch.zeros((2, 2) if reduction == "none" else ()))
    value.sum().backward()
    assert not hidden.grad.any() and not loss.output.weight.grad.any() and not loss.output.bias.grad.any()


def test_examples_below_zero_are_passed_over_and_shapes_are_free():
    loss = made("softmax")
    hidden, targets = batch(size=6)
    flat = loss(hidden[:4], targets[:4])
    padded = targets.clone()
    padded[4:] = -1
    torch.testing.assert_close(loss(hidden.view(2, 3, DIM), padded.view(2, 3)), flat)
    assert loss.log_prob(hidden.view(2, 3, DIM)).shape == (2, 3, V)


def test_corrected_log_prob_takes_off_what_the_law_says():
    """Under noise D and Boltzmann draws at T scores settle at T / (1 + T) · (log P − log D)."""
    loss = made("pbs", temp=3.0)
    p, d = naive.popularity(np.arange(1, V + 1), 1.0), naive.popularity(COUNTS, 1.0)
    settled = torch.tensor(0.75 * (np.log(p) - np.log(d)), dtype=torch.float32)
    loss.output = nn.Linear(1, V, bias=False)
    loss.output.weight.data[:, 0] = settled
    one = torch.ones(1, 1)
    np.testing.assert_allclose(loss.log_prob(one, score="corrected").exp()[0].detach(), p, rtol=1e-4)
    torch.testing.assert_close(loss.log_prob(one), log_softmax(settled, dim=0)[None])
    with pytest.raises(ConfigError, match="absolute"):
        made("kernel-quadratic").log_prob(batch()[0], score="corrected")
    weighed = made("ps", weigher="importance")
    torch.testing.assert_close(weighed.log_prob(batch()[0], score="corrected"), weighed.log_prob(batch()[0]))


def test_an_output_of_the_models_own_is_trained_and_may_have_sparse_gradients():
    decoder = nn.Embedding(V, DIM, sparse=True)
    loss = SampledLoss(COUNTS, decoder, "css", negatives=3)
    hidden, targets = batch()
    loss(hidden, targets).backward()
    assert loss.output is decoder
    assert decoder.weight.grad.is_sparse
    assert decoder.weight.grad.coalesce().indices().shape[1] <= 4 * B


def test_state_is_that_of_what_is_learnt_and_restores_draws():
    hidden, targets = batch()
    for options in ({"loss": "nce", "log_z": "learned"}, {"loss": "cis"}, {"loss": "relaxed"}):
        loss, other = made(**options), made(**options, seed=1)
        loss(hidden, targets).backward()  # rolling candidates are there
        other.load_state_dict(copy.deepcopy(loss.state_dict()))
        values = [one(hidden, targets, generator=torch.Generator().manual_seed(4)).item() for one in (loss, other)]
        assert values[0] == values[1]
    assert set(made("css").state_dict()) == {"output.weight"}


def test_a_learned_normaliser_and_the_discriminator_learn():
    hidden, targets = batch(size=64)
    for options, parts in (({"loss": "nce", "log_z": "learned"}, ["log_z"]), ({"loss": "cis"}, ["evidence"])):
        loss = made(**options)
        loss(hidden, targets).backward()
        learning = {name.split(".")[0] for name, p in loss.named_parameters() if p.grad is not None and p.grad.any()}
        assert learning >= {"output", *parts}
    assert made("nce", log_z="learned").log_z.item() == pytest.approx(np.log(V))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_what_is_learnt_is_the_law_of_the_targets(dtype):
    loss = SampledLoss(COUNTS, 1, "css", sampler="uniform", negatives=20, shared=True).to(dtype)
    p = torch.tensor(naive.popularity(COUNTS, 1.0))
    nn.init.zeros_(loss.output.weight)
    generator = torch.Generator().manual_seed(2)
    for step in range(100):
        targets = torch.multinomial(p, 500, replacement=True, generator=generator)
        (slope,) = torch.autograd.grad(
            loss(torch.ones(500, 1, dtype=dtype), targets, generator=generator), loss.parameters()
        )
        loss.output.weight.data -= 20 / (1 + step / 20) * slope
    found = loss.log_prob(torch.ones(1, 1, dtype=dtype))[0].exp().detach()
    assert 0.5 * (found - p).abs().sum() < 0.15  # 0.39 before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "css", "exclude": "none"}, "must not be a negative"),
        ({"loss": "css", "exclude": "known"}, "exclude must be none or target"),
        ({"loss": "relaxed", "shared": True}, "draws for one context"),
        ({"loss": "css", "alpha": 0.1}, "no option 'alpha'"),
        ({"loss": "css", "negative": 3}, "did you mean 'negatives'"),
        ({"loss": "css", "temp": 1.0}, "only sampler boltzmann"),
        ({"loss": "hierarchical"}, "not available in w2vneg.torch"),
        ({"loss": "css-bernoulli", "spare": 2}, "leave spare out"),
        ({"spare": -1}, "spare must be a whole number of at least 0, not -1"),
        ({"loss": "css", "spare": 1.5}, "spare must be a whole number of at least 0, not 1.5"),
        ({"loss": "nce", "spare": 10}, "use exclude='target'"),
        ({"loss": "softmax", "spare": 3}, "spare has no effect with loss 'softmax'"),
        ({"loss": "softmax", "shared": True}, "shared has no effect with loss 'softmax'"),
        ({"loss": "softmax", "neighbours": sparse.eye(V)}, "neighbours has no effect with loss 'softmax'"),
        ({"loss": "css", "neighbours": sparse.eye(V)}, "sampler 'popularity'; leave it out, or use sampler='bigram'"),
        ({"loss": "kernel-quadratic", "tree": "bulk"}, "matrix product"),
        ({"loss": "css", "reduction": "avg"}, "unknown reduction"),
        ({"loss": "css", "negatives": 0}, "at least 1"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(ConfigError, match=message):
        SampledLoss(COUNTS, DIM, **options)


def test_more_refusals():
    with pytest.raises(UnknownNameError, match="unknown loss 'cs'"):
        SampledLoss(COUNTS, DIM, "cs")
    for counts in ([1], [[1, 2]], [0, 0], [1, -1]):
        with pytest.raises(ConfigError, match="counts must say"):
            SampledLoss(counts, DIM, "css")
    with pytest.raises(ConfigError, match="a row for each of 40 targets"):
        SampledLoss(COUNTS, nn.Linear(DIM, V + 1), "css")
    with pytest.raises(ConfigError, match="leave bias=True out"):
        SampledLoss(COUNTS, nn.Linear(DIM, V, bias=False), "css", bias=True)
    assert SampledLoss(COUNTS, nn.Linear(DIM, V), "css", bias=True).output.bias is not None
    with pytest.raises(ConfigError, match=r"\(5, 6\)"):
        made("css")(torch.zeros(B, DIM + 1), torch.zeros(B, dtype=torch.int64))
    with pytest.raises(ConfigError, match=r"context must have the shape of the targets, \(5,\), not \(6,\)"):
        made("css")(*batch(), torch.zeros(B + 1, dtype=torch.int64))


def test_the_page_shows_what_runs():
    page = (Path(__file__).parent.parent / "docs" / "torch.md").read_text(encoding="utf-8")
    names = {}
    exec(page.split("```python\n")[1].split("```")[0], names)
    assert names["log_p"].shape == (8, 6)
    assert names["hidden"].grad.abs().sum() > 0


def test_without_pytorch_a_message_names_the_extra():
    script = """
import sys
sys.modules["torch"] = None
try:
    import w2vneg.torch
except ImportError as error:
    print(error)
"""
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert 'pip install "w2vneg[torch]"' in said
