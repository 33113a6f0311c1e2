"""Sections of a report on runs and vectors: each function makes one, empty if there is nothing to report."""

from contextlib import suppress
from itertools import zip_longest
from pathlib import Path

import numpy as np

from ...data.catalog import ANALOGY, SIMILARITY
from ...data.splitfiles import known_beside
from ...ground.errors import ConfigError, W2vnegError
from ...vectors.evaluation import METRICS, evaluate_analogy, evaluate_similarity
from ...vectors.evaluation.baselines import MODEL, POPULARITY, evaluate_with_baselines
from ...vectors.evaluation.metrics import COMMON
from ...vectors.evaluation.similarity import scored_pairs
from ...vectors.vectors import rule_text
from ..figures import Chart, Section, Series, Table
from .subjects import sets_at_hand

FEWEST = 50  # pairs or questions: with fewer, a figure is inconclusive
_OUTLIERS = 10
_RESAMPLES = 500
_WORDS = 8  # words whose neighbours are shown by default
_NEIGHBOURS = 8
_RULES, _EXAMPLES = 12, 3  # largest rules of spelling, and pairs of words of each
_USERS, _HAVE = 3, 5  # users whose lists are shown, and how many of their items are named
_DIAGNOSES = {  # figure -> label of its axis
    "total_variation": "total variation between draws and target",
    "drift": "total variation between model and draws made ahead",
    "effective_size": "effective number of negatives",
    "true_positives": "share of negatives that are positives",
    "cosine": "cosine of expected and full gradient",
    "relative_error": "relative error of the expected gradient",
    "noise": "relative noise of one gradient",
    "popularity_slope": "slope of dot products on log popularity",
    "pmi_slope": "slope of dot products on PMI",
}


def measured(subjects, mirror=None):
    """Evaluate vectors of words on the evaluation sets of this machine.

    Returns a dict of EvaluationSet -> list of SimilarityResult or AnalogyResult, one for each subject; None if the
    vectors know too little of the set. Sets of which all subjects know too little are left out.
    """
    found = {}
    for evaluate, names in ((evaluate_similarity, SIMILARITY), (evaluate_analogy, ANALOGY)):
        for one_set in sets_at_hand(names, mirror):
            results = [_measured(evaluate, one, one_set) for one in subjects]
            if any(results):
                found[one_set] = results
    return found


def _measured(evaluate, subject, one_set):
    if not subject.of_words:
        return None
    tags = {} if evaluate is evaluate_analogy else {"tags": one_set.tags}
    try:
        result = evaluate(subject.vectors, one_set.path, **tags)
    except W2vnegError:
        return None
    return result if getattr(result, "overall", result).scored >= FEWEST else None


def verdict(subjects, found, ranked):
    """Scores of the vectors, compared with chance; or of lists, compared with baselines."""
    section = Section("Quality", "")
    of_words = [number for number, one in enumerate(subjects) if one.of_words]
    if found:
        section.text = (
            "Correlation of cosines with human scores, and per cent of correct analogies, with 95 % intervals and how "
            f"much of a set is known. Sets with fewer than {FEWEST} known pairs are left out."
        )
        epochs = [subjects[n].records("EpochDone") for n in of_words]
        rows = [["training time", *(f"{_spent(one)[1].sum():.1f} s" if one else "–" for one in epochs), "–"]]
        for one_set, results in found.items():
            name, nothing = (f"{one_set.name} analogies", "0 %") if one_set.name in ANALOGY else (one_set.name, "0")
            rows.append([name, *(_in_short(results[n]) for n in of_words), nothing])
        section.tables.append(Table("", ["", *(subjects[n].name for n in of_words), "chance"], rows))
    elif of_words:
        remedy = "see the neighbours below, or download sets with 'w2vneg data fetch'"
        section.text = f"No evaluation set on this machine has {FEWEST} pairs of known words; {remedy}."
    for one in subjects:
        if one.name in ranked:
            table, text = _beside_baselines(one.name, ranked[one.name])
            section.tables.append(table)
            section.text += f" {text}"
        elif one.recommends:
            section.text += f" To evaluate the lists of {one.name}, hold out pairs: --test FILE, docs/splits.md."
    return section


def ranked(subjects, test=None):
    """Rank held-out pairs with models of items and with baselines: dict of name -> RankingEvaluation.

    test : path, optional; by default the pairs that a run was validated on, if they still exist
    """
    if test is not None and not any(one.recommends for one in subjects):
        raise ConfigError("held-out pairs (--test) are ranked by models of items, but none of these is one")
    found = {}
    for one in subjects:
        settings = one.model.best.settings if one.recommends and one.model.best is not None else {}
        path = test or settings.get("files", {}).get("valid")
        if not one.recommends or path is None or not (test or Path(path).is_file()):
            continue
        # of a split, unless the model knows its users' items
        beside = known_beside(path) if one.model.known is None else None
        left_out = beside if test else settings["files"].get("known")
        found[one.name] = evaluate_with_baselines(one.model, path, exclude_known=left_out, ks=(10,), bootstrap=0)
    return found


def _beside_baselines(name, evaluation):
    """Return the results of lists on held-out pairs: a `Table`, and sentences (str)."""
    results = {called: result.by_name() for called, result in evaluation.results.items()}
    head = ["lists of 10", *(name if called == MODEL else called for called in results)]
    rows = [[METRICS[n].title.format(k=10), *(f"{one[f'{n}@10']:.4f}" for one in results.values())] for n in COMMON]
    how = evaluation.beside(POPULARITY)["ndcg@10"]
    pairs = ", ".join(Path(file).name for file in evaluation.test.files)
    text = f"Lists of {name} are {how} the most popular items, by NDCG on held-out pairs, {pairs}."
    if evaluation.known is None and not evaluation.own_known:
        text += " They may contain training pairs; 'w2vneg eval ranking' leaves those out with --exclude-known."
    if evaluation.trained:
        text += f" The model was trained on {evaluation.trained:,} of these pairs; new ones may rank worse."
    return Table("", head, rows), text


def _in_short(result):
    if result is None:
        return "–"
    overall = getattr(result, "overall", result)
    if overall is result:
        found = "{:.2f} ({:.2f} … {:.2f})".format(result.spearman, *result.spearman_interval)
    else:
        found = "{:.1f} % ({:.1f} … {:.1f})".format(*_right(overall))
    return f"{found}, {overall.scored}/{overall.total}"


def runs(subjects):
    """Data, options and machine of each run."""
    head = ["", *(one.name for one in subjects)]
    facts = [_facts(one) for one in subjects]
    rows = [[name, *(own.get(name, "–") for own in facts)] for name in dict.fromkeys(k for own in facts for k in own)]
    section = Section("Runs", "", tables=[Table("", head, rows)])
    trained = [one for one in subjects if one.model is not None]
    options = [one.model.config.as_dict() for one in trained]
    head = ["", *(one.name for one in trained)]
    names = dict.fromkeys(name for own in options for name in own)
    table = [[name, *(_shown(own.get(name)) for own in options)] for name in names]
    if different := [row for row in table if len(set(row[1:])) > 1]:
        section.tables.append(Table("Options that differ", head, different))
    if table:
        section.tables.append(Table("All options", head, table, folded=True))
    return section


def _facts(subject):
    model, vectors = subject.model, subject.vectors
    facts = {"file or folder": Path(subject.path).name, "vectors": f"{len(vectors):,} {vectors.noun}s"}
    facts["dimensions"] = f"{vectors.dim}"
    if model is None:
        return facts
    read, options = model.origin.input, model.config.as_dict()
    facts["objective"] = f"{options['loss']}, sampler {options['sampler']}, {options['negatives']} negatives"
    files = read.get("files") or read.get("names") or [read.get("kind", "in memory")]
    facts["data"] = ", ".join(Path(str(file)).name for file in files)
    facts["tokens or pairs in the data"] = f"{model.origin.n_tokens:,}"
    epochs = subject.records("EpochDone")
    ended = ", interrupted" if model.history and model.history[-1].get("event") == "Interrupted" else ""
    facts["epochs"] = f"{len(epochs)} of {options['epochs']}{ended}"
    if epochs:
        facts["pairs trained"] = f"{sum(record['pairs'] for record in epochs):,}"
        facts["training time, s"] = f"{_spent(epochs)[1].sum():.1f}"
        facts["last loss"] = f"{epochs[-1]['loss']:.4f} (at init {epochs[-1]['untrained']:.4f})"
    return facts | {name: str(value) for name, value in subject.versions.items()}


def _shown(value):
    return "–" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def learning(subjects):
    """Curves of the runs by epoch."""
    section = Section("Learning", "Losses of different objectives or samplers are not comparable.")
    loss, alpha, rate, held = [], [], [], {}
    for number, one in enumerate(subjects):
        if records := one.records("EpochDone"):
            column = lambda name, records=records: np.array([record[name] for record in records], float)  # noqa: E731
            epoch = column("epoch")
            loss.append(Series(one.name, epoch, column("loss"), like=number))
            loss.append(Series(f"{one.name}, at init", epoch, column("untrained"), reference=True, like=number))
            alpha.append(Series(one.name, epoch, column("alpha"), like=number))
            tokens, seconds = _spent(records)
            rate.append(Series(one.name, epoch, tokens / seconds / 1e6, like=number))
        for record in one.records("Validated"):
            held.setdefault(record["metric"], {}).setdefault(number, []).append((record["epoch"], record["value"]))
    plans = [("loss", "Loss", "mean loss per pair, nats", loss)]
    plans += [("alpha", "Learning rate", "alpha", alpha)] * _changes(alpha)
    plans += [("speed", "Speed", "million tokens or pairs per second", rate)]
    section.charts += [Chart(key, title, "epoch", y, series) for key, title, y, series in plans if series]
    for metric, runs_of in held.items():
        series = [_through(subjects[n], n, points) for n, points in runs_of.items()]
        section.charts.append(Chart(f"held-out-{metric}", "Held-out pairs", "epoch", metric, series))
    return section


def _changes(series):
    """Return whether there is something to draw: a series that is not constant, or that has a single epoch."""
    return any(len(one.y) == 1 or np.ptp(one.y) > 0 for one in series)


def _through(subject, number, points):
    """Return a `Series` through points, a list of (x, y)."""
    x, y = map(np.array, zip(*points, strict=True))
    return Series(subject.name, x, y, like=number)


def _spent(records):
    """Return tokens and seconds of each epoch, two float64 (n,).

    Both are counted from the start of a run or from where it was resumed; at a resumption tokens do not rise.
    """
    tokens, seconds = (np.array([record[name] for record in records], float) for name in ("tokens", "seconds"))
    resumed = np.diff(tokens, prepend=0.0) <= 0
    own = [np.where(resumed, ends, np.diff(ends, prepend=0.0)) for ends in (tokens, seconds)]
    return own[0], np.maximum(own[1], 1e-9)


def draws(subjects):
    """Quality of the drawn negatives, for runs with ``--diagnose``."""
    section = Section("Draws", "On a fixed sample of pairs, against the full softmax; see docs/diagnostics.md.")
    for figure, label in _DIAGNOSES.items():
        series = []
        for number, one in enumerate(subjects):
            if points := [(r["epoch"], r[figure]) for r in one.records("Diagnosis") if r.get(figure) is not None]:
                series.append(_through(one, number, points))
        if _changes(series):
            section.charts.append(Chart(f"draws-{figure}", label.capitalize(), "epoch", label, series))
    return section


def similarity(subjects, found):
    """Cosines against human scores of pairs of words. found : as `measured` returns it"""
    section = Section("Similarity", "Human score and cosine of each pair of a set.")
    outliers, differences = [], []
    for one_set, results in found.items():
        if one_set.name in ANALOGY:
            continue
        known = [number for number, result in enumerate(results) if result is not None]
        scored = {n: scored_pairs(subjects[n].vectors, one_set.path, one_set.tags) for n in known}
        series = []
        for number, pairs in scored.items():
            names = [f"{a} – {b}" for a, b in pairs.words]
            series.append(Series(subjects[number].name, pairs.human, pairs.cosines, names, like=number))
            outliers += _outliers(one_set.name, subjects[number].name, pairs)
        chart = Chart(f"similarity-{one_set.name}", one_set.name, "human score", "cosine", series, "points")
        section.charts.append(chart)
        others = [_difference(scored.get(0), scored.get(number)) for number in range(1, len(subjects))]
        differences.append([one_set.name, *others])
    if differences and len(subjects) > 1:
        head = ["set", *(one.name for one in subjects[1:])]
        section.tables.append(Table(f"Difference from {subjects[0].name}, on the same pairs", head, differences))
    if outliers:
        head = ["set", "vectors", "pair", "human rank", "cosine rank"]
        section.tables.append(Table("Largest differences in rank; 1 is the most similar", head, outliers, folded=True))
    return section


def _difference(first, second):
    """Return by how much the second `ScoredPairs` correlates better than the first, with an interval (str)."""
    both = set(first.words) & set(second.words) if first and second else ()
    if len(both) < 3:
        return "–"
    keep = [np.array([words in both for words in found.words]) for found in (first, second)]
    human, one, two = first.human[keep[0]], first.cosines[keep[0]], second.cosines[keep[1]]
    return "{:+.3f} ({:+.3f} … {:+.3f}), {}".format(*paired_difference(human, one, two), len(human))


def _outliers(name, subject, found):
    """Return rows of the pairs whose human rank and cosine rank differ most."""
    from scipy.stats import rankdata

    people, ours = rankdata(-found.human), rankdata(-found.cosines)
    worst = np.argsort(-np.abs(people - ours), kind="stable")[:_OUTLIERS]
    return [[name, subject, " – ".join(found.words[i]), f"{people[i]:.0f}", f"{ours[i]:.0f}"] for i in worst.tolist()]


def analogies(subjects, found):
    """Accuracy on analogy questions by category, with Wilson's 95 % intervals."""
    section = Section("Analogies", "Percentage of correct first answers (3CosAdd); error bars show 95 % intervals.")
    for one_set, results in found.items():
        if one_set.name not in ANALOGY:
            continue
        series, totals = [], []
        for number, (one, result) in enumerate(zip(subjects, results, strict=True)):
            if result is None:
                continue
            scores = [score for score in result.sections if score.precision is not None]
            share, low, high = np.array([_right(score) for score in scores]).T
            series.append(Series(one.name, [score.name for score in scores], share, None, low, high, like=number))
            kinds = result.semantic, result.syntactic
            for score in kinds if any(kinds) else (result.overall,):
                if score is not None and score.precision is not None:
                    shown = "{:.1f} ({:.1f} … {:.1f})".format(*_right(score))
                    totals.append([one.name, score.name, shown, f"{score.scored}/{score.total}"])
        label = "correct answers, %"
        section.tables.append(Table(one_set.name, ["vectors", "part", "% correct", "questions"], totals))
        section.charts.append(Chart(f"analogies-{one_set.name}", one_set.name, "", label, series, "bars"))
    return section


def _right(score):
    """Return the percentage of correct first answers of a `SectionScore`, and its interval (three floats)."""
    from scipy.stats import binomtest

    share = score.precision[1]
    interval = binomtest(round(share * score.scored), score.scored).proportion_ci(method="wilson")
    return tuple(100 * float(part) for part in (share, *interval))


def neighbours(subjects, words=()):
    """The nearest neighbours of some words, in columns."""
    items = all(one.has_users for one in subjects)
    section = Section("People who liked this also liked" if items else "Neighbours", "Nearest by cosine.")
    section.tables += _by_word(subjects, words, _nearest, "no such {}")
    return section


def kin(subjects, words=()):
    """Kin of some words, in columns, and the largest rules of spelling, of vectors made by the read-out paradigms."""
    text = "Words that the read-out paradigms joins by a rule of spelling, and how many pairs follow that rule."
    section = Section("Kin", f"{text} The rule -e +ing drops e and adds ing.")
    having = [one for one in subjects if one.vectors.rules and len(one.vectors.rules.pairs.rule)]
    section.tables += _by_word(having, words, _kin, "no kin") if having else []
    for one in having:
        section.tables.append(Table(f"Largest rules of {one.name}", ["rule", "pairs", "such as"], _largest(one)))
    return section


def _by_word(subjects, words, listed, nothing):
    """Return a table for each word, some if none is given: ``listed(subject, word)`` of each subject, in columns.

    nothing : str, what an empty column says
    """
    tables = []
    for word in words or chosen_words(subjects):
        found = [listed(one, word) for one in subjects]
        if any(found) or words:
            columns = [own or [nothing.format(one.vectors.noun)] for one, own in zip(subjects, found, strict=True)]
            rows = [list(row) for row in zip_longest(*columns, fillvalue="")]
            tables.append(Table(subjects[0].title(word), [one.name for one in subjects], rows))
    return tables


def check_known(subjects, words):
    """Raise UnknownNameError for a word of which no subject has a vector."""
    for word in words:
        if not any(_nearest(one, word) for one in subjects):
            subjects[0].vectors.most_similar(word)


def _nearest(subject, word):
    with suppress(W2vnegError):
        found = subject.vectors.most_similar(word, k=_NEIGHBOURS)
        return [f"{subject.title(other)}  {cosine:.3f}" for other, cosine in found]


def _kin(subject, word):
    with suppress(W2vnegError):
        return [f"{subject.title(one.word)}  {rule_text(one)}" for one in subject.vectors.kin(word)[:_NEIGHBOURS]]


def _largest(subject):
    """Return rows of the rules with the most pairs: rule, number of pairs, and pairs of the most frequent words."""
    rules, rows = subject.vectors.rules, []
    i, j, rule = rules.pairs.i, rules.pairs.j, rules.pairs.rule
    sizes = np.bincount(rule)
    for number in np.argsort(-sizes, kind="stable")[:_RULES].tolist():
        at = np.flatnonzero(rule == number)
        first = at[np.argsort(np.maximum(i[at], j[at]), kind="stable")[:_EXAMPLES]]
        pairs = [(rules.words[int(i[e])], rules.words[int(j[e])]) for e in first]
        called = next(one.rule for one in rules.kin(pairs[0][0]) if one.word == pairs[0][1])
        rows.append([called, f"{sizes[number]:,}", ", ".join(f"{one} → {other}" for one, other in pairs)])
    return rows


def lists(subjects):
    """The items of some users, what they are recommended, and why."""
    section = Section("Lists for users", "Scores are dot products; next to them are the user's nearest items.")
    for one in (one for one in subjects if one.has_users and one.model.known is not None):
        sizes = np.diff(one.model.known.indptr)
        some = np.flatnonzero(sizes >= min(_HAVE, sizes.max()))
        for row in some[np.unique(np.linspace(0, len(some) - 1, _USERS).astype(int))].tolist():
            user = one.model.vocab.words[row]
            try:
                found, has = one.list_of(user, _NEIGHBOURS)
            except W2vnegError:
                continue
            had = ", ".join(one.title(one.model.vocab_out.words[item]) for item in has[:_HAVE].tolist())
            more = f" and {len(has) - _HAVE} more" if len(has) > _HAVE else ""
            title = f"{one.name}: user {user}, who has {had}{more}"
            rows = []
            for word, score, why in found:
                reasons = ", ".join(f"{one.title(own)} {near:.2f}" for own, near in why)
                rows.append([one.title(word), f"{score:.2f}", reasons])
            section.tables.append(Table(title, ["recommended", "score", "near to"], rows))
    return section


def chosen_words(subjects):
    """Return words that all subjects know (list of str): longer ones, frequent but not the most frequent."""
    first, others = subjects[0].vectors, [one.vectors for one in subjects[1:]]
    n = len(first)
    found = []
    for row in np.unique(np.geomspace(min(100, n // 4 + 1), max(n // 3, 2), 4 * _WORDS).astype(int)).tolist():
        word = first.words[min(row, n - 1)]
        if (len(word) > 3 or n < 400 or subjects[0].titles) and all(word in other for other in others):
            found.append(word)
    return found[:: max(1, len(found) // _WORDS)][:_WORDS]


def paired_difference(human, first, second, seed=1):
    """Return how much higher the second Spearman correlation with human scores is than the first, and its interval.

    Both have scored the same pairs of words, float64 (n,). The pairs are resampled 500 times, jointly for both: a
    percentile bootstrap (Efron 1979). So pairs that are hard for both do not widen the interval.
    """
    from scipy.stats import rankdata

    drawn = np.random.default_rng(seed).integers(0, len(human), (_RESAMPLES, len(human)))
    drawn[0] = np.arange(len(human))  # the pairs themselves
    ranks = [rankdata(values[drawn], axis=1) for values in (human, first, second)]
    a, b, c = (one - one.mean(axis=1, keepdims=True) for one in ranks)
    with np.errstate(invalid="ignore", divide="ignore"):
        of_first, of_second = (
            (a * one).sum(axis=1) / np.sqrt((a * a).sum(axis=1) * (one * one).sum(axis=1)) for one in (b, c)
        )
    differences = of_second - of_first
    return float(differences[0]), *map(float, np.nanpercentile(differences[1:], (2.5, 97.5)))
