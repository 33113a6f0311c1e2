"""Text eight bytes at a time: one load and a few operations on a 64-bit number instead of a loop over bytes."""

import llvmlite.ir as ir
import numpy as np

from ..jit import DISABLE_JIT, intrinsic, njit, types

_LOW_BITS = np.uint64(0x7F7F7F7F7F7F7F7F)
_TOP_BITS = np.uint64(0x8080808080808080)
_ABOVE_BLANK = np.uint64(0x5F5F5F5F5F5F5F5F)  # 0x21 and more get the top bit when this is added
_C2 = np.uint64(0xC2C2C2C2C2C2C2C2)
_E0 = np.uint64(0xE0E0E0E0E0E0E0E0)
_UPPER_SIX = np.uint64(0xFCFCFCFCFCFCFCFC)
_EIGHT_TIMES = np.uint64(3)  # as a shift


@intrinsic
def octet(typing_context, block, p):
    """Return ``block[p:p + 8]`` (uint8) as one number, the first byte in its highest place; p : uint64."""

    def emit(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        place = builder.bitcast(builder.gep(data, [arguments[1]]), ir.IntType(64).as_pointer())
        return builder.bswap(builder.load(place, align=1))

    return types.uint64(block, p), emit


@intrinsic
def _leading_zeros(typing_context, number):
    """Return how many of the 64 bits come before the first that is set; 64 if none is."""

    def emit(context, builder, signature, arguments):
        return builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(number), emit


if DISABLE_JIT:

    def octet(block, p):
        """The same in plain Python."""
        return np.uint64(int.from_bytes(block[int(p) : int(p) + 8].tobytes(), "big"))

    def _leading_zeros(number):
        """The same in plain Python."""
        return np.uint64(64 - int(number).bit_length())


@njit(borrows=True)
def plain_bytes(octet):
    """Return how many of the eight bytes come before the first that may be white space, or begin some (0 to 8).

    These are 0x00 to 0x20, 0xC2 and 0xE0 to 0xE3. Each sum stays within its byte, so the answer is exact.
    """
    c2, e0 = octet ^ _C2, (octet & _UPPER_SIX) ^ _E0
    above_blank = ((octet & _LOW_BITS) + _ABOVE_BLANK) | octet
    not_c2 = ((c2 & _LOW_BITS) + _LOW_BITS) | c2
    not_e0 = ((e0 & _LOW_BITS) + _LOW_BITS) | e0
    return _leading_zeros(~(above_blank & not_c2 & not_e0) & _TOP_BITS) >> _EIGHT_TIMES
