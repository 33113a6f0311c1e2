"""Losses and weighers in tensors beside the oracle's values and gradients, and beside those of compiled code."""

import math
import os

import naive
import numpy as np
import pytest
from loss_cases import CASES, N_VOCAB, ask, example, of, off_kinks

from w2vneg.config import TrainConfig
from w2vneg.ground.registry import RunContext

torch = pytest.importorskip("torch", reason='PyTorch is not installed: pip install "w2vneg[torch]"')

from w2vneg.torch.losses import VALUES, WEIGHTS, Evidence, Scores  # noqa: E402  # noqa: E402

NAMES = [name for name, case in CASES.items() if case.oracle is not None]


def in_tensors(name, examples, dtype):
    """Return (L (B,), dL/ds (B, 1 + n)) of examples of one n: each (logits, weights, log_q)."""
    logits, weights, log_q = (torch.tensor(np.array(part), dtype=dtype) for part in zip(*examples, strict=True))
    logits.requires_grad_()
    loss = of(name)
    loss = loss._replace(log_z=torch.tensor(float(loss.log_z[0, 0]))) if loss.parameters else loss
    scores = Scores(logits[:, 0], logits[:, 1:], weights[:, 1:], weights[:, 0], log_q[:, 0], log_q[:, 1:])
    values = VALUES[type(loss)](loss, scores)
    values.sum().backward()
    return values.detach().numpy(), logits.grad.numpy()


def made(name, n, spread):
    """Return examples, one of them with a negative that does not count."""
    examples = [example(n, seed, spread) for seed in range(4)]
    for logits, weights, _ in examples:
        logits[:] = off_kinks(name, logits)
        if n > 1:
            weights[n] = 0
    return examples


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-5), (torch.float32, 1e-5)], ids=["f64", "f32"])
def test_values_and_gradients_are_those_of_the_oracle(name, dtype, tolerance):
    for n in (1, 7):
        examples = made(name, n, 3.0)
        values, gradients = in_tensors(name, examples, dtype)
        for k, (logits, weights, log_q) in enumerate(examples):
            value, gradient = CASES[name].oracle(logits, weights, log_q)
            assert values[k] == pytest.approx(value, rel=tolerance, abs=tolerance)
            np.testing.assert_allclose(gradients[k], gradient, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_counts_and_extremes_are_finite(name):
    nobody = [(np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.0, 0.0]), np.full(3, -2.0))]
    value, gradient = in_tensors(name, nobody, torch.float32)
    expected, slope = CASES[name].oracle(*nobody[0])
    assert value[0] == pytest.approx(expected, abs=1e-6)
    np.testing.assert_allclose(gradient[0], slope, atol=1e-6)
    for logits in ([60.0, -60.0, 0.0], [-60.0, 60.0, 60.0], [0.0, 70.0, -70.0]):
        value, gradient = in_tensors(name, [(np.array(logits), np.ones(3), np.full(3, -5.0))], torch.float32)
        assert np.isfinite(value).all() and np.isfinite(gradient).all()


@pytest.mark.slow
@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="beside compiled code")
@pytest.mark.parametrize("name", NAMES)
def test_gradients_are_those_of_compiled_code(name):
    examples = made(name, 7, 3.0)
    values, gradients = in_tensors(name, examples, torch.float32)
    for k, (logits, weights, log_q) in enumerate(examples):
        value, gradient = ask(of(name), logits, weights, log_q)
        assert values[k] == pytest.approx(value, rel=1e-5, abs=1e-5)
        np.testing.assert_allclose(gradients[k], gradient, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["none", "importance", "self-adversarial"])
def test_weights_are_those_of_the_oracle(name):
    context = RunContext(np.arange(N_VOCAB, 0, -1))
    options = TrainConfig(loss="relaxed", weigher=name, sampler="popularity").resolved()
    weigher = options.make("weigher", context)
    for seed in range(3):
        logits, _, log_q = example(9, seed)
        counted = np.array([True, False] + [True] * 8)
        tensors = (torch.tensor(part[1:])[None] for part in (logits, log_q, counted))
        expected = naive.WEIGHERS[name](log_q, logits, counted, None)
        found = WEIGHTS[type(weigher)](weigher, *tensors)
        np.testing.assert_allclose(found[0].numpy(), expected[1:], rtol=1e-6)
    nobody = torch.zeros(1, 4, dtype=torch.bool)
    for log_q in (0.0, torch.inf):  # ∞ of a place that stays empty
        assert WEIGHTS[type(weigher)](weigher, torch.zeros(1, 4), torch.full((1, 4), log_q), nobody).sum() == 0


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("weigh_positive", [False, True])
def test_the_discriminator_weighs_and_learns_as_its_equations_have_it(shared, weigh_positive):
    torch.manual_seed(3)
    evidence = Evidence(20, 4, weigh_positive).double()
    torch.nn.init.normal_(evidence.outer.weight)
    hidden = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    targets = torch.tensor([2, 5, 7])
    ids = torch.randint(20, (6,) if shared else (3, 6))
    first, weights, values = evidence(hidden, targets, ids, torch.ones_like(ids, dtype=torch.bool))
    rows = ids.expand(3, -1).numpy()
    x, outer = (hidden @ evidence.inner.weight.T).detach().numpy(), evidence.outer.weight.detach().numpy()
    for k in range(3):
        logits = [outer[j] @ x[k] for j in [int(targets[k]), *rows[k]]]
        expected = naive.discriminator_weights(None, None, [True] * 7, logits, weigh_positive)
        np.testing.assert_allclose([first[k].item(), *weights[k].tolist()], expected)
        one = naive.discriminator_loss(x[k], outer, [int(targets[k])], rows[k], 6, False)
        assert values[k].item() == pytest.approx(one)
    values.sum().backward()
    assert hidden.grad is None
    assert evidence.outer.weight.grad.abs().sum() > 0
    assert not first.requires_grad and not weights.requires_grad


def test_self_normalisation_on_a_fraction_has_the_mean_of_the_whole():
    loss = of("relaxed")._replace(penalty=0.4, fraction=0.25)
    n = 40_000
    logits = torch.zeros(n, 4)
    generator = torch.Generator().manual_seed(1)
    scores = Scores(logits[:, 0], logits[:, 1:], torch.ones(n, 3), torch.ones(n), generator=generator)
    mean = VALUES[type(loss)](loss, scores).mean().item()
    log_z = math.log(4)
    assert mean == pytest.approx(log_z + 0.1 * log_z**2, abs=0.01)
