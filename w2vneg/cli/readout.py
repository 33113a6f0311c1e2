"""Flags of the commands that read vectors: how they are made of a model folder, and of words that it does not know."""

import click

from .options import option

readout_option = option(
    "--readout",
    metavar="NAME",
    default_text="as trained",
    help="Read-out of a model folder: in, out, sum, both or context, perhaps +letters.",
)
_OOV = option(
    "--oov",
    type=click.Choice(["letters"]),
    metavar="letters",
    help="Make vectors for unknown words from spelling: of a read-out with letters or paradigms, or of n-grams with "
    "--readout in.",
)


def reads_vectors(command):
    """Give a command the flags ``--readout`` and ``--oov``, parameters of these names."""
    return readout_option(_OOV(command))
