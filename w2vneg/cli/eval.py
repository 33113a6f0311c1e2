"""`w2vneg eval`: vectors against human scores, edges and labels, matrices against held-out text and pairs."""

import dataclasses
from pathlib import Path

import click

from ..data import catalog
from ..ground.errors import ConfigError, InputError, W2vnegError
from .flags import load_vectors, readout_option, reads_vectors, text_of, text_options
from .options import COUNT, json_option, mirror_option, option
from .progress import note
from .ranking import ranking
from .tables import echo_json, table
from .validation_options import warn_of_trained

_vectors = click.argument("vectors", default="vectors.txt", type=click.Path())


@click.group(name="eval")
def evaluate():
    """Evaluate vectors: similarity, analogies, likelihood, ranking, links, classes."""


@evaluate.command()
@_vectors
@option(
    "--set NAME|FILE",
    "A set of 'w2vneg data list', all, or a file of word, word, score. May be repeated.",
    name="sets",
    multiple=True,
    default_text=" ".join(catalog.SIMILARITY),
)
@reads_vectors
@mirror_option
@json_option
def similarity(vectors, sets, readout, oov, mirror, as_json):
    """Correlate cosines with human similarity scores.

    VECTORS is word2vec text or binary, npz, or a model folder; default: vectors.txt. Words are looked up as written,
    then lower-cased; pairs with an unknown word are skipped and counted. Prints Spearman's and Pearson's correlation
    with 95 % intervals.
    """
    loaded = load_vectors(vectors, readout=readout, oov=oov)
    chosen = sets or ("all",)
    wanted = dict.fromkeys(one for name in chosen for one in (catalog.SIMILARITY if name == "all" else (name,)))
    results, missing = [], {}
    for name in wanted:
        try:
            results.append(loaded.evaluate_similarity(name, mirror=mirror))
        except W2vnegError as error:
            if name in sets:
                raise
            missing[name] = str(error)
    absent = [name for name in missing if catalog.where(name, mirror)[0] == "absent"]
    absent = absent if len(absent) > 1 else []  # for one set, its own reason says more
    for name in (name for name in missing if name not in absent):
        click.echo(f"{name} is not scored: {missing[name]}", err=True)
    if absent:
        why = f"{', '.join(absent)} are not scored: they are not on this machine, and cannot be fetched"
        remedy = "or name a folder or URL that has them with --mirror or W2VNEG_MIRROR"
        click.echo(f"{why}. 'w2vneg data info NAME' says where to get each and where to put it; {remedy}", err=True)
    if not results:
        remedy = "See w2vneg data list, or name a file with --set"
        raise InputError(f"none of the sets {', '.join(wanted)} could be scored; the reasons are above. {remedy}")
    if as_json:
        found = [result.as_dict() for result in results]
        return echo_json({"vectors": vectors, "results": found, "missing": missing})
    rows = [("set", "Spearman", "95 % interval", "Pearson", "95 % interval", "pairs")]
    for result in results:
        rank = f"{result.spearman:.3f}", "{:.3f} … {:.3f}".format(*result.spearman_interval)
        line = f"{result.pearson:.3f}", "{:.3f} … {:.3f}".format(*result.pearson_interval)
        rows.append((result.name, *rank, *line, f"{result.scored}/{result.total}"))
    click.echo(table(rows))


@evaluate.command()
@_vectors
@option(
    "--set NAME|FILE",
    "google, google-phrases, or a file of ': section' lines and four words per line.",
    name="questions",
    default="google",
)
@option("--restrict-vocab", "Use the first N words only.", type=COUNT)
@option(
    "--half",
    "Use half of each section: dev, questions 1, 3, 5, …, or test, the others.",
    type=click.Choice(["dev", "test"]),
)
@readout_option
@mirror_option
@json_option
def analogy(vectors, questions, restrict_vocab, half, readout, mirror, as_json):
    """Answer analogy questions: a is to b as c is to d.

    VECTORS is word2vec text or binary, npz, or a model folder; default: vectors.txt. Words are looked up as written,
    then lower-cased; questions with an unknown word are skipped and counted. Prints the percentage of right answers
    among the first 1, 5 and 15 words by 3CosAdd, without the words of the question.
    """
    loaded = load_vectors(vectors, readout=readout)
    result = loaded.evaluate_analogy(questions, mirror=mirror, restrict_vocab=restrict_vocab, half=half)
    if as_json:
        return echo_json({"vectors": vectors, **result.as_dict()})
    totals = [score for score in (result.semantic, result.syntactic, result.overall) if score is not None]
    rows = [("section", "P@1", "P@5", "P@15", "questions")]
    for score in (*result.sections, *totals):
        found = score.precision
        shares = ("–",) * 3 if found is None else tuple(f"{100 * share:.1f}" for share in found.values())
        rows.append((score.name, *shares, f"{score.scored}/{score.total}"))
    rows.insert(1 + len(result.sections), None)
    click.echo(table(rows))


@evaluate.command()
@click.argument("model", type=click.Path())
@option("--corpus PATH|NAME", "Text that the model was not trained on.", required=True)
@option("--window", "Context size: tokens on each side.", type=COUNT, default_text="the model's")
@text_options
@option("--encoding NAME", "Encoding of the text.", default_text="the model's")
@mirror_option
@json_option
def likelihood(model, corpus, window, encoding, mirror, as_json, **reading):
    """Measure the likelihood of held-out text.

    Scores are a softmax of raw dot products over all words. Unlike training losses, they compare across objectives.
    Negative sampling does not fit a softmax: it does badly here and may still give good vectors. Text is read as
    that of MODEL, a folder written with --save-model; if --ordered, only words that follow are scored.
    """
    from ..run.conductor import encode
    from ..run.model import Model
    from ..run.prior import read_alike
    from ..vectors.evaluation import evaluate_likelihood, scores_of

    loaded = Model.load(model)
    if not loaded.config.traversal.of_words:
        raise ConfigError(f"{model} was trained on items, not on text; evaluate it with w2vneg eval ranking")
    if loaded.config.inputs.plug.around:
        inputs = f"the mean of the words around (--inputs {loaded.config.inputs.name})"
        remedy = "evaluate it with w2vneg eval similarity"
        raise ConfigError(f"{model} predicts a word from {inputs}, and this scores pairs of words; {remedy}")
    text = read_alike(text_of(corpus, reading), loaded, model).replace(phrases=())  # the model has those it joined
    config = dataclasses.replace(loaded.config, encoding=encoding or loaded.config.encoding)
    encoded = encode(config, text.located(mirror), vocab=loaded.vocab, phrases=loaded.phrases)
    own = loaded.config.source
    result = evaluate_likelihood(scores_of(loaded), encoded, window or own.window, getattr(own, "ordered", False))
    tokens, unknown = encoded.report.tokens, encoded.report.discarded[0]
    if as_json:
        return echo_json({"model": model, **result.as_dict(), "tokens": tokens, "unknown": unknown})
    found = f"negative log-likelihood {result.nll:.4f} nats per pair (perplexity {result.perplexity:,.0f})"
    more = f"a uniform guess gives {result.uniform:.4f}; {unknown:,} of {tokens:,} tokens are unknown"
    click.echo(f"{found} over {result.pairs:,} pairs; {more}")


@evaluate.command()
@click.argument("vectors", type=click.Path())
@click.argument("test", type=click.Path())
@option("--train FILE", "Edges that the vectors were trained on.", default_text="from the split")
@option("--valid FILE", "Edges that the regressions are fitted on.", default_text="from the split")
@option("--seeds", "Draws of pairs without an edge.", type=COUNT, default=5)
@readout_option
@json_option
def links(vectors, test, train, valid, seeds, readout, as_json):
    """Predict links: held-out edges of a graph against pairs without one.

    TEST is a table of edges, such as test.tsv of 'w2vneg split --edges', read as in training. Prints AUC and
    average precision of the dot product, of logistic regressions on node2vec's features of an edge (Hadamard, L1,
    L2), and of two scores that need no vectors. Needs scikit-learn.
    """
    from ..config import RunSpec
    from ..data.splitfiles import parts_beside
    from ..vectors import Vectors
    from ..vectors.evaluation.graph_tasks import NULL, evaluate_links
    from ..vectors.formats.folder import input_of

    config = Path(vectors, "config.json")
    if readout is None and config.is_file() and RunSpec.read(config).rectangular:
        remedy = f"use 'w2vneg eval ranking {vectors} {test}', or --readout in or out for links within one kind"
        raise ConfigError(f"{vectors} has vectors of two kinds, and links are between nodes of one: {remedy}")
    beside = parts_beside(test)
    train, valid = train or beside.get("train"), valid or beside.get("valid")
    if train is None and not Path(test).exists():
        raise InputError(f"{test}: no such file; name a table of held-out edges")
    if train is None:
        raise click.UsageError(f"{test} is not part of a split; name the training edges with --train")
    own, loaded = input_of(Path(vectors)), Vectors.load(vectors, readout=readout)
    warn_of_trained(own.get("files", ()), test)
    result = evaluate_links(loaded, test, train=train, valid=valid, seeds=seeds, own=own)
    if result.unknown > result.edges:
        note(f"Warning: most rows of {test} have a node without a vector; are these the vectors of this graph?")
    if result.known:
        note(f"Warning: {result.known:,} of these edges are in {train} too; that says nothing about new ones.")
    if as_json:
        return echo_json({"vectors": vectors, **result.as_dict()})
    fitted = f"regressions fitted on {result.fitted_on:,} of {valid}" if valid else "no --valid to fit regressions on"
    unknown = f", {result.unknown:,} more rows have a node without a vector" if result.unknown else ""
    click.echo(f"{result.edges:,} edges of {test}{unknown}; {fitted}; {_draws(result.seeds)}")
    given = {"test": test, "train": train, "valid": valid}
    for columns in dict.fromkeys(result.columns.values()):
        files = ", ".join(str(given[name]) for name in given if result.columns.get(name) == columns)
        click.echo(f"Columns of {files}: {'; '.join(columns)}")
    click.echo()
    rows = [("", "AUC", "AP")]
    for name in result.auc:
        rows += [None] if name == NULL[0] else []
        rows.append((name, _spread(result.auc[name]), _spread(result.ap[name])))
    click.echo(table(rows))


def _shares(text):
    try:
        return [float(one) for one in text.split(",")]
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a list of shares, such as 0.1,0.5,0.9") from None


@evaluate.command()
@click.argument("vectors", type=click.Path())
@click.argument("labels", type=click.Path())
@option("--shares S,S,…", "Shares of nodes to train on.", type=_shares, default_text="0.1,0.5,0.9")
@option("--seeds", "Draws of the training nodes.", type=COUNT, default=10)
@readout_option
@json_option
def classify(vectors, labels, shares, seeds, readout, as_json):
    """Predict the labels of nodes, words or items from their vectors.

    LABELS is a table of name and label; a name has a row for each of its labels. Prints micro and macro F1 of a
    logistic regression per label, and of predicting the most frequent labels. Needs scikit-learn.
    """
    from ..vectors import Vectors
    from ..vectors.evaluation.graph_tasks import SHARES, evaluate_classes

    loaded = Vectors.load(vectors, readout=readout)
    result = evaluate_classes(loaded, labels, shares=shares or SHARES, seeds=seeds)
    if as_json:
        return echo_json({"vectors": vectors, **result.as_dict()})
    unknown = f", {result.unknown:,} more without a vector" if result.unknown else ""
    found = f"{result.nodes:,} labelled {loaded.noun}s{unknown}; {result.labels:,} labels"
    click.echo(f"{found}, {result.labels_a_node:.2f} for each; {_draws(result.seeds)}")
    click.echo(f"Columns of {labels}: {'; '.join(result.columns)}\n")
    rows = [("trained on", "micro F1", "macro F1", "most frequent: micro", "macro")]
    rows += [(f"{share:.0%}", *map(_spread, found.values())) for share, found in result.shares.items()]
    click.echo(table(rows))


def _spread(found):
    mean, deviation = found
    return f"{mean:.3f}" if deviation is None else f"{mean:.3f} ± {deviation:.3f}"


def _draws(n):
    return f"mean and standard deviation of {n} draws" if n > 1 else "one draw"


evaluate.add_command(ranking)
