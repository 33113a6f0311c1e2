"""The sockets of the one loop: what a source of groups, a sampler, a weigher and a loss must answer.

A plug is a named tuple of numbers and arrays; its class alone decides which code a socket runs, while compiling.
`Socket.implement` binds a plain Python function to a class; the function sees the arguments listed here, in order.

    fill(source, lo, hi, epoch_key, tokens) -> (first, last)       one block of the data into scratch
    group(source, tokens, position, rng, positives) -> int         one group: its number of positives
    gather(inputs, tokens, position, m, positives, words, grams) -> (m, n_words, n_grams)
    open_sampler(sampler, n_draws) -> state                        scratch of one shard, made anew for each launch
    draw(sampler, state, group, centre_id, centre, out, rng, n, ids, log_q, logits) -> bool
    log_prob(sampler, state, group, centre_id, n, ids, logits, log_q)
    exclude(exclusion, centre_id, positives, m, ids, weights) -> bool
    open_weigher(weigher, max_positives, n_draws) -> state         scratch of one shard
    prepare_group(weigher, state, width, centre_row, m, positive_rows, n, negative_rows, negatives, alpha, rng) -> bool
    weigh(weigher, state, k, offset, ids, logits, exp_logits, log_q, weights)
    step(loss, centre_row, alpha, rng, logits, exp_logits, log_q, weights, gradients) -> float64

fill, group
    ``tokens[position]`` is the id of a group's centre, or negative where there is none; fill writes at most twice the
    block's length and what `LocalEngine` adds for context, and returns between which places the centres stand. What it
    writes behind the last of them is an id or negative, too: it is taken for the centre that comes next.
gather
    Write whose rows make the vector of the group, which has m positives: ids of words and of n-grams, int32. Where the
    words around predict the one in the middle, `positives` are these words, and become the one. Return the number of
    positives, of words, at least 1, and of n-grams.
draw
    Write n noise draws for the centre into `ids` (int32); into `log_q` (float32) their log-probabilities, unless it is
    empty; return True if `logits` (float32) now holds their dot products with the centre (float32, (dim,)), False to
    leave that to the loop. `out` is the `Rows` of the output matrix, `group` the place of the group in its launch,
    `rng` the stream of the shard. Draws never see which targets are true. The arrays may be longer than n. A sampler
    whose `max_negatives` are more than its draws fills the rest with id -1, which counts for nothing. One that looks
    neither at `centre_id` nor at `centre` says so by ``context_free = True``; where negatives are shared by a window,
    `centre_id` is the word in its middle and `centre` nobody's. Where several words make the vector, `centre_id` is -1;
    a plug that needs it says so by ``needs_centre = True``.
log_prob
    Write into `log_q` the log-probability at which `draw`, just called for this group, would give each of the first n
    `ids`, whose dot products with the centre are `logits`. Called for the positives of a loss that reads them.
exclude
    Set to 0 the weights of the negatives ``ids[1:]`` that must not stand beside the positive ``ids[0]``; True if any.
    `positives` (int32, first m) are all of the group.
prepare_group
    Look at a whole group before its pairs are weighed: rows of the m positives and n negatives (int64) in the plug's
    own matrices, where it trains some (see `parameters` below); `width` tells the compiler how long the vectors' rows
    are (`linalg.width_of`), for a plug whose own are as long; `negatives` (int32) are the latter's ids, -1 for an
    empty place; alpha (float32) is the learning rate of this group. Return True, or False if the two matrices are not
    to be trained on this group. At alpha 0, which `diagnostics` gives, nothing may change; this holds for `step` too.
weigh
    Multiply the weights ω with which the targets count into `weights`. They come as 1, or as 0 for a negative that is
    excluded or an empty place, which counts neither here nor in `step`. `k` is the place of the pair in the group,
    `offset` that of its first negative among all that the group's positives are compared with.
step
    Write dL/dlogit into `gradients`, return L. A negative of weight 0 is as if it had not been drawn.

For weigh and step all arrays have 1 + n places, the positive first: ids int32, the others float32. exp_logits[k] is
e^logits[k], taken once for a whole group where it can be vectorised, and always positive and finite: logits beyond ±80
count as ±80 there. log_q[0] is that of the positive where the loss asks for it, else 0; that of an empty place is +∞,
while an excluded draw keeps its own; log_q is empty if nobody declared to need it.

A weigher or loss may train rows of its own, one for each id: its class names their fields in ``parameters``; the engine
then keeps them as it keeps the two matrices (private copies, merge, checks, checkpoints; a name that ends in ``_out``
is of targets' rows, any other of centres'), and `centre_row`, `positive_rows`, `negative_rows` are the rows to use in
them.

None of these functions may allocate, but the two `open_`: that is what their states are for. These run as plain Python
for training, and compiled for `diagnostics`. A state is an array, a number or a NamedTuple of such; its arrays are
copied to cache lines of their own, so what is to outlast a launch belongs into the plug. No array of a plug or a state
may overlap with another that is written to.

Performance hooks
-----------------
These change nothing but the speed; a plug that binds none of them trains the same.

    prefetch_hint(source, tokens, position) -> int
    prescore(sampler, state, inputs, centre_row, following_row, out)
    fetches(sampler) -> bool
    on_update(sampler, state, m, positives, n, negatives, steps, out)
    weigh_group(weigher, state, m, n, positive_weights, negative_weights) -> bool
    step_group(loss, shared, weighed, m, n, e_positive, e_negative, w_positive, w_negative, positives, negatives)
        -> (bool, float64)

prefetch_hint
    The id of what comes into reach of the groups after this one, negative if there is nothing: the loop starts loading
    its row, a target's or, where windows share negatives, a centre's. Nothing is read there, so a wrong one does no
    harm: `tokens` may hold anything behind what `fill` has written.
prescore
    For a sampler that scores candidates for two centres at once: their rows in `inputs` (float32 matrix; numbers of
    rows, not ids), the second -1 where none is known. The next group may have another centre after all, or there may be
    none. Called before `draw` in training, unless negatives are shared by windows; `draw` must do without it elsewhere.
fetches
    Whether `draw` starts loading the rows of its draws itself. Else the loop does, where it is left the dot products.
on_update
    Look at the rows of a group's m positives and n negatives (ids, int32) in `out` once they are updated, for a sampler
    that keeps track of them. Each negative's row has moved by its step (float32, (n,)) times the centre as it was; not
    so where negatives are shared by windows, where `steps` are those of all centres.
weigh_group, step_group
    `weigh` and `step` for all m pairs of a group at once. Where something is excluded the answer is dropped and pair by
    pair requested, so nothing but the arrays to write may change. `weigh_group` writes the weights of the m positives
    and the n negatives of them all and returns True; or False, and pair by pair is requested. From e^logit of the m
    positives and of their negatives (n for all of them if `shared`, else n for each), and the weights if `weighed`,
    `step_group` writes dL/dlogit into `positives` and `negatives`, those of shared negatives summed over the pairs, and
    returns True and the sum of L; or (False, 0.0), as a loss without it.
"""

import dis
import inspect

from ..ground.errors import ConfigError
from ..ground.jit import implementation_of, watch_plug


class Socket:
    """A function whose compiled body is chosen by the class of its first argument.

    arguments : str, optional, the names of what its bodies are given; a body with others is refused
    returns : bool, they answer with a value; default : function, optional, for classes that bind none of their own
    allocates : bool, bodies may make arrays
    """

    def __init__(self, name, arguments=None, returns=False, default=None, allocates=False):
        self.name = name
        self.arguments = arguments and arguments.split()
        self.returns = returns
        self.default = default
        self.bodies = {}  # class -> function

        def call(*args):
            return self._choose(type(args[0]))(*args)

        call.__name__ = call.__qualname__ = name
        self.call = implementation_of(call, self._choose, borrows=not allocates)

    def implement(self, plug):
        """Return a decorator that binds a function to the NamedTuple class `plug`."""

        def bind(function):
            self._check(plug, function)
            watch_plug(plug, function)
            self.bodies[plug] = function
            return function

        return bind

    def _check(self, plug, function):
        """Raise ConfigError if a body cannot be called as the loop calls it, or does not answer."""
        try:
            inspect.signature(function).bind(*self.arguments or ())
        except TypeError:
            if self.arguments is None:
                return
            listed = ", ".join(self.arguments)
            raise ConfigError(f"{self.name} of {plug.__name__} is called with ({listed}); give it these") from None
        if self.returns and not _answers(function):
            raise ConfigError(f"{self.name} of {plug.__name__} returns nothing; docs/extending.md says what it should")

    def _choose(self, plug):
        return self.bodies.get(plug, self.default) or self.require(plug)

    def require(self, plug):
        """Raise ConfigError unless `plug` has a body of its own."""
        if plug not in self.bodies:
            name = getattr(plug, "__name__", plug)
            raise ConfigError(f"{name} has no {self.name}; decorate a function with @implement_{self.name}({name})")


def _answers(function):
    """Tell whether a plain function may return anything but None."""
    code = list(dis.get_instructions(function))
    for before, line in zip([None, *code], code, strict=False):
        if line.opname == "RETURN_CONST" and line.argval is not None:
            return True
        nothing = before is not None and before.opname == "LOAD_CONST" and before.argval is None
        if line.opname == "RETURN_VALUE" and not nothing:
            return True
    return False


def _unknown_log_prob(sampler, state, group, centre_id, n, ids, logits, log_q):
    for k in range(min(n, log_q.shape[0])):
        log_q[k] = 0


SOCKETS: dict = {}  # str, name of a socket -> Socket


def _socket(name, arguments, **options):
    socket = SOCKETS[name] = Socket(name, arguments, **options)
    return socket.implement, socket.call


implement_fill, fill = _socket("fill", "source lo hi epoch_key tokens", returns=True)
implement_group, group = _socket("group", "source tokens position rng positives", returns=True)
implement_gather, gather = _socket("gather", "inputs tokens position m positives words grams", returns=True)
implement_prefetch_hint, prefetch_hint = _socket(
    "prefetch_hint", "source tokens position", returns=True, default=lambda source, tokens, position: -1
)
implement_open_sampler, open_sampler = _socket(
    "open_sampler", "sampler n_draws", returns=True, default=lambda sampler, n_draws: n_draws, allocates=True
)
implement_prescore, prescore = _socket(
    "prescore",
    "sampler state inputs centre_row following_row out",
    default=lambda sampler, state, inputs, centre_row, following_row, out: None,
)
implement_draw, draw = _socket("draw", "sampler state group centre_id centre out rng n ids log_q logits", returns=True)
implement_fetches, fetches = _socket("fetches", "sampler", returns=True, default=lambda sampler: False)
implement_log_prob, log_prob = _socket(
    "log_prob", "sampler state group centre_id n ids logits log_q", default=_unknown_log_prob
)
implement_exclude, exclude = _socket("exclude", "exclusion centre_id positives m ids weights", returns=True)
implement_open_weigher, open_weigher = _socket(
    "open_weigher",
    "weigher max_positives n_draws",
    returns=True,
    default=lambda weigher, max_positives, n_draws: n_draws,
    allocates=True,
)
implement_prepare_group, prepare_group = _socket(
    "prepare_group",
    "weigher state width centre_row m positive_rows n negative_rows negatives alpha rng",
    returns=True,
    default=lambda weigher, state, width, centre_row, m, positives, n, negatives, ids, alpha, rng: True,
)
implement_weigh, weigh = _socket("weigh", "weigher state k offset ids logits exp_logits log_q weights")
implement_step, step = _socket(
    "step", "loss centre_row alpha rng logits exp_logits log_q weights gradients", returns=True
)
implement_weigh_group, weigh_group = _socket(
    "weigh_group",
    "weigher state m n positive_weights negative_weights",
    returns=True,
    default=lambda weigher, state, m, n, positive_weights, negative_weights: False,
)
implement_step_group, step_group = _socket(
    "step_group",
    "loss shared weighed m n e_positive e_negative w_positive w_negative positives negatives",
    returns=True,
    default=lambda loss, shared, weighed, m, n, a, b, c, d, positives, negatives: (False, 0.0),
)
implement_on_update, on_update = _socket(
    "on_update",
    "sampler state m positives n negatives steps out",
    default=lambda sampler, state, m, positives, n, negatives, steps, out: None,
)


def require_bodies(kind, plug):
    """Raise ConfigError if a plug binds nothing to a socket that it cannot do without, or not what it says it gives.

    kind : "loss", "sampler", "weigher" or "inputs"; plug : the class that ``from_options`` makes
    """
    idle = getattr(plug, "dense", False) or getattr(plug, "paths", False) or not getattr(plug, "composes", True)
    if not idle:
        SOCKETS[{"loss": "step", "sampler": "draw", "weigher": "weigh", "inputs": "gather"}[kind]].require(plug)
    if kind == "sampler" and not plug.gives_log_q and answers_log_prob(plug):
        raise ConfigError(f"{plug.__name__} has log_prob, but does not say gives_log_q = True")


def answers_log_prob(plug):
    """Tell whether a sampler's class binds `log_prob` itself."""
    return plug in SOCKETS["log_prob"].bodies


def prepares_groups(plug):
    """Tell whether a weigher's class binds `prepare_group`."""
    return plug in SOCKETS["prepare_group"].bodies
