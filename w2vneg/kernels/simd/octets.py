"""Process text many bytes at a time: find possible breaks in 64 bytes at once, read eight bytes as one number."""

import llvmlite.ir as ir
import numpy as np

from ...ground.jit import DISABLE_JIT, intrinsic, types

STRETCH = 64
"""Bytes that `breaks` reads."""

_BYTES = ir.VectorType(ir.IntType(8), STRETCH)


def _load(context, builder, signature, arguments, kind):
    data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
    place = builder.bitcast(builder.gep(data, [arguments[1]]), kind.as_pointer())
    return builder.load(place, align=1)


@intrinsic
def octet(typing_context, block, p):
    """Return ``block[p:p + 8]`` (uint8) as one number, the first byte most significant; p : uint64."""

    def emit(context, builder, signature, arguments):
        return builder.bswap(_load(context, builder, signature, arguments, ir.IntType(64)))

    return types.uint64(block, p), emit


@intrinsic
def breaks(typing_context, block, p):
    """Return which of ``block[p:p + 64]`` (uint8) may be or begin white space, as bits of a uint64; p : uint64.

    These are the bytes 0x00 to 0x20, 0xC2 and 0xE0 to 0xE3. Byte i sets bit i.
    """

    def emit(context, builder, signature, arguments):
        stretch = _load(context, builder, signature, arguments, _BYTES)

        def equal(values, byte):
            return builder.icmp_unsigned("==", values, ir.Constant(_BYTES, [byte] * STRETCH))

        found = builder.icmp_unsigned("<=", stretch, ir.Constant(_BYTES, [0x20] * STRETCH))
        found = builder.or_(found, equal(stretch, 0xC2))
        upper_six = builder.and_(stretch, ir.Constant(_BYTES, [0xFC] * STRETCH))
        return builder.bitcast(builder.or_(found, equal(upper_six, 0xE0)), ir.IntType(64))

    return types.uint64(block, p), emit


@intrinsic
def digits(typing_context, block, p):
    """Return which of ``block[p:p + 64]`` (uint8) are digits, as `breaks` does; p : uint64."""

    def emit(context, builder, signature, arguments):
        stretch = _load(context, builder, signature, arguments, _BYTES)
        above = builder.sub(stretch, ir.Constant(_BYTES, [ord("0")] * STRETCH))
        found = builder.icmp_unsigned("<=", above, ir.Constant(_BYTES, [9] * STRETCH))
        return builder.bitcast(found, ir.IntType(64))

    return types.uint64(block, p), emit


@intrinsic
def trailing_zeros(typing_context, number):
    """Return the index of the lowest set bit of a uint64; 64 if none is set."""

    def emit(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(number), emit


if DISABLE_JIT:  # the same in plain Python

    def octet(block, p):
        return np.uint64(int.from_bytes(block[int(p) : int(p) + 8].tobytes(), "big"))

    def breaks(block, p):
        stretch = block[int(p) : int(p) + STRETCH]
        found = (stretch <= 0x20) | (stretch == 0xC2) | (stretch & 0xFC == 0xE0)
        return np.uint64(int.from_bytes(np.packbits(found, bitorder="little").tobytes(), "little"))

    def digits(block, p):
        found = block[int(p) : int(p) + STRETCH] - np.uint8(ord("0")) <= 9
        return np.uint64(int.from_bytes(np.packbits(found, bitorder="little").tobytes(), "little"))

    def trailing_zeros(number):
        return np.uint64((int(number) & -int(number)).bit_length() - 1 if number else 64)
