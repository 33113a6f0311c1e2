"""`w2vneg export`: vectors from one format to another."""

import os

import click

from ..ground.errors import ConfigError
from ..ground.files.atomic import check_folder_writable, check_writable
from ..ground.files.bounded import read_text
from .flags import reads_vectors, refuse_existing, refuse_overwriting
from .options import option


def _format(name):
    from ..vectors.formats import FORMATS

    known = sorted(one for one in FORMATS if FORMATS[one].write)
    if name not in known:
        raise click.BadParameter(f"{name!r} is not one of {', '.join(map(repr, known))}.")
    return name


@click.command()
@click.argument("source", metavar="MODEL|VECTORS", type=click.Path())
@click.argument("out", metavar="OUT", type=click.Path())
@option(
    "--format NAME",
    "Format to write, such as npz or parquet; docs/formats.md lists them.",
    name="format_",
    type=_format,
    default_text="by the suffix of OUT",
)
@reads_vectors
@option("--precision N", "Significant digits of word2vec text.", type=click.IntRange(1, 9), default_text="exact")
@option(
    "--words FILE",
    "Words to add, one per line, with vectors made from spelling.",
    type=click.Path(),
    readers="with --oov",
)
@option("--portable", "Copy a MODEL folder, without absolute paths.")
@option("--force", "Replace what is at OUT.")
def export(source, out, format_, readout, oov, precision, words, portable, force):
    """Write the vectors of MODEL or VECTORS to OUT.

    Text and binary are word2vec's own formats, which gensim loads (load_word2vec_format). npz also keeps the
    counts, and with --oov letters what gives a vector to any spelling. --format fasttext writes the matrices of
    a MODEL of text, with its n-grams, for fastText and gensim (load_facebook_model). model2vec,
    sentence-transformers and projector (TensorBoard) are folders. So is faiss, an index of neighbours by cosine;
    faiss-dot is one by dot product, for recommendations with --readout out.
    """
    from ..vectors import Vectors
    from ..vectors.formats import FORMATS, check_packing, format_of

    refuse_overwriting("OUT", out, filter(None, (source, words)))
    if os.path.realpath(out).startswith(os.path.realpath(source) + os.sep):
        raise click.UsageError(f"OUT {out} is within {source}, which is read; choose another place")
    if portable:
        if any(option is not None for option in (format_, readout, oov, precision, words)):
            raise ConfigError("--portable copies a whole model folder; leave the other options out")
        model = _model_of(source, "--portable")
        refuse_existing(out, force)
        model.save(out, portable=True)
        return click.echo(f"{out}: a model folder without absolute paths", err=True)
    format_ = format_ or format_of(out)
    check_packing(out, format_)
    (check_folder_writable if FORMATS[format_].folder else check_writable)(out)
    refuse_existing(out, force)
    if FORMATS[format_].of_model:
        if any(option is not None for option in (readout, oov, precision, words)):
            raise ConfigError(f"--format {format_} writes a model's own matrices; leave the other options out")
        model = _model_of(source, f"--format {format_}")
        if not model.config.traversal.of_words:
            why = f"--format {format_} is for models of text, and {source} is one of items"
            raise ConfigError(f"{why}; use --format npz")
        FORMATS[format_].write(out, model)
        return click.echo(f"{out}: {len(model.vocab):,} words, {model.config.dim} dimensions, {format_}", err=True)
    if oov is None and words is not None:
        raise ConfigError("--words adds vectors made from spelling; give --oov letters with it")
    if oov is not None and words is None and format_ != "npz":
        remedy = "name others with --words, use --format npz, or leave --oov out"
        raise ConfigError(f"{format_} holds known words only; {remedy}")
    vectors = Vectors.load(source, readout=readout, oov=oov)
    if words is not None:
        vectors = _with_words(vectors, words)
    vectors.save(out, format=format_, precision=precision)
    click.echo(f"{out}: {len(vectors):,} {vectors.noun}s, {vectors.dim} dimensions, {format_}", err=True)


def _with_words(vectors, path):
    requested = [line.strip() for line in read_text(path).splitlines() if line.strip()]
    added = vectors.with_words(requested)
    without = sum(word not in added for word in dict.fromkeys(requested))
    new = len(added) - len(vectors)
    click.echo(f"{path}: {new:,} word{'s' * (new != 1)} added, {without:,} without a known n-gram", err=True)
    return added


def _model_of(source, flag):
    from ..run.model import Model

    if not os.path.isdir(source):
        raise ConfigError(f"{flag} needs a model folder (w2vneg train --save-model DIR), and {source} is not one")
    return Model.load(source)
