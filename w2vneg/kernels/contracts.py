"""The sockets of the training loop: functions that a source of groups, a sampler, a weigher and a loss implement.

A plug is a named tuple of numbers and arrays. Its class alone decides, at compile time, which code a socket runs.
`Socket.implement` binds a plain Python function to a class. The function takes the arguments listed here, in order.

    fill(source, lo, hi, epoch_key, tokens) -> (first, last)       write one block of the data into scratch
    group(source, tokens, position, rng, positives) -> int         write one group, return its number of positives
    gather(inputs, tokens, position, m, positives, words, grams) -> (m, n_words, n_grams)
    open_sampler(sampler, n_draws) -> state                        scratch of one shard, created for each launch
    draw(sampler, state, group, centre_id, centre, out, rng, n, ids, log_q, logits) -> bool
    log_prob(sampler, state, group, centre_id, n, ids, logits, log_q)
    exclude(exclusion, centre_id, positives, m, ids, weights) -> bool
    open_weigher(weigher, max_positives, n_draws) -> state         scratch of one shard
    prepare_group(weigher, state, width, centre_row, m, positive_rows, n, negative_rows, negatives, alpha, rng) -> bool
    weigh(weigher, state, k, offset, ids, logits, exp_logits, log_q, weights)
    step(loss, centre_row, alpha, rng, logits, exp_logits, log_q, weights, gradients) -> float64

fill, group
    ``tokens[position]`` is the id of a group's centre, or negative if there is none. `fill` writes at most twice the
    block's length, plus the context that `LocalEngine` adds, and returns the range of `tokens` that holds the centres.
    The entry after the last centre must also be an id or negative: the loop reads it as the next centre.
gather
    Write the ids whose rows make up the group's vector: words and n-grams, int32. The group has m positives. For CBOW,
    `positives` holds the context words on entry and the one positive, the middle word, on return. Return the number of
    positives, of words, at least 1, and of n-grams.
draw
    Write n noise draws for the centre into `ids` (int32), and their log-probabilities into `log_q` (float32) unless it
    is empty. Return True if `logits` (float32) now holds their dot products with the centre (float32, (dim,)), or
    False to let the loop compute them. `out` is the `Rows` of the output matrix, `group` the index of the group in its
    launch, `rng` the shard's stream. Draws never see which targets are positives. The arrays may be longer than n. A
    sampler whose `max_negatives` exceeds its number of draws fills the rest with id -1, which is ignored. A sampler
    that reads neither `centre_id` nor `centre` declares ``context_free = True``. If a window shares negatives,
    `centre_id` is the middle word and `centre` is undefined. If several words make up the vector, `centre_id` is -1; a
    plug that needs it declares ``needs_centre = True``.
log_prob
    Write into `log_q` the log-probability with which `draw`, just called for this group, draws each of the first n
    `ids`. `logits` are their dot products with the centre. Called for the positives if the loss reads their log q.
exclude
    Set to 0 the weights of the negatives ``ids[1:]`` that may not be used with the positive ``ids[0]``; True if any.
    `positives` (int32, first m) are all positives of the group.
prepare_group
    Inspect a whole group before its pairs are weighed. `positive_rows` and `negative_rows` (int64) are the rows of the
    m positives and n negatives in the plug's own matrices, if it trains any (see `parameters` below). `width` is the
    compile-time row length of the vectors (`linalg.width_of`), for a plug whose own rows are as long. `negatives`
    (int32) are the negatives' ids, -1 for an empty slot; alpha (float32) is the group's learning rate. Return False if
    the two matrices must not be trained on this group, else True. At alpha 0, as in `diagnostics`, neither this nor
    `step` may change anything, and the group is weighed whatever is returned.
weigh
    Multiply `weights` by the weights ω of the targets. On entry they are 1, or 0 for an excluded negative or an empty
    slot, which is ignored here and in `step`. `k` is the index of the pair in the group, `offset` that of its first
    negative among the group's negative logits.
step
    Write dL/dlogit into `gradients` and return L. A negative of weight 0 must have no effect.

In weigh and step, all arrays have 1 + n entries, the positive first: ids are int32, the others float32. exp_logits[k]
is e^logits[k], computed once for a whole group where it can be vectorised. It is always positive and finite: logits
are clipped to ±80 for it. log_q[0] is that of the positive if the loss needs it, else 0. An empty slot has log q +∞;
an excluded draw keeps its own. log_q is empty if no plug declares a need for it.

A weigher or loss may train rows of its own, one for each id. Its class names their fields in ``parameters``. The engine
then treats them like the two matrices (private copies, merge, checks, checkpoints). A name that ends in ``_out`` holds
targets' rows, any other centres' rows. `centre_row`, `positive_rows` and `negative_rows` index them.

None of these functions may allocate, except the two `open_` functions, whose states hold the scratch. Those run as
plain Python in training and are compiled for `diagnostics`. A state is an array, a number or a NamedTuple of these. Its
arrays are copied to cache lines of their own, so data that must outlast a launch belongs in the plug. No array of a
plug or a state may overlap another one that is written to.

Performance hooks
-----------------
These affect only speed; a plug that binds none of them trains the same.

    prefetch_hint(source, tokens, position) -> int
    prescore(sampler, state, inputs, centre_row, following_row, out)
    fetches(sampler) -> bool
    on_update(sampler, state, m, positives, n, negatives, steps, out)
    weigh_group(weigher, state, m, n, positive_weights, negative_weights) -> bool
    step_group(loss, shared, weighed, m, n, exp_logits, weights, log_q, steps) -> (bool, float64)

prefetch_hint
    Return the id that the next groups will reach, negative if there is none. The loop starts loading its row: a
    target's, or a centre's if windows share negatives. The row is only prefetched, so a wrong id does no harm: `tokens`
    may hold anything after the entries that `fill` wrote.
prescore
    For a sampler that scores candidates for two centres at once: their row numbers, not ids, in `inputs` (float32
    matrix); the second is -1 if unknown. The next group may have another centre after all, or there may be none.
    Called before `draw` in training, unless windows share negatives; elsewhere `draw` must work without it.
fetches
    Return whether `draw` starts loading the rows it draws. If not, the loop does, if it computes the dot products.
on_update
    Called once the rows of a group's m positives and n negatives (ids, int32) in `out` are updated, for a sampler that
    tracks them. Each negative's row has moved by its step (float32, (n,)) times the centre before its update. If
    windows share negatives, `steps` holds the steps of all centres instead.
weigh_group, step_group
    `weigh` and `step` for all m pairs of a group at once. If a negative is excluded, the result is dropped and the loop
    goes pair by pair, so only the output arrays may change. `weigh_group` writes the weights of the m positives and of
    their n negatives in all and returns True, or returns False to be called pair by pair. The last four arguments of
    `step_group` are pairs of arrays: of the m positives, and of their negatives, n in all if `shared`, else n for each.
    It reads e^logit, the weights if `weighed`, and log q if a plug needs it. It writes dL/dlogit into `steps`, summed
    over the pairs for shared negatives, and returns True and the sum of L; or (False, 0.0), like a loss without it.
"""

import dis
import inspect

from ..ground.errors import ConfigError
from ..ground.jit import implementation_of, watch_plug


class Socket:
    """A function whose compiled body is chosen by the class of its first argument.

    arguments : str, names of the arguments, separated by spaces; a body must accept them; if "", those of `default`
    returns : bool, bodies must return a value; default : function, optional, for classes without a body of their own
    allocates : bool, bodies may create arrays
    """

    def __init__(self, name, arguments="", returns=False, default=None, allocates=False):
        self.name = name
        self.arguments = arguments.split() or list(inspect.signature(default).parameters)
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
        """Raise ConfigError if a body does not accept the socket's arguments or returns no value."""
        try:
            inspect.signature(function).bind(*self.arguments)
        except TypeError:
            listed = ", ".join(self.arguments)
            raise ConfigError(f"{self.name} of {plug.__name__} must take the arguments ({listed})") from None
        if self.returns and not _answers(function):
            raise ConfigError(f"{self.name} of {plug.__name__} returns nothing; docs/extending.md says what to return")

    def _choose(self, plug):
        return self.bodies.get(plug, self.default) or self.require(plug)

    def require(self, plug):
        """Raise ConfigError unless `plug` has a body of its own."""
        if plug not in self.bodies:
            name = getattr(plug, "__name__", plug)
            raise ConfigError(f"{name} has no {self.name}; decorate a function with @implement_{self.name}({name})")


def _answers(function):
    """Return whether a plain function may return a value other than None."""
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


SOCKETS: dict = {}  # str, name -> Socket


def socket(name, arguments="", **options):
    """Make a `Socket`; return its `implement` and its `call`."""
    made = SOCKETS[name] = Socket(name, arguments, **options)
    return made.implement, made.call


implement_fill, fill = socket("fill", "source lo hi epoch_key tokens", returns=True)
implement_group, group = socket("group", "source tokens position rng positives", returns=True)
implement_gather, gather = socket("gather", "inputs tokens position m positives words grams", returns=True)
implement_prefetch_hint, prefetch_hint = socket(
    "prefetch_hint", returns=True, default=lambda source, tokens, position: -1
)
implement_open_sampler, open_sampler = socket(
    "open_sampler", returns=True, default=lambda sampler, n_draws: n_draws, allocates=True
)
implement_prescore, prescore = socket(
    "prescore", default=lambda sampler, state, inputs, centre_row, following_row, out: None
)
implement_draw, draw = socket("draw", "sampler state group centre_id centre out rng n ids log_q logits", returns=True)
implement_fetches, fetches = socket("fetches", returns=True, default=lambda sampler: False)
implement_log_prob, log_prob = socket("log_prob", default=_unknown_log_prob)
implement_exclude, exclude = socket("exclude", "exclusion centre_id positives m ids weights", returns=True)
implement_open_weigher, open_weigher = socket(
    "open_weigher", returns=True, default=lambda weigher, max_positives, n_draws: n_draws, allocates=True
)
implement_prepare_group, prepare_group = socket(
    "prepare_group",
    "weigher state width centre_row m positive_rows n negative_rows negatives alpha rng",
    returns=True,
    default=lambda weigher, state, width, centre_row, m, positives, n, negatives, ids, alpha, rng: True,
)
implement_weigh, weigh = socket("weigh", "weigher state k offset ids logits exp_logits log_q weights")
implement_step, step = socket(
    "step", "loss centre_row alpha rng logits exp_logits log_q weights gradients", returns=True
)
implement_weigh_group, weigh_group = socket(
    "weigh_group", returns=True, default=lambda weigher, state, m, n, positive_weights, negative_weights: False
)
implement_step_group, step_group = socket(
    "step_group",
    "loss shared weighed m n exp_logits weights log_q steps",
    returns=True,
    default=lambda loss, shared, weighed, m, n, exp_logits, weights, log_q, steps: (False, 0.0),
)
implement_on_update, on_update = socket(
    "on_update", default=lambda sampler, state, m, positives, n, negatives, steps, out: None
)


def require_bodies(kind, plug):
    """Raise ConfigError if a plug lacks a required body, or binds `log_prob` without ``gives_log_q = True``.

    kind : "loss", "sampler", "weigher" or "inputs"; plug : class of the instance that ``from_options`` returns
    """
    idle = getattr(plug, "dense", False) or getattr(plug, "paths", False) or not getattr(plug, "composes", True)
    if not idle:
        SOCKETS[{"loss": "step", "sampler": "draw", "weigher": "weigh", "inputs": "gather"}[kind]].require(plug)
    if kind == "sampler" and not plug.gives_log_q and binds("log_prob", plug):
        raise ConfigError(f"{plug.__name__} binds log_prob; set gives_log_q = True")


def binds(name, plug):
    """Return whether a plug's class binds the socket `name` itself."""
    return plug in SOCKETS[name].bodies
