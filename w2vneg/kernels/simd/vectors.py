"""Building blocks for functions on vector registers, written in LLVM IR with Numba's `intrinsic`.

Vectors have 16 lanes; LLVM splits them on machines with narrower registers.
"""

import llvmlite.ir as ir
import numpy as np

from ...ground.jit import cgutils, types

NUMBER = ir.FloatType()
PLACE = ir.IntType(64)
COUNT = ir.IntType(32)
LANES = 16
LIMIT = 80.0  # of exponents: sums of thousands of e^80 stay finite, and e^−80 is still a normal number
LOG2E = 1.4426950408889634
_NEAREST = 1.5 * 2.0**23 + 127  # adding it rounds to an integer; the last bits of the sum are 127 + that integer
POWERS = 1.0, 0.693147004, 0.240222424, 0.0555073358, 0.00967151299, 0.00132647273
"""Σ c_k f^k is 2^f on [-1/2, 1/2], fitted; tests/kernels/test_kernels.py checks the error bound."""


def holds_numbers(*kinds):
    """Return whether all are types of contiguous float32 arrays, whose memory can be read directly."""
    return all(kind.dtype == types.float32 and kind.layout == "C" for kind in kinds)


def holds_places(*kinds):
    """Return whether all are types of contiguous int64 arrays, for row numbers."""
    return all(kind.dtype == types.int64 and kind.layout == "C" for kind in kinds)


def pieces_of(begin, end):
    """Return [(first column, lanes)] that cover [begin, end) with 16, then 8, 4, 2 or 1 lanes."""
    pieces = []
    while begin < end:
        lanes = next(size for size in (16, 8, 4, 2, 1) if begin + size <= end)
        pieces.append((begin, lanes))
        begin += lanes
    return pieces


def whole_columns(width):
    """Return [(first column, lanes not covered before)] of vectors of `LANES` that cover a row at least as long.

    The last one may overlap the one before it.
    """
    columns = [(column, LANES) for column in range(0, width - LANES + 1, LANES)]
    return [*columns, (width - LANES, width % LANES)] if width % LANES else columns


class Emitter:
    """Emits the vector code of one function: loads and stores, sums of lanes, loops over indices, e^x."""

    def __init__(self, context, builder, signature, arguments):
        self.context, self.builder = context, builder
        self.kinds, self.arguments = signature.args, arguments

    def _array(self, k):
        return self.context.make_array(self.kinds[k])(self.context, self.builder, self.arguments[k])

    def data(self, k):
        """Return the address of the first element of argument k, an array."""
        return self._array(k).data

    def length(self, k):
        """Return the length of argument k, a one-dimensional array."""
        return cgutils.unpack_tuple(self.builder, self._array(k).shape)[0]

    def at(self, base, offset, lanes, kind=NUMBER):
        address = self.builder.gep(base, [offset])
        return self.builder.bitcast(address, ir.VectorType(kind, lanes).as_pointer())

    def load(self, base, offset, lanes):
        return self.builder.load(self.at(base, offset, lanes), align=4)

    def load_once(self, base, begin, column, new):
        """Return `LANES` numbers from ``begin + column`` on, all 0 except the last `new`; see `whole_columns`."""
        value = self.load(base, self.builder.add(begin, PLACE(column)), LANES)
        if new == LANES:
            return value
        places = [LANES] * (LANES - new) + [*range(LANES - new, LANES)]
        mask = ir.Constant(self.counts(LANES), places)
        return self.builder.shuffle_vector(value, ir.Constant(value.type, [0.0] * LANES), mask)

    def store(self, value, base, offset, lanes):
        self.builder.store(value, self.at(base, offset, lanes), align=4)

    def counts(self, lanes):
        """Return the type of a vector of `lanes` 32-bit integers, such as the indices of a shuffle."""
        return ir.VectorType(COUNT, lanes)

    def spread(self, number, lanes):
        """Return a vector of `lanes` copies of a number."""
        kind = ir.VectorType(NUMBER, lanes)
        one = self.builder.insert_element(ir.Constant(kind, ir.Undefined), number, ir.IntType(32)(0))
        places = ir.Constant(self.counts(lanes), [0] * lanes)
        return self.builder.shuffle_vector(one, ir.Constant(kind, ir.Undefined), places)

    def every(self, number, lanes):
        """Return the constant vector of `lanes` copies of a number, rounded to float32: constants must be exact."""
        return ir.Constant(ir.VectorType(NUMBER, lanes), [float(np.float32(number))] * lanes)

    def total(self, vector):
        """Return the sum of a vector's lanes."""
        arguments = [NUMBER(-0.0), vector]
        return self._intrinsic("vector.reduce.fadd", vector, NUMBER, arguments, fastmath=["reassoc"])

    def totals(self, vectors):
        """Return the sums of the lanes of four vectors of `LANES` as one vector of four, for a third of the work."""
        a, b, c, d = vectors
        sums = self._folded(LANES // 4, self._folded(LANES // 2, a, b), self._folded(LANES // 2, c, d))
        return self._folded(1, self._folded(2, sums))

    def _folded(self, lanes, a, b=None):
        """Add the second half of each 2 · `lanes` lanes of a and b to the first; return the sums side by side."""
        places = range(a.type.count * (1 if b is None else 2))
        b = ir.Constant(a.type, ir.Undefined) if b is None else b
        halves = []
        for half in (0, 1):
            chosen = [place for place in places if place // lanes % 2 == half]
            mask = ir.Constant(self.counts(len(chosen)), chosen)
            halves.append(self.builder.shuffle_vector(a, b, mask))
        return self.builder.fadd(*halves)

    def highest(self, vector):
        """Return the largest of a vector's lanes, none of which is NaN."""
        return self._intrinsic("vector.reduce.fmax", vector, NUMBER, [vector], fastmath=["nnan"])

    def _intrinsic(self, name, vector, result, arguments, **options):
        kind = ir.FunctionType(result, [argument.type for argument in arguments])
        name = f"llvm.{name}.v{vector.type.count}f32"
        declared = cgutils.get_or_insert_function(self.builder.module, kind, name)
        return self.builder.call(declared, arguments, **options)

    def choose(self, sign, a, b):
        """Return, lane by lane, a where ``a sign b`` holds, else b."""
        return self.builder.select(self.builder.fcmp_ordered(sign, a, b), a, b)

    def stretches(self, n, *sizes):
        """Loop over n indices in blocks of ``sizes[0]``, the rest in ``sizes[1]``, …: yield each block's start, size.

        sizes : powers of 2, falling to 1
        """
        begin = PLACE(0)
        for size in sizes:
            end = self.builder.and_(n, PLACE(-size))
            with cgutils.for_range_slice(self.builder, begin, end, PLACE(size)) as (place, _):
                yield place, size
            begin = end

    def multiply_add(self, a, b, c):
        """Return a · b + c, rounded once if the machine supports it."""
        return self._intrinsic("fmuladd", a, a.type, [a, b, c])

    def exponential(self, exponent):
        """Return e^exponent of a vector, relative error below 4e-6; meaningless for exponents beyond ±`LIMIT`."""
        lanes, builder = exponent.type.count, self.builder
        counts = self.counts(lanes)
        log2e, nearest = self.every(LOG2E, lanes), self.every(_NEAREST, lanes)
        shifted = self.multiply_add(exponent, log2e, nearest)
        whole = builder.fsub(shifted, nearest)
        part = self.multiply_add(exponent, log2e, builder.fneg(whole))
        power = self.every(POWERS[-1], lanes)
        for coefficient in reversed(POWERS[:-1]):
            power = self.multiply_add(part, power, self.every(coefficient, lanes))
        doublings = builder.shl(builder.bitcast(shifted, counts), ir.Constant(counts, [23] * lanes))
        return builder.fmul(builder.bitcast(doublings, exponent.type), power)
