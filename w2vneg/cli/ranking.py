"""`w2vneg eval ranking`: a model of items on held-out pairs, next to simple baselines."""

import math
import os

import click

from ..ground.events import penalty_chosen
from .flags import fold_in_option, score_option
from .options import COUNT, json_option, option
from .progress import note
from .tables import echo, echo_json, table
from .validation_options import check_split, warn_of_trained

_SHORT_KS = (10,)


def _lengths(text):
    try:
        ks = sorted({int(one) for one in text.split(",")})
    except ValueError:
        ks = [0]
    if ks[0] < 1:
        raise click.BadParameter(f"{text!r} is not a list of whole numbers from 1 on, such as 1,5,15,50")
    return ks


@click.command()
@click.argument("model", type=click.Path())
@click.argument("test", type=click.Path())
@option("-k --k K,K,…", "Lengths of lists.", name="ks", type=_lengths, default_text="10; with --all 1,5,15,50")
@option("--all", "Print every figure, not only the common ones.", name="everything")
@option(
    "--exclude-known FILE",
    "Leave these pairs out of the catalogue; for splits by pair, train.tsv. May be repeated.",
    multiple=True,
    default_text="what users had in training",
)
@option("--include-known", "Keep what users had in training in the catalogue.")
@option(
    "--train FILE",
    "Pairs that the baselines count. May be repeated.",
    multiple=True,
    default_text="the files of --exclude-known, else popularity only, by the model's counts",
)
@option(
    "--mpr",
    "Mean percentile rank over the whole catalogue, or over targets drawn from it, as in RS eq. 10.",
    type=click.Choice(["exact", "sampled"]),
    default="exact",
)
@option("--samples", "Targets drawn for --mpr sampled.", type=COUNT, default_text="100")
@option("--bootstrap", "Resamples of centres for 95 % intervals; 0 for none.", type=click.IntRange(min=0), default=1000)
@option("--seed", "Random seed of resamples and draws.", type=click.IntRange(min=0), default=1)
@option("--rank-itself", "Rank an item among its own targets, as in the papers.")
@fold_in_option
@score_option
@option("--no-baselines", "Evaluate the model alone.")
@json_option
def ranking(model, test, exclude_known, include_known, train, samples, no_baselines, fold_in, as_json, **given):
    """Rank the targets of held-out pairs in the whole catalogue.

    MODEL is a folder written with --save-model; TEST is a table of item, target and optional weight, such as test.tsv
    of 'w2vneg split'. Pairs with an unknown item are skipped and counted. With --fold-in, TEST is of new users.
    Baselines are printed next to the model: popularity and, learnt on the training part, slim for users and items or
    counts of co-occurrence. docs/ranking.md defines every figure.
    """
    from ..run.slim import load_recommender
    from ..vectors.evaluation import KS
    from ..vectors.evaluation.baselines import ALIKE, WORSE, evaluate_with_baselines

    if samples and given["mpr"] == "exact":
        raise click.UsageError("--samples is the number of targets that --mpr sampled draws; --mpr exact draws none")
    if no_baselines and train:
        raise click.UsageError("--train is for the baselines; it does not go with --no-baselines")
    if include_known and exclude_known:
        raise click.UsageError("--include-known leaves nothing out, but --exclude-known does; give one of them")
    mpr = given.pop("mpr")
    everything = given.pop("everything") or as_json or mpr == "sampled"
    loaded = load_recommender(model)
    if os.path.isfile(test) and fold_in is None:
        left_out = exclude_known or loaded.known is not None or include_known
        check_split(test, loaded.vocab, loaded.config.lowercase, left_out, "--exclude-known", "give --fold-in {}")
    if os.path.isfile(test):
        warn_of_trained(() if loaded.known is not None else loaded.origin.input.get("files", ()), test)
    given["ks"] = given["ks"] or (KS if everything else _SHORT_KS)
    given["samples"] = (samples or 100) if mpr == "sampled" else 0
    given["exclude_known"] = () if include_known else exclude_known or None
    given["baselines"] = not no_baselines
    evaluation = evaluate_with_baselines(loaded, test, train=train, fold_in=fold_in, note=note, **given)
    if as_json:
        return echo_json({"model": model, **evaluation.as_dict()}, allow_nan=False)
    echo("\n".join(_head(evaluation)))
    echo()
    echo(table(_rows(evaluation, mpr) if everything else _short_rows(evaluation)))
    for baseline, why in evaluation.missing.items():
        echo(f"\n{baseline} is not shown: {why}")
    if not everything:
        return echo(f"\n{_verdict(evaluation, loaded)}")
    echo(f"\nP@{evaluation.options['ks'][-1]} of pairs by popularity of the target, in tenths of all targets:\n")
    echo(table(_tenths(evaluation)))
    for baseline in list(evaluation.results)[1:]:
        found = evaluation.beside(baseline)
        for how in (WORSE, ALIKE):
            if names := [_words(name) for name, stands in found.items() if stands == how]:
                echo(f"\n{how.capitalize()} {baseline}: {', '.join(names)}")


def _head(evaluation):
    """Yield lines on what was evaluated: coverage, catalogue, what was left out."""
    result, tested, known = evaluation.model, evaluation.test, evaluation.known
    if evaluation.trained:
        seen = f"the model was trained on {evaluation.trained:,} of these pairs"
        yield f"Warning: {seen}, which says nothing about new ones."
    if evaluation.shown:
        yield f"Warning: --fold-in has {evaluation.shown:,} of these pairs too, and so gives the answers away."
    shares = f"{_percent(tested.evaluated)}, {_percent(tested.weight)} of the weight"
    evaluated = f"{tested.read - tested.unknown:,} of {tested.read:,} pairs evaluated ({shares})"
    distinct = f"{result.distinct_pairs:,} distinct ones, {result.centres:,} centres, {result.targets:,} targets"
    yield f"{', '.join(tested.files)}: {evaluated}; {distinct}"
    if evaluation.own_known:
        yield "Known items of users are left out of the catalogue; --include-known keeps them."
    elif known is None:
        yield "Every target is in the catalogue, even known ones; --exclude-known TRAIN.tsv leaves those out."
    else:
        both = f"; {result.known_held_out:,} held-out pairs are also known, and stay" * bool(result.known_held_out)
        yield f"Known targets ({', '.join(known.files)}) are left out of the catalogue{both}."
    for read in filter(None, (tested, known)):
        yield f"Columns of {', '.join(read.files)}: {'; '.join(read.columns)}"


def _short_rows(evaluation):
    """Return a row for the model and each baseline, and a column for each of the common figures, at each k."""
    from ..vectors.evaluation.metrics import COMMON

    names = [f"{name}@{k}" for k in evaluation.options["ks"] for name in COMMON]
    rows = [("", *(_words(name) for name in names))]
    for title, result in evaluation.results.items():
        found = result.by_name()
        rows.append((title, *(f"{found[name]:.4f}" for name in names)))
    return rows


def _verdict(evaluation, model):
    from ..config.options import beside_popularity
    from ..vectors.evaluation.baselines import ALIKE, BETTER, POPULARITY, SLIM

    results = evaluation.results
    if POPULARITY not in results:
        return "More figures, with intervals: --all."
    name = f"ndcg@{evaluation.options['ks'][0]}"
    own, popular = evaluation.model, results[POPULARITY]
    how = evaluation.beside(POPULARITY)[name]
    figures = f"{_words(name)} {own.by_name()[name]:.4f}, popularity {popular.by_name()[name]:.4f}"
    if how == BETTER:
        is_slim = hasattr(model, "scoring")
        other = evaluation.beside(SLIM)[name] if SLIM in results and not is_slim else BETTER
        behind = "" if other == BETTER else f"; {other} 'w2vneg slim', {results[SLIM].by_name()[name]:.4f}"
        return f"Better than popularity: {figures}{behind}. More figures, with intervals: --all."
    if how == ALIKE and math.isfinite(own.above(popular, name)[1]):
        figures += ", difference {:+.4f} (95 % interval {:+.4f} … {:+.4f})".format(*own.above(popular, name))
    slim, tried = "", bool(penalty_chosen(getattr(model, "history", ())))
    if not hasattr(model, "scoring") and (read := model.config.traversal).kind == "items":
        slim = ", or use 'w2vneg slim'" * (model.config.rectangular or not read.paired)
    return f"Warning: {how} popularity: {figures}. Train with {beside_popularity(model.config, tried)}{slim}."


def _rows(evaluation, mpr):
    from ..vectors.evaluation import METRICS

    results, ks = evaluation.results, evaluation.options["ks"]
    names = [name for name in METRICS if name != ("mpr" if mpr == "sampled" else "mpr_sampled")]
    by_k = [name for name in names if METRICS[name].at_k]
    row = lambda name: (_words(name), *(_cell(result, name) for result in results.values()))  # noqa: E731
    rows = [("", *results), *(row(name) for name in names if name not in by_k)]
    for name in by_k:
        if name == by_k[0] or len(ks) > 1:
            rows.append(None)
        rows += [row(f"{name}@{k}") for k in ks]
    return rows


def _tenths(evaluation):
    results, k = evaluation.results, evaluation.options["ks"][-1]
    rows = [("tenth", "pairs", *results)]
    for n, tenths in enumerate(zip(*(result.tenths for result in results.values()), strict=True), 1):
        cells = ("–" if one["precision"] is None else f"{one['precision'][k]:.4f}" for one in tenths)
        rows.append((str(n), _percent(tenths[0]["pairs"]), *cells))
    return rows


def _metric(name):
    from ..vectors.evaluation import METRICS

    return METRICS[name.partition("@")[0]]


def _words(name):
    return _metric(name).title.format(k=name.partition("@")[2])


def _cell(result, name):
    value = result.by_name().get(name)
    if value is None:
        return "–"
    form = _metric(name).form
    low, high = result.intervals.get(name, (None, None))
    return f"{value:{form}}" + (f" ({low:{form}} … {high:{form}})" if low is not None else "")


def _percent(share):
    return f"{100 * share:.1f} %"
