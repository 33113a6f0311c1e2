"""Losses: what gradient n + 1 logits give. One family a file, its equation on top.

A loss is a NamedTuple class, registered in `LOSSES` under its name, whose `step` is bound with `implement_step`.
The class offers:

    from_options(options, context) -> instance classmethod; reads its own hyper-parameters (see `registry.RunContext`)
    needs_log_q : bool                         it reads the noise probabilities
    needs_positive_log_q : bool                it reads the positive's, too (left out: it does not)
    needs_exclusion : bool                     a negative must not be the positive (left out: it may); runs with
                                               ``--exclude none`` are refused
    parameters : tuple of str                  fields that are rows it trains itself (left out: none)
    unstable : str                             why it diverges and what to take instead (left out: it need not)
    about : registry.About
    dense : bool                               it looks at the whole vocabulary and is run by `engines.dense` (left out:
                                               it does not); it has no `step`
    untrained(n_negatives) -> float            its value when every logit is 0: the reference printed beside a loss;
                                               a run whose loss climbs beyond 5 times a positive one is rolled back
"""

from ..registry import Registry

LOSSES = Registry("loss")

from . import (  # noqa: E402, F401  (they enter themselves)
    blackout,
    complementary_sum,
    importance_sampling,
    negative_sampling,
    noise_contrastive,
    ranking,
    relaxed_softmax,
    sampled_softmax,
    softmax,
)
