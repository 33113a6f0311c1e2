"""`w2vneg export`: vectors from one format to another."""

import click


@click.command()
@click.argument("source", metavar="MODEL|VECTORS", type=click.Path())
@click.argument("out", metavar="OUT", type=click.Path())
@click.option(
    "--format",
    "format_",
    type=click.Choice(["word2vec", "word2vec-binary", "npz"]),
    help="By default told from the suffix of OUT: .txt or .vec, .bin, .npz.",
)
@click.option(
    "--matrix",
    type=click.Choice(["in", "out", "sum"]),
    default="in",
    show_default=True,
    help="Which matrix of a model folder; a file of vectors has 'in' only.",
)
@click.option(
    "--precision",
    metavar="N",
    type=click.IntRange(1, 9),
    help="Significant digits of word2vec text.  [default: as many as read back exactly]",
)
def export(source, out, format_, matrix, precision):
    """Write the vectors of MODEL or VECTORS to OUT.

    Text and binary are word2vec's own and can be loaded by gensim (load_word2vec_format). npz also keeps the
    counts.
    """
    from ..embeddings import Vectors
    from ..files.atomic import check_writable
    from ..formats import format_of

    format_ = format_ or format_of(out)
    check_writable(out)
    vectors = Vectors.load(source, matrix=matrix)
    vectors.save(out, format=format_, precision=precision)
    click.echo(f"{out}: {len(vectors):,} words, {vectors.dim} dimensions, {format_}", err=True)
