"""What is held in vector registers: what LLVM's own vectoriser leaves on the table where arrays might overlap.

A loop over target rows that also adds to the centre's row must, for all the compiler knows, write that row back before
it reads the next one. Here the centre and what is to be added to it stay in registers, up to 128 numbers of them at a
time, while the rows go by; and sixteen draws with their counts, while the sums they are compared with go by. Vectors
have 16 lanes; LLVM splits them where a machine's registers are narrower.
"""

import llvmlite.ir as ir
import numpy as np

from ..jit import DISABLE_JIT, cgutils, intrinsic, types

_BLOCK = 128  # columns at a time: eight registers for the centre, eight for its sum, of 32
_SMALL_BLOCK = 64  # the same where the number of columns is not known before
NUMBER = ir.FloatType()
PLACE = ir.IntType(64)
COUNT = ir.IntType(32)
LANES = 16
LIMIT = 80.0  # exponents count as ±80 beyond, so that sums of thousands stay finite
LOG2E = 1.4426950408889634
POWERS = 1.0, 0.693147004, 0.240222424, 0.0555073358, 0.00967151299, 0.00132647273
"""Σ c_k f^k is 2^f on [-1/2, 1/2], fitted; tests/test_kernels.py holds the error bound."""


def _rounded_to_float(number):
    """Return the float32 next to a number as a Python float: constants of that type must be exact."""
    return float(np.float32(number))


def holds_numbers(*kinds):
    """Tell whether all are types of contiguous float32 arrays, whose memory may be read straight."""
    return all(kind.dtype == types.float32 and kind.layout == "C" for kind in kinds)


def holds_places(kind):
    """The same of an array of row numbers, contiguous int64."""
    return kind.dtype == types.int64 and kind.layout == "C"


def pieces_of(begin, end):
    """Return [(first column, lanes)] that cover [begin, end) with 16, then 8, 4, 2 or 1 lanes."""
    pieces = []
    while begin < end:
        lanes = next(size for size in (16, 8, 4, 2, 1) if begin + size <= end)
        pieces.append((begin, lanes))
        begin += lanes
    return pieces


def whole_columns(width):
    """Return [(first column, lanes that are in none before)]: vectors of `LANES` that cover a row of as many or more.

    The last one begins within the one before it.
    """
    columns = [(column, LANES) for column in range(0, width - LANES + 1, LANES)]
    return [*columns, (width - LANES, width % LANES)] if width % LANES else columns


class Emitter:
    """Loads, stores and multiply-adds of one function."""

    def __init__(self, context, builder):
        self.context, self.builder = context, builder

    def data(self, kind, value):
        """Return the address of an array's first element."""
        return self.context.make_array(kind)(self.context, self.builder, value).data

    def length(self, kind, value):
        """Return how many numbers an array of one dimension has."""
        shape = self.context.make_array(kind)(self.context, self.builder, value).shape
        return cgutils.unpack_tuple(self.builder, shape)[0]

    def at(self, base, offset, lanes, kind=NUMBER):
        address = self.builder.gep(base, [offset])
        return self.builder.bitcast(address, ir.VectorType(kind, lanes).as_pointer())

    def load(self, base, offset, lanes):
        return self.builder.load(self.at(base, offset, lanes), align=4)

    def load_once(self, base, begin, column, new):
        """Return `LANES` numbers from ``begin + column`` on, 0 but for the last `new`; see `whole_columns`."""
        value = self.load(base, self.builder.add(begin, PLACE(column)), LANES)
        if new == LANES:
            return value
        places = [LANES] * (LANES - new) + [*range(LANES - new, LANES)]
        mask = ir.Constant(ir.VectorType(COUNT, LANES), places)
        return self.builder.shuffle_vector(value, ir.Constant(value.type, [0.0] * LANES), mask)

    def store(self, value, base, offset, lanes):
        self.builder.store(value, self.at(base, offset, lanes), align=4)

    def spread(self, number, lanes):
        """Return a vector of `lanes` times the same number."""
        kind = ir.VectorType(NUMBER, lanes)
        one = self.builder.insert_element(ir.Constant(kind, ir.Undefined), number, ir.IntType(32)(0))
        places = ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)
        return self.builder.shuffle_vector(one, ir.Constant(kind, ir.Undefined), places)

    def total(self, vector):
        """Return the sum of a vector's lanes."""
        arguments = [NUMBER(-0.0), vector]
        return self._intrinsic("vector.reduce.fadd", vector, NUMBER, arguments, fastmath=["reassoc"])

    def totals(self, vectors):
        """Return the sums of the lanes of four vectors of `LANES` as one vector of four, with a third of the work."""
        a, b, c, d = vectors
        sums = self._folded(LANES // 4, self._folded(LANES // 2, a, b), self._folded(LANES // 2, c, d))
        return self._folded(1, self._folded(2, sums))

    def _folded(self, lanes, a, b=None):
        """Add the second half of each 2 · `lanes` lanes of a and b to the first; return what is left, side by side."""
        places = range(a.type.count * (1 if b is None else 2))
        b = ir.Constant(a.type, ir.Undefined) if b is None else b
        halves = []
        for half in (0, 1):
            chosen = [place for place in places if place // lanes % 2 == half]
            mask = ir.Constant(ir.VectorType(COUNT, len(chosen)), chosen)
            halves.append(self.builder.shuffle_vector(a, b, mask))
        return self.builder.fadd(*halves)

    def highest(self, vector):
        """Return the largest of a vector's lanes, none of which is NaN."""
        return self._intrinsic("vector.reduce.fmax", vector, NUMBER, [vector], fastmath=["nnan"])

    def rounded(self, vector):
        """Return the whole numbers nearest to a vector's lanes."""
        return self._intrinsic("rint", vector, vector.type, [vector])

    def _intrinsic(self, name, vector, result, arguments, **options):
        kind = ir.FunctionType(result, [argument.type for argument in arguments])
        name = f"llvm.{name}.v{vector.type.count}f32"
        declared = cgutils.get_or_insert_function(self.builder.module, kind, name)
        return self.builder.call(declared, arguments, **options)

    def choose(self, sign, a, b):
        """Return, lane by lane, a where ``a sign b`` holds, else b."""
        return self.builder.select(self.builder.fcmp_ordered(sign, a, b), a, b)

    def stretches(self, n):
        """Loop over n places: yield the first of each `LANES`, then each of the rest, with how many they are."""
        whole = self.builder.and_(n, PLACE(-LANES))
        for begin, end, lanes in ((PLACE(0), whole, LANES), (whole, n, 1)):
            with cgutils.for_range_slice(self.builder, begin, end, PLACE(lanes)) as (place, _):
                yield place, lanes

    def multiply_add(self, a, b, c):
        return self.builder.fadd(self.builder.fmul(a, b, flags=["contract"]), c, flags=["contract"])


def _emit_products(context, builder, signature, arguments, n_vectors):
    """Emit ``out[k] = matrix[index[k]] · x`` for `n_vectors` of x and out, which share the loads of four rows."""
    e = Emitter(context, builder)
    width = signature.args[0].literal_value
    rows, places, *rest = (e.data(signature.args[k], arguments[k]) for k in (1, 2, *range(4, 4 + 2 * n_vectors)))
    columns, outs = whole_columns(width), rest[n_vectors:]
    vectors = [[e.load_once(x, PLACE(0), column, new) for column, new in columns] for x in rest[:n_vectors]]

    def products_of(first, n_rows):
        at = [builder.add(first, PLACE(k)) for k in range(n_rows)]
        begins = [builder.mul(builder.load(builder.gep(places, [k])), PLACE(width)) for k in at]
        sums = [[None] * n_rows for _ in vectors]
        for c, (column, _) in enumerate(columns):
            for k, begin in enumerate(begins):
                value = e.load(rows, builder.add(begin, PLACE(column)), LANES)
                for vector, of_vector in zip(vectors, sums, strict=True):
                    before = of_vector[k]
                    of_vector[k] = (
                        e.multiply_add(value, vector[c], before) if before else builder.fmul(value, vector[c])
                    )
        for out, of_vector in zip(outs, sums, strict=True):
            if n_rows == 4:
                builder.store(e.totals(of_vector), e.at(out, first, 4), align=4)
            else:
                builder.store(e.total(of_vector[0]), builder.gep(out, [first]))

    n = arguments[3]
    whole = builder.and_(n, PLACE(-4))
    with cgutils.for_range_slice(builder, PLACE(0), whole, PLACE(4)) as (first, _):
        products_of(first, 4)
    with cgutils.for_range_slice(builder, whole, n, PLACE(1)) as (first, _):
        products_of(first, 1)
    return context.get_dummy_value()


@intrinsic
def dot_lanes(typing_context, dim, matrix, index, n, x, out):
    """Write ``out[k] = matrix[index[k]] · x`` for k < n, four rows at a time.

    dim : int, known to the compiler, at least `LANES`; matrix : float32, (rows, dim); index : int64; x : float32,
    (dim,); out : float32. All are contiguous.
    """
    if not (isinstance(dim, types.IntegerLiteral) and holds_numbers(matrix, x, out) and holds_places(index)):
        return None

    def emit(context, builder, signature, arguments):
        return _emit_products(context, builder, signature, arguments, 1)

    return types.void(dim, matrix, index, n, x, out), emit


@intrinsic
def dot_two_lanes(typing_context, dim, matrix, index, n, x, y, out_x, out_y):
    """The same for two vectors at once, to the bit: each row is loaded once for both."""
    if not (
        isinstance(dim, types.IntegerLiteral) and holds_numbers(matrix, x, y, out_x, out_y) and holds_places(index)
    ):
        return None

    def emit(context, builder, signature, arguments):
        return _emit_products(context, builder, signature, arguments, 2)

    return types.void(dim, matrix, index, n, x, y, out_x, out_y), emit


@intrinsic
def step_lanes(typing_context, dim, matrix, index, steps, n, x, total):
    """Do ``total += c_k · row_k; row_k += c_k · x`` for the rows ``index[:n]`` of `matrix`, one after the other.

    dim : int, known to the compiler, or None: found at run time, with more passes over the rows
    matrix : float32, (rows, dim); index : int64; steps : float32, the c_k
    x, total : float32, (dim,), apart from the rows; they may be one. All are contiguous.
    """
    known = isinstance(dim, types.IntegerLiteral)
    if not (known or isinstance(dim, types.NoneType)):
        return None
    if not (holds_numbers(matrix, steps, x, total) and holds_places(index)):
        return None

    def emit(context, builder, signature, arguments):
        e = Emitter(context, builder)
        rows, places, sizes, centre, sum_ = (e.data(signature.args[k], arguments[k]) for k in (1, 2, 3, 5, 6))
        width = PLACE(dim.literal_value) if known else e.length(signature.args[5], arguments[5])

        def step_columns(pieces):
            """Let the rows go by for some columns; pieces : list of (first column, lanes)."""
            centres = [e.load(centre, column, lanes) for column, lanes in pieces]
            sums = [cgutils.alloca_once_value(builder, e.spread(NUMBER(0.0), lanes)) for _, lanes in pieces]
            with cgutils.for_range(builder, arguments[4]) as loop:
                size = builder.load(builder.gep(sizes, [loop.index]))
                row = builder.mul(builder.load(builder.gep(places, [loop.index])), width)
                before = [e.load(rows, builder.add(row, column), lanes) for column, lanes in pieces]
                for (column, lanes), value, here, sum_here in zip(pieces, before, centres, sums, strict=True):
                    step = e.spread(size, lanes)
                    builder.store(e.multiply_add(step, value, builder.load(sum_here)), sum_here)
                    e.store(e.multiply_add(step, here, value), rows, builder.add(row, column), lanes)
            for (column, lanes), sum_here in zip(pieces, sums, strict=True):
                e.store(builder.fadd(e.load(sum_, column, lanes), builder.load(sum_here)), sum_, column, lanes)

        if known:
            for begin in range(0, dim.literal_value, _BLOCK):
                pieces = pieces_of(begin, min(begin + _BLOCK, dim.literal_value))
                step_columns([(PLACE(column), lanes) for column, lanes in pieces])
        else:
            begin = PLACE(0)
            for block in (_SMALL_BLOCK, 16, 8, 4, 2, 1):
                end = builder.and_(width, PLACE(-block))
                with cgutils.for_range_slice(builder, begin, end, PLACE(block)) as (column, _):
                    pieces = pieces_of(0, block)
                    step_columns([(builder.add(column, PLACE(first)), lanes) for first, lanes in pieces])
                begin = end
        return context.get_dummy_value()

    return types.void(dim, matrix, index, steps, n, x, total), emit


def _exponential(e, exponent, lanes):
    """Return e^exponent of a vector, relative error below 4e-6; exponents beyond ±`LIMIT` count as that."""
    kind, counts = ir.VectorType(NUMBER, lanes), ir.VectorType(COUNT, lanes)
    builder = e.builder

    def every(number):
        return ir.Constant(kind, [_rounded_to_float(number)] * lanes)

    exponent = e.choose("<", e.choose(">", exponent, every(-LIMIT)), every(LIMIT))
    power = builder.fmul(exponent, every(LOG2E))
    whole = e.rounded(power)
    part = builder.fsub(power, whole)
    fraction = every(POWERS[-1])
    for coefficient in reversed(POWERS[:-1]):
        fraction = e.multiply_add(part, fraction, every(coefficient))
    biased = builder.add(builder.fptosi(whole, counts), ir.Constant(counts, [127] * lanes))
    return builder.fmul(builder.bitcast(builder.shl(biased, ir.Constant(counts, [23] * lanes)), kind), fraction)


@intrinsic
def exp_lanes(typing_context, values, n, scale, shift, out):
    """Write ``out[k] = exp((values[k] - shift) * scale)`` for k < n, as `_exponential` takes it.

    values, out : float32; n : int; scale, shift : float32. `LANES` numbers take as long as one of the rest.
    """
    if not holds_numbers(values, out):
        return None

    def emit(context, builder, signature, arguments):
        e = Emitter(context, builder)
        source, target = e.data(signature.args[0], arguments[0]), e.data(signature.args[4], arguments[4])
        for place, lanes in e.stretches(arguments[1]):
            value = builder.fsub(e.load(source, place, lanes), e.spread(arguments[3], lanes))
            value = builder.fmul(value, e.spread(arguments[2], lanes))
            e.store(_exponential(e, value, lanes), target, place, lanes)
        return context.get_dummy_value()

    return types.void(values, n, scale, shift, out), emit


@intrinsic
def stretch_lanes(typing_context, values, n, scale, added):
    """Replace the first n of `values` by ``values * scale + added``; return the largest (−∞ if none), NaN passed over.

    values, added : float32; n : int; scale : float32
    """
    if not holds_numbers(values, added):
        return None

    def emit(context, builder, signature, arguments):
        e = Emitter(context, builder)
        numbers, summands = e.data(signature.args[0], arguments[0]), e.data(signature.args[3], arguments[3])
        tops = {lanes: cgutils.alloca_once_value(builder, e.spread(NUMBER(-np.inf), lanes)) for lanes in (LANES, 1)}
        for place, lanes in e.stretches(arguments[1]):
            value, summand = e.load(numbers, place, lanes), e.load(summands, place, lanes)
            value = e.multiply_add(value, e.spread(arguments[2], lanes), summand)
            e.store(value, numbers, place, lanes)
            builder.store(e.choose(">", value, builder.load(tops[lanes])), tops[lanes])
        of_whole, of_rest = (e.highest(builder.load(tops[lanes])) for lanes in (LANES, 1))
        return e.choose(">", of_whole, of_rest)

    return types.float32(values, n, scale, added), emit


@intrinsic
def weigh_lanes(typing_context, values, n, top, sums):
    """Replace the first n of `values` by e^{value − top}, 0 below e^−80, and add each `LANES` of them to one of `sums`.

    values, sums : float32; n : int; top : float32
    """
    if not holds_numbers(values, sums):
        return None

    def emit(context, builder, signature, arguments):
        e = Emitter(context, builder)
        numbers, totals = e.data(signature.args[0], arguments[0]), e.data(signature.args[3], arguments[3])
        for place, lanes in e.stretches(arguments[1]):
            exponent = builder.fsub(e.load(numbers, place, lanes), e.spread(arguments[2], lanes))
            zero, least = (ir.Constant(exponent.type, [number] * lanes) for number in (0.0, -LIMIT))
            weight = builder.select(builder.fcmp_ordered(">", exponent, least), _exponential(e, exponent, lanes), zero)
            e.store(weight, numbers, place, lanes)
            total = builder.gep(totals, [builder.udiv(place, PLACE(LANES))])
            builder.store(builder.fadd(builder.load(total), e.total(weight)), total)
        return context.get_dummy_value()

    return types.void(values, n, top, sums), emit


@intrinsic
def rank_lanes(typing_context, sums, targets, n, ranks):
    """Write ``ranks[k]``, how many of `sums` are at most ``targets[k]``, for k < n and on to a multiple of `LANES`.

    sums : float32, (m,); targets : float32 and ranks : int32, both (n rounded up to a multiple of `LANES`,)
    """
    if not holds_numbers(sums, targets):
        return None

    def emit(context, builder, signature, arguments):
        e = Emitter(context, builder)
        steps, goals, counts = (e.data(signature.args[k], arguments[k]) for k in (0, 1, 3))
        n_sums = e.length(signature.args[0], arguments[0])
        kind = ir.VectorType(COUNT, LANES)
        with cgutils.for_range_slice(builder, PLACE(0), arguments[2], PLACE(LANES)) as (block, _):
            goal = e.load(goals, block, LANES)
            count = cgutils.alloca_once_value(builder, ir.Constant(kind, [0] * LANES))
            with cgutils.for_range(builder, n_sums) as loop:
                passed = builder.fcmp_ordered(
                    "<=", e.spread(builder.load(builder.gep(steps, [loop.index])), LANES), goal
                )
                builder.store(builder.add(builder.load(count), builder.zext(passed, kind)), count)
            builder.store(builder.load(count), e.at(counts, block, LANES, COUNT), align=4)
        return context.get_dummy_value()

    return types.void(sums, targets, n, ranks), emit


if DISABLE_JIT:

    def dot_lanes(dim, matrix, index, n, x, out):
        """The same in plain Python."""
        out[:n] = matrix[index[:n]] @ x

    def dot_two_lanes(dim, matrix, index, n, x, y, out_x, out_y):
        """The same in plain Python."""
        dot_lanes(dim, matrix, index, n, x, out_x)
        dot_lanes(dim, matrix, index, n, y, out_y)

    def step_lanes(dim, matrix, index, steps, n, x, total):
        """The same in plain Python."""
        added = np.zeros_like(x)
        for k in range(n):
            before = matrix[index[k]].copy()
            matrix[index[k]] += steps[k] * x
            added += steps[k] * before
        total += added

    def exp_lanes(values, n, scale, shift, out):
        """The same in plain Python."""
        out[:n] = np.exp(np.clip((values[:n] - shift) * scale, -LIMIT, LIMIT))

    def stretch_lanes(values, n, scale, added):
        """The same in plain Python."""
        values[:n] = values[:n] * scale + added[:n]
        return np.fmax.reduce(values[:n], initial=np.float32(-np.inf))

    def weigh_lanes(values, n, top, sums):
        """The same in plain Python."""
        exponents = values[:n] - top
        values[:n] = np.where(exponents > -LIMIT, np.exp(np.clip(exponents, -LIMIT, LIMIT)), 0)
        np.add.at(sums, np.arange(n) // LANES, values[:n])

    def rank_lanes(sums, targets, n, ranks):
        """The same in plain Python."""
        ranks[:n] = (sums <= targets[:n, None]).sum(1)
