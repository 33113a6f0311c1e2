"""Loops that keep data in vector registers, which LLVM's own vectoriser cannot do if arrays might overlap.

A loop over target rows that also adds to the centre's row must, for all the compiler knows, write that row back before
it reads the next one. Here the centre and the sum to add to it stay in registers, up to 128 numbers of them at a time,
during the loop over rows. So do sixteen draws with their counts, during the loop over the sums they are compared with.
Vectors have 16 lanes (`kernels.simd.vectors`).
"""

import llvmlite.ir as ir
import numpy as np

from ...ground.jit import DISABLE_JIT, cgutils, intrinsic, types
from .vectors import COUNT, LANES, LIMIT, NUMBER, PLACE, Emitter, holds_numbers, holds_places, pieces_of, whole_columns

_BLOCK = 128  # columns at a time: of 32 registers, eight hold the centre and eight its sum
_SMALL_BLOCK = 64  # the same if the number of columns is known only at run time


def _products(dim, matrix, index, n, *vectors):
    """Make an intrinsic ``out[k] = matrix[index[k]] · x`` for one x and out, or more, which share the loads of rows."""
    if not (isinstance(dim, types.IntegerLiteral) and holds_numbers(matrix, *vectors) and holds_places(index)):
        return None
    width, n_vectors = dim.literal_value, len(vectors) // 2

    def emit(context, builder, signature, arguments):
        e = Emitter(context, builder, signature, arguments)
        rows, places, *rest = map(e.data, (1, 2, *range(4, 4 + 2 * n_vectors)))
        columns, outs = whole_columns(width), rest[n_vectors:]
        held = [[e.load_once(x, PLACE(0), column, new) for column, new in columns] for x in rest[:n_vectors]]

        def products_of(first, n_rows):
            at = [builder.add(first, PLACE(k)) for k in range(n_rows)]
            begins = [builder.mul(builder.load(builder.gep(places, [k])), PLACE(width)) for k in at]
            sums = [[None] * n_rows for _ in held]
            for c, (column, _) in enumerate(columns):
                for k, begin in enumerate(begins):
                    value = e.load(rows, builder.add(begin, PLACE(column)), LANES)
                    for x, of_x in zip(held, sums, strict=True):
                        of_x[k] = e.multiply_add(value, x[c], of_x[k]) if of_x[k] else builder.fmul(value, x[c])
            for out, of_x in zip(outs, sums, strict=True):
                if n_rows == 4:
                    builder.store(e.totals(of_x), e.at(out, first, 4), align=4)
                else:
                    builder.store(e.total(of_x[0]), builder.gep(out, [first]))

        for first, n_rows in e.stretches(arguments[3], 4, 1):
            products_of(first, n_rows)
        return context.get_dummy_value()

    return types.void(dim, matrix, index, n, *vectors), emit


@intrinsic
def dot_lanes(typing_context, dim, matrix, index, n, x, out):
    """Write ``out[k] = matrix[index[k]] · x`` for k < n, four rows at a time.

    dim : int, known to the compiler, at least `LANES`; matrix : float32, (rows, dim); index : int64; x : float32,
    (dim,); out : float32. All are contiguous.
    """
    return _products(dim, matrix, index, n, x, out)


@intrinsic
def dot_two_lanes(typing_context, dim, matrix, index, n, x, y, out_x, out_y):
    """The same for two vectors at once, bit for bit; each row is loaded once for both."""
    return _products(dim, matrix, index, n, x, y, out_x, out_y)


@intrinsic
def step_lanes(typing_context, dim, matrix, index, steps, n, x, total):
    """Do ``total += c_k · row_k; row_k += c_k · x`` for the rows ``index[:n]`` of `matrix`, one after the other.

    dim : int, known to the compiler, or None: found at run time, with more passes over the rows
    matrix : float32, (rows, dim); index : int64; steps : float32, the c_k
    x, total : float32, (dim,), not overlapping the rows; both may be one array. All are contiguous.
    """
    known = isinstance(dim, types.IntegerLiteral)
    numbers = holds_numbers(matrix, steps, x, total)
    if not ((known or isinstance(dim, types.NoneType)) and numbers and holds_places(index)):
        return None

    def emit(context, builder, signature, arguments):
        e = Emitter(context, builder, signature, arguments)
        rows, places, sizes, centre, sum_ = map(e.data, (1, 2, 3, 5, 6))
        width = PLACE(dim.literal_value) if known else e.length(5)
        for pieces in _blocks(e, dim, width):
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
        return context.get_dummy_value()

    return types.void(dim, matrix, index, steps, n, x, total), emit


def _blocks(e, dim, width):
    """Yield each block of columns that fits in registers, as a list of (first column, lanes); width : PLACE."""
    if isinstance(dim, types.IntegerLiteral):
        for begin in range(0, dim.literal_value, _BLOCK):
            pieces = pieces_of(begin, min(begin + _BLOCK, dim.literal_value))
            yield [(PLACE(column), lanes) for column, lanes in pieces]
    else:
        for column, block in e.stretches(width, _SMALL_BLOCK, 16, 8, 4, 2, 1):
            yield [(e.builder.add(column, PLACE(first)), lanes) for first, lanes in pieces_of(0, block)]


def _of_rows(dim, matrix, index, n, vector, adds_to_rows):
    """Make an intrinsic over rows and one vector: the vector is added to each row, or the rows are added to it."""
    known = isinstance(dim, types.IntegerLiteral)
    if not ((known or isinstance(dim, types.NoneType)) and holds_numbers(matrix, vector) and holds_places(index)):
        return None

    def emit(context, builder, signature, arguments):
        e = Emitter(context, builder, signature, arguments)
        rows, places, one = map(e.data, (1, 2, 4))
        width = PLACE(dim.literal_value) if known else e.length(4)
        for pieces in _blocks(e, dim, width):
            held = [e.load(one, column, lanes) for column, lanes in pieces]
            sums = [] if adds_to_rows else [cgutils.alloca_once_value(builder, value) for value in held]
            with cgutils.for_range(builder, arguments[3]) as loop:
                row = builder.mul(builder.load(builder.gep(places, [loop.index])), width)
                before = [e.load(rows, builder.add(row, column), lanes) for column, lanes in pieces]
                for k, ((column, lanes), value) in enumerate(zip(pieces, before, strict=True)):
                    if adds_to_rows:
                        e.store(builder.fadd(value, held[k]), rows, builder.add(row, column), lanes)
                    else:
                        builder.store(builder.fadd(builder.load(sums[k]), value), sums[k])
            for (column, lanes), sum_here in zip(pieces, sums, strict=False):
                e.store(builder.load(sum_here), one, column, lanes)
        return context.get_dummy_value()

    return types.void(dim, matrix, index, n, vector), emit


@intrinsic
def sum_lanes(typing_context, dim, matrix, index, n, total):
    """Do ``total += row_k`` for the rows ``index[:n]`` of `matrix`; arguments are those of `step_lanes`."""
    return _of_rows(dim, matrix, index, n, total, False)


@intrinsic
def add_lanes(typing_context, dim, matrix, index, n, step):
    """Do ``row_k += step`` for the rows ``index[:n]`` of `matrix`, one after the other; a row may occur twice."""
    return _of_rows(dim, matrix, index, n, step, True)


@intrinsic
def exp_lanes(typing_context, values, n, scale, shift, out):
    """Write ``out[k] = exp((values[k] - shift) * scale)`` for k < n; exponents are clipped to ±`LIMIT`.

    values, out : float32; n : int; scale, shift : float32. `LANES` numbers take as long as one of the remainder.
    """
    if not holds_numbers(values, out):
        return None

    def emit(context, builder, signature, arguments):
        e = Emitter(context, builder, signature, arguments)
        source, target = e.data(0), e.data(4)
        for place, lanes in e.stretches(arguments[1], LANES, 1):
            value = builder.fsub(e.load(source, place, lanes), e.spread(arguments[3], lanes))
            value = builder.fmul(value, e.spread(arguments[2], lanes))
            value = e.choose("<", e.choose(">", value, e.every(-LIMIT, lanes)), e.every(LIMIT, lanes))
            e.store(e.exponential(value), target, place, lanes)
        return context.get_dummy_value()

    return types.void(values, n, scale, shift, out), emit


@intrinsic
def weigh_lanes(typing_context, values, n, scale, added, top, sums):
    """Replace the first n of `values` by e^x, x = (value · scale + added) − top; sum up each `LANES` of them in `sums`.

    If x is NaN or below −80, 0 is written; if x is above 80, the result is meaningless. Return the largest x, ignoring
    NaN (−∞ if none).

    values, added : float32; sums : float32, zeros; n : int; scale, top : float32
    """
    if not holds_numbers(values, added, sums):
        return None

    def emit(context, builder, signature, arguments):
        e = Emitter(context, builder, signature, arguments)
        numbers, summands, totals = map(e.data, (0, 3, 5))
        largest = {lanes: cgutils.alloca_once_value(builder, e.every(-np.inf, lanes)) for lanes in (LANES, 1)}

        def weigh(place, lanes):
            value = e.multiply_add(
                e.load(numbers, place, lanes), e.spread(arguments[2], lanes), e.load(summands, place, lanes)
            )
            exponent = builder.fsub(value, e.spread(arguments[4], lanes))  # exactly 0 for the largest, however large
            builder.store(e.choose(">", exponent, builder.load(largest[lanes])), largest[lanes])
            counts = builder.fcmp_ordered(">", exponent, e.every(-LIMIT, lanes))
            weight = builder.select(counts, e.exponential(exponent), e.every(0.0, lanes))
            e.store(weight, numbers, place, lanes)
            return weight

        for place, size in e.stretches(arguments[1], 4 * LANES, LANES, 1):
            line = builder.udiv(place, PLACE(LANES))
            if size > LANES:
                weights = [weigh(builder.add(place, PLACE(k * LANES)), LANES) for k in range(4)]
                e.store(e.totals(weights), totals, line, 4)
            elif size == LANES:
                builder.store(e.total(weigh(place, LANES)), builder.gep(totals, [line]))
            else:
                total = builder.gep(totals, [line])
                builder.store(builder.fadd(builder.load(total), e.total(weigh(place, 1))), total)
        return e.choose(">", *(e.highest(builder.load(largest[lanes])) for lanes in (LANES, 1)))

    return types.float32(values, n, scale, added, top, sums), emit


@intrinsic
def highest_lanes(typing_context, values, n):
    """Return the largest of the first n of `values`, float32, ignoring NaN; −∞ if there is none."""
    if not holds_numbers(values):
        return None

    def emit(context, builder, signature, arguments):
        e = Emitter(context, builder, signature, arguments)
        numbers = e.data(0)
        largest = {lanes: cgutils.alloca_once_value(builder, e.every(-np.inf, lanes)) for lanes in (LANES, 1)}
        for place, lanes in e.stretches(arguments[1], LANES, 1):
            value = e.choose(">", e.load(numbers, place, lanes), builder.load(largest[lanes]))
            builder.store(value, largest[lanes])
        return e.choose(">", *(e.highest(builder.load(largest[lanes])) for lanes in (LANES, 1)))

    return types.float32(values, n), emit


@intrinsic
def above_lanes(typing_context, values, first, last):
    """Return which of the 64 numbers from ``values[first]`` on are above `last` or NaN: bit k for number k, uint64.

    values : float32, contiguous; last : float32
    """
    if not holds_numbers(values):
        return None

    def emit(context, builder, signature, arguments):
        e = Emitter(context, builder, signature, arguments)
        numbers, word = e.data(0), ir.IntType(64)
        limit, mask = e.spread(arguments[2], LANES), word(0)
        for begin in range(0, 64, LANES):
            part = e.load(numbers, builder.add(arguments[1], PLACE(begin)), LANES)
            above = builder.bitcast(builder.fcmp_unordered(">", part, limit), ir.IntType(LANES))
            mask = builder.or_(mask, builder.shl(builder.zext(above, word), word(begin)))
        return mask

    return types.uint64(values, types.intp, types.float32), emit


@intrinsic
def rank_lanes(typing_context, sums, targets, n, ranks):
    """Write into ``ranks[k]`` how many of `sums` are at most ``targets[k]``, for k < n rounded up to whole `LANES`.

    sums : float32, (m,); targets : float32 and ranks : int32, both (n rounded up to a multiple of `LANES`,)
    """
    if not holds_numbers(sums, targets):
        return None

    def emit(context, builder, signature, arguments):
        e = Emitter(context, builder, signature, arguments)
        steps, goals, counts = map(e.data, (0, 1, 3))
        n_sums = e.length(0)
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


if DISABLE_JIT:  # the same in plain Python

    def dot_lanes(dim, matrix, index, n, x, out):
        out[:n] = matrix[index[:n]] @ x

    def dot_two_lanes(dim, matrix, index, n, x, y, out_x, out_y):
        dot_lanes(dim, matrix, index, n, x, out_x)
        dot_lanes(dim, matrix, index, n, y, out_y)

    def step_lanes(dim, matrix, index, steps, n, x, total):
        added = np.zeros_like(x)
        for k in range(n):
            before = matrix[index[k]].copy()
            matrix[index[k]] += steps[k] * x
            added += steps[k] * before
        total += added

    def sum_lanes(dim, matrix, index, n, total):
        total += matrix[index[:n]].sum(axis=0)

    def add_lanes(dim, matrix, index, n, step):
        np.add.at(matrix, index[:n], step)

    def exp_lanes(values, n, scale, shift, out):
        out[:n] = np.exp(np.clip((values[:n] - shift) * scale, -LIMIT, LIMIT))

    def weigh_lanes(values, n, scale, added, top, sums):
        exponents = values[:n] * scale + added[:n] - top
        values[:n] = np.where(exponents > -LIMIT, np.exp(np.clip(exponents, -LIMIT, LIMIT)), 0)
        np.add.at(sums, np.arange(n) // LANES, values[:n])
        return np.fmax.reduce(exponents, initial=np.float32(-np.inf))

    def highest_lanes(values, n):
        return np.fmax.reduce(values[:n], initial=np.float32(-np.inf))

    def above_lanes(values, first, last):
        return np.uint64(sum(int(not values[int(first) + k] <= last) << k for k in range(64)))

    def rank_lanes(sums, targets, n, ranks):
        ranks[:n] = (sums <= targets[:n, None]).sum(1)
