"""Tiles: a positive and five negatives with all centres of a window, as small matrix products in vector registers.

A window has few targets, and its centres are processed one after the other. Row by row, each pair would load a target
for the product, and load and store it again for the step. Here the targets stay in registers, and each centre is loaded
and stored once. How much fits depends on the machine: with 32 registers of 512 bits, two centres share the loads of a
product, and 48 columns are stepped at a time; otherwise one centre, and 8 columns.

If workers share rows, a target's row is written back after all centres of the window, not after each. If two workers
step it at the same time, the steps of one are lost slightly more often.
"""

import numpy as np

from ...ground.jit import DISABLE_JIT, cgutils, intrinsic, types
from .vectors import COUNT, LANES, PLACE, Emitter, holds_numbers, holds_places, pieces_of, whole_columns

NEGATIVES = 5  # of a tile; the positive is the sixth target


def _has_wide_registers(context):
    """Return whether code is generated for a machine with 32 vector registers of 512 bits."""
    return "+avx512f" in context.codegen().magic_tuple()[2]


@intrinsic
def tile_products(typing_context, dim, matrix, index, m, targets, target_index, n, positives, negatives, norms):
    """Write the dot products of m rows of `matrix`, the centres, with six rows of `targets`, and |centre|².

    dim : int, known to the compiler, at least `LANES`; matrix, targets : float32, (rows, dim); index : int64, (m,)
    target_index : int64, the positive's row, then the negatives', of which the first `NEGATIVES` are used
    positives, norms : float32, (m,); negatives : float32, (m * n,), each centre's n side by side. All are contiguous.
    """
    numbers = matrix, targets, positives, negatives, norms
    if not (isinstance(dim, types.IntegerLiteral) and holds_numbers(*numbers) and holds_places(index, target_index)):
        return None
    width = dim.literal_value

    def emit(context, builder, signature, arguments):
        e = Emitter(context, builder, signature, arguments)
        rows, places, others, other_places, firsts, seconds, lengths = map(e.data, (1, 2, 4, 5, 7, 8, 9))
        m, n = arguments[3], arguments[6]

        def row_at(index_of, k):
            return builder.mul(builder.load(builder.gep(index_of, [k])), PLACE(width))

        begins = [row_at(other_places, PLACE(j)) for j in range(1 + NEGATIVES)]

        def products_of(first, count):
            at = [builder.add(first, PLACE(i)) for i in range(count)]
            own = [row_at(places, k) for k in at]
            sums = [[None] * (2 + NEGATIVES) for _ in at]  # the last is |x|²
            for column, new in whole_columns(width):
                values = [e.load(others, builder.add(begin, PLACE(column)), LANES) for begin in begins]
                for begin, sums_here in zip(own, sums, strict=True):
                    x = e.load_once(rows, begin, column, new)
                    for j, value in enumerate([*values, x]):
                        before = sums_here[j]
                        sums_here[j] = e.multiply_add(value, x, before) if before else builder.fmul(value, x)
            single = []
            for k, (positive, *rest, norm) in zip(at, sums, strict=True):
                begin = builder.mul(k, n)
                builder.store(e.totals(rest[:4]), e.at(seconds, begin, 4), align=4)
                single += [
                    (rest[4], builder.gep(seconds, [builder.add(begin, PLACE(4))])),
                    (positive, builder.gep(firsts, [k])),
                    (norm, builder.gep(lengths, [k])),
                ]
            for begin in range(0, len(single), 4):
                four = single[begin : begin + 4]
                totals = e.totals([vector for vector, _ in (four * 4)[:4]])
                for lane, (_, address) in enumerate(four):
                    builder.store(builder.extract_element(totals, COUNT(lane)), address)

        for first, count in e.stretches(m, *((2, 1) if _has_wide_registers(context) else (1,))):
            products_of(first, count)
        return context.get_dummy_value()

    return types.void(dim, matrix, index, m, targets, target_index, n, positives, negatives, norms), emit


@intrinsic
def tile_steps(typing_context, dim, matrix, index, m, targets, target_index, n, positives, negatives):
    """Do ``x += Σ_j c_kj · y_j; y_j += c_kj · x`` (both as before) for the m rows x of `matrix`, one after the other.

    The y_j are six distinct rows of `targets`; positives, negatives : float32, the c_kj. Arguments are those of
    `tile_products`; a row of `matrix` may occur twice.
    """
    numbers = matrix, targets, positives, negatives
    if not (isinstance(dim, types.IntegerLiteral) and holds_numbers(*numbers) and holds_places(index, target_index)):
        return None
    width = dim.literal_value

    def emit(context, builder, signature, arguments):
        e = Emitter(context, builder, signature, arguments)
        rows, places, others, other_places, firsts, seconds = map(e.data, (1, 2, 4, 5, 7, 8))
        targets_at = [builder.load(builder.gep(other_places, [PLACE(j)])) for j in range(1 + NEGATIVES)]
        begins = [builder.mul(place, PLACE(width)) for place in targets_at]
        block = 3 * LANES if _has_wide_registers(context) else LANES // 2
        for first_column in range(0, width, block):
            pieces = pieces_of(first_column, min(first_column + block, width))
            held = []
            for begin in begins:
                values = [e.load(others, builder.add(begin, PLACE(column)), lanes) for column, lanes in pieces]
                held.append([cgutils.alloca_once_value(builder, value) for value in values])
            with cgutils.for_range(builder, arguments[3]) as loop:
                row = builder.mul(builder.load(builder.gep(places, [loop.index])), PLACE(width))
                first = builder.mul(loop.index, arguments[6])
                steps = [builder.gep(seconds, [builder.add(first, PLACE(j))]) for j in range(NEGATIVES)]
                centres = [e.load(rows, builder.add(row, PLACE(column)), lanes) for column, lanes in pieces]
                sums = [None] * len(pieces)
                for step, values in zip([builder.gep(firsts, [loop.index]), *steps], held, strict=True):
                    size = builder.load(step)
                    for p, (_, lanes) in enumerate(pieces):
                        spread, value = e.spread(size, lanes), builder.load(values[p])
                        sums[p] = e.multiply_add(spread, value, sums[p]) if sums[p] else builder.fmul(spread, value)
                        builder.store(e.multiply_add(spread, centres[p], value), values[p])
                for (column, lanes), x, total in zip(pieces, centres, sums, strict=True):
                    e.store(builder.fadd(x, total), rows, builder.add(row, PLACE(column)), lanes)
            for begin, values in zip(begins, held, strict=True):
                for (column, lanes), value in zip(pieces, values, strict=True):
                    e.store(builder.load(value), others, builder.add(begin, PLACE(column)), lanes)
        return context.get_dummy_value()

    return types.void(dim, matrix, index, m, targets, target_index, n, positives, negatives), emit


if DISABLE_JIT:  # the same in plain Python

    def tile_products(dim, matrix, index, m, targets, target_index, n, positives, negatives, norms):
        rows = matrix[index[:m]]
        products = rows @ targets[target_index[: 1 + NEGATIVES]].T
        positives[:m], norms[:m] = products[:, 0], (rows**2).sum(1)
        negatives[: m * n].reshape(m, n)[:, :NEGATIVES] = products[:, 1:]

    def tile_steps(dim, matrix, index, m, targets, target_index, n, positives, negatives):
        chosen = target_index[: 1 + NEGATIVES]
        for k in range(m):
            sizes = np.append(positives[k], negatives[k * n : k * n + NEGATIVES])
            x = matrix[index[k]].copy()
            matrix[index[k]] += sizes @ targets[chosen]
            targets[chosen] += sizes[:, None] * x
