"""Samplers: which negatives. One sampler a file.

A sampler is a NamedTuple class whose `draw` is bound with `implement_draw` (and `open_sampler` with
`implement_open_sampler` if a shard needs scratch). What is registered in `SAMPLERS` under its name, the class or a
family of classes, offers `from_options`; the instance it returns has the rest:

    from_options(options, context) -> instance      classmethod; see `registry.RunContext`
    about : registry.About
    cost(options, context) -> float        staticmethod, rough nanoseconds that a group's draws add to the loop's own
                                           work, to size rounds (left out: 0)
    slots(options) -> int                  staticmethod, for a varying number of draws: places for each set of negatives
    gives_log_q : bool                     it fills log q, and answers `log_noise`
    blind : bool                           no draw depends on the centre, so that a window may share it; it stands on
                                           what is registered (left out: False)
    log_target(centre_id, logits) -> float64 (n_vocab,)    for diagnosis: what the draws are meant to follow, log, up to
                                       a constant; left out: D e^{s / T} if there are log_d and inverse_temperature,
                                       else what `log_noise` answers
    scores_all : (str, str)                left out unless it scores the whole vocabulary for every centre: what that is
                                       called and what to take instead, for the estimate of what it would cost
    independent : bool                     targets enter independently, never twice (left out: n draws with replacement)
    batch_groups : int                     only for samplers that draw ahead, between launches: groups per batch
    refresh(vectors_in, vectors_out, centre_ids, key)    those draw here: centre_ids int32 (workers, batch_groups), -1
                                       where there is none; key names the random stream; such samplers have no
                                       private rows
"""

from ..registry import Registry

SAMPLERS = Registry("sampler")

from . import (  # noqa: E402, F401  (they enter themselves)
    bernoulli,
    bigram,
    boltzmann,
    dns,
    kernel,
    log_uniform,
    popularity,
    uniform,
)
