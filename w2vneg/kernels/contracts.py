"""The sockets of the one loop: what a sampler, a weigher, a loss and a source of groups must answer.

A plug is a NamedTuple of numbers and arrays; its class alone decides which code a socket runs, while compiling.
`Socket.implement` binds a plain Python function to a class; the function sees the arguments listed here, in order.

    open_sampler(sampler, n_draws) -> state                     scratch of one shard, made once per launch
    draw(sampler, state, group, centre_id, centre, out, rng, n, ids, log_q, logits) -> bool
    weigh(weigher, centre_id, ids, logits, odds, log_q, weights)
    step(loss, logits, odds, log_q, weights, gradients) -> float64
    fill(source, lo, hi, epoch_key, tokens) -> (first, last)    one block of the data into scratch
    group(source, tokens, position, rng, positives) -> int      one group: its number of positives

draw
    Write n noise draws for the centre into `ids` (int32); into `log_q` (float32) their log-probabilities, unless it is
    empty; return True if `logits` (float32) now holds their dot products with the centre (float32, (dim,)), False to
    leave that to the loop. `out` is the `Rows` of the output matrix, `group` the place of the group in its launch,
    `rng` the stream of the shard. Draws never see which targets are true. The arrays may be longer than n.
weigh
    Write the weights ω with which the targets count into `weights`; leave alone what is to stay 1.
    A negative that is excluded gets 0 afterwards.
step
    Write dL/dlogit into `gradients`, return L.
fill, group
    ``tokens[position]`` is the id of a group's centre, or negative where there is none; fill writes at most twice the
    block's length and what `LocalEngine` adds for context, and returns between which places the centres stand.

For weigh and step all arrays have 1 + n places, the positive first: ids int32, the others float32. odds[k] is
e^logits[k], taken once for a whole group where it can be vectorised, and always positive and finite: logits beyond ±80
count as ±80 there. log_q[0] is 0; log_q is empty if nobody declared to need it.
"""

from ..jit import implementation_of, watch_plug


class Socket:
    """A function whose compiled body is chosen by the class of its first argument.

    Parameters
    ----------
    name : str
        What the socket is called in messages.
    default : function, optional
        Body for classes that bind none of their own.
    """

    def __init__(self, name, default=None):
        self.name = name
        self.default = default
        self.bodies = {}  # class -> function

        def call(*args):
            return self._choose(type(args[0]))(*args)

        call.__name__ = call.__qualname__ = name
        self.call = implementation_of(call, self._choose)

    def implement(self, plug):
        """Return a decorator that binds a function to the NamedTuple class `plug`."""

        def bind(function):
            watch_plug(plug, function)
            self.bodies[plug] = function
            return function

        return bind

    def _choose(self, plug):
        body = self.bodies.get(plug, self.default)
        if body is None:
            raise TypeError(f"{getattr(plug, '__name__', plug)} does not implement {self.name!r}")
        return body


def _no_state(sampler, n_draws):
    return n_draws


_open_sampler = Socket("open_sampler", default=_no_state)
_draw = Socket("draw")
_weigh = Socket("weigh")
_step = Socket("step")
_fill = Socket("fill")
_group = Socket("group")

implement_open_sampler, open_sampler = _open_sampler.implement, _open_sampler.call
implement_draw, draw = _draw.implement, _draw.call
implement_weigh, weigh = _weigh.implement, _weigh.call
implement_step, step = _step.implement, _step.call
implement_fill, fill = _fill.implement, _fill.call
implement_group, group = _group.implement, _group.call
