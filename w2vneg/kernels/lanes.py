"""Rows held in vector registers: what LLVM's own vectoriser leaves on the table where arrays might overlap.

A loop over target rows that also adds to the centre's gradient must, for all the compiler knows, write the gradient
back before it reads the next row. Here the centre and its gradient stay in registers, 128 numbers of them at a time,
while the rows go by. Vectors have 16 lanes; LLVM splits them where a machine's registers are narrower.
"""

import llvmlite.ir as ir

from ..jit import DISABLE_JIT, cgutils, intrinsic, types

_BLOCK = 128  # columns at a time: eight registers for the centre, eight for the gradient, of 32
_NUMBER = ir.FloatType()
_PLACE = ir.IntType(64)


def _pieces(begin, end):
    """Return [(first column, lanes)] that cover [begin, end) with 16, then 8, 4, 2 or 1 lanes."""
    pieces = []
    while begin < end:
        lanes = next(size for size in (16, 8, 4, 2, 1) if begin + size <= end)
        pieces.append((begin, lanes))
        begin += lanes
    return pieces


class _Emitter:
    """Loads, stores and multiply-adds of one function."""

    def __init__(self, context, builder):
        self.context, self.builder = context, builder

    def data(self, kind, value):
        """Return the address of an array's first element."""
        return self.context.make_array(kind)(self.context, self.builder, value).data

    def at(self, base, offset, lanes):
        address = self.builder.gep(base, [offset])
        return self.builder.bitcast(address, ir.VectorType(_NUMBER, lanes).as_pointer())

    def load(self, base, offset, lanes):
        return self.builder.load(self.at(base, offset, lanes), align=4)

    def store(self, value, base, offset, lanes):
        self.builder.store(value, self.at(base, offset, lanes), align=4)

    def spread(self, number, lanes):
        """Return a vector of `lanes` times the same number."""
        kind = ir.VectorType(_NUMBER, lanes)
        one = self.builder.insert_element(ir.Constant(kind, ir.Undefined), number, ir.IntType(32)(0))
        places = ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)
        return self.builder.shuffle_vector(one, ir.Constant(kind, ir.Undefined), places)

    def multiply_add(self, a, b, c):
        return self.builder.fadd(self.builder.fmul(a, b, flags=["contract"]), c, flags=["contract"])


@intrinsic
def step_lanes(typing_context, dim, matrix, index, steps, n, x, gradient):
    """Do ``gradient += c_k · row_k; row_k += c_k · x`` for the rows ``index[:n]`` of `matrix`, one after the other.

    dim : int, known to the compiler; matrix : float32, (rows, dim); index : int64; steps : float32, the c_k
    x, gradient : float32, (dim,). All are contiguous.
    """
    if not isinstance(dim, types.IntegerLiteral):
        return None
    width = dim.literal_value

    def emit(context, builder, signature, arguments):
        e = _Emitter(context, builder)
        rows, places, sizes, centre, slope = (e.data(signature.args[k], arguments[k]) for k in (1, 2, 3, 5, 6))
        for begin in range(0, width, _BLOCK):
            pieces = _pieces(begin, min(begin + _BLOCK, width))
            centres = [e.load(centre, _PLACE(column), lanes) for column, lanes in pieces]
            slopes = [
                cgutils.alloca_once_value(builder, e.load(slope, _PLACE(column), lanes)) for column, lanes in pieces
            ]
            with cgutils.for_range(builder, arguments[4]) as loop:
                size = builder.load(builder.gep(sizes, [loop.index]))
                row = builder.mul(builder.load(builder.gep(places, [loop.index])), _PLACE(width))
                before = [e.load(rows, builder.add(row, _PLACE(column)), lanes) for column, lanes in pieces]
                for (column, lanes), value, here, total in zip(pieces, before, centres, slopes, strict=True):
                    step = e.spread(size, lanes)
                    builder.store(e.multiply_add(step, value, builder.load(total)), total)
                    e.store(e.multiply_add(step, here, value), rows, builder.add(row, _PLACE(column)), lanes)
            for (column, lanes), total in zip(pieces, slopes, strict=True):
                e.store(builder.load(total), slope, _PLACE(column), lanes)
        return context.get_dummy_value()

    return types.void(dim, matrix, index, steps, n, x, gradient), emit


if DISABLE_JIT:

    def step_lanes(dim, matrix, index, steps, n, x, gradient):
        """The same in plain Python."""
        for k in range(n):
            before = matrix[index[k]].copy()
            matrix[index[k]] += steps[k] * x
            gradient += steps[k] * before
