"""Flags of the commands that read vectors: how they are made of a model folder, and of words that it does not know."""

import click

_READOUT = click.option(
    "--readout",
    metavar="NAME",
    help="How vectors are made of a model folder's matrices: in, out, sum, both, context, +letters.  "
    "[default: as it was trained]",
)
_OOV = click.option(
    "--oov",
    type=click.Choice(["letters"]),
    help="Give unknown words the vector of their spelling: of a read-out with letters, or of a model's n-grams with "
    "--readout in.",
)


def reads_vectors(command):
    """Give a command the flags ``--readout`` and ``--oov``, parameters of these names."""
    return _READOUT(_OOV(command))


def readout_option(command):
    """Give a command the flag ``--readout`` alone."""
    return _READOUT(command)
