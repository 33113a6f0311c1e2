"""Boltzmann negatives among all words: the methods `exact` and `pool` of `boltzmann`, whose page has the law.

They are drawn by a matrix product for a batch of centres, between launches, and handed out while these are trained.
A centre that comes again in a batch shares its row of the product; its draws are its own. `pool` is `exact` with
batches so long that most do. log q of a positive comes from the rows that the draws were made of, as that of the draws
does.
"""

import numpy as np

from ...kernels.ahead import Origin, hand_out, score_then
from ...kernels.contracts import implement_draw, implement_log_prob, implement_open_sampler
from ...kernels.dense.draws import BoltzmannLaw, Drawn, exact_draws, scratch_size
from ..plugs import Sampler
from ._rolling import Boltzmann


class BoltzmannExact(Sampler):
    """Draws made ahead for a batch of centres.

    log_d : float32, (n_vocab,); inverse_temperature : float; absolute : bool, the logit is |x · y|
    ids : int32, (workers, batch, max_draws); log_q : float32, the same; log_z : float32, (workers, batch)
    origin : Origin; scratch : float32, memory of the draws
    """

    log_d: np.ndarray
    inverse_temperature: float
    absolute: bool
    ids: np.ndarray
    log_q: np.ndarray
    log_z: np.ndarray
    origin: Origin
    scratch: np.ndarray

    gives_log_q = True
    scores_all = "exact Boltzmann sampling", "--method rolling"

    @classmethod
    def of(cls, log_d, inverse_temperature, batch, context, absolute=False):
        """Make room for `batch` centres of each worker; log_d : (n_vocab,)."""
        return cls(
            np.asarray(log_d, np.float32),
            inverse_temperature,
            absolute,
            *Drawn.room(context.workers, batch, context.max_draws),
            Origin.room(context.n_centres, len(log_d), context.dim),
            np.empty(scratch_size(context.workers * batch, len(log_d)), np.float32),
        )

    log_target = Boltzmann.log_target

    @property
    def batch_groups(self):
        return self.ids.shape[1]

    def refresh(self, vectors_in, vectors_out, centre_ids, key):
        """Draw for the centres of the next launch; see `dense.draws.exact_draws`."""
        self.origin.keep(vectors_in, vectors_out, centre_ids)
        exact_draws(
            BoltzmannLaw(self.log_d, np.float32(self.inverse_temperature), self.absolute),
            vectors_in,
            vectors_out,
            centre_ids.ravel(),
            key,
            Drawn(self.ids, self.log_q, self.log_z).flat(),
            self.scratch,
        )


@implement_open_sampler(BoltzmannExact)
def open_drawn(sampler, n_draws):
    """The place of the worker, which `draw` knows and `log_prob` asks for."""
    return np.zeros(1, np.int64)


@implement_draw(BoltzmannExact)
def draw_ahead(sampler, state, group, centre_id, centre, out, rng, n, ids, log_q, logits):
    state[0] = out.worker
    hand_out(sampler.ids, sampler.log_q, out.worker, group, n, ids, log_q)
    return False


@implement_log_prob(BoltzmannExact)
def log_prob_ahead(sampler, state, group, centre_id, n, ids, logits, log_q):
    beta, log_z = np.float32(sampler.inverse_temperature), sampler.log_z[state[0], group]
    for k in range(n):
        score = score_then(sampler.origin, centre_id, ids[k])
        score = abs(score) if sampler.absolute else score
        log_q[k] = sampler.log_d[ids[k]] + score * beta - log_z
