"""Next item from a history (Tanielian and Vasile 2019, whose table 2 has single items): last item, mean, recurrent net.

The paper's movies: MovieLens 100K, ratings of 4 and more, each user's in the order of time. The next item is predicted
from up to ten items before it, by the last one alone (the paper's setting), by the mean of their embeddings, or by a
GRU over them, with six of the paper's objectives. Users of validation and test data are not trained on.

Objectives that leave their noise in the scores are read off, and their rate is chosen, with it taken off, as the law of
`evaluation.correction` has it; "raw" are the same models ranked by plain scores.
"""

import numpy as np
import pandas as pd

from . import STUDIES, Study
from .networks import Method, Plan, how, measure
from .sequences import histories, made_up_histories

NETS = {"last": "last item", "mean": "mean of ten", "gru-last": "GRU"}
METHODS = (
    Method("FS (MLE)", {"loss": "softmax"}),
    Method("SS", {"loss": "ss"}),
    Method("US", {"loss": "us"}, "corrected"),
    Method("PS", {"loss": "ps"}, "corrected"),
    Method("UBS", {"loss": "ubs", "method": "exact"}, "corrected"),
    Method("PBS", {"loss": "pbs", "method": "exact"}, "corrected"),
)
_K = 15


def ranks(scores, targets):
    """Return how many targets score higher than the true ones, and half of those that score the same: (k,)."""
    own = scores.gather(1, targets[:, None])
    return (scores > own).sum(dim=1) + 0.5 * ((scores == own).sum(dim=1) - 1)


def ranking(run):
    """Return P@15 and MPR on test data, by scores as the method has them and by raw ones: dict, in per cent."""
    found = {}
    for name, score in (("", run.method.score), ("raw ", "raw")):
        places = np.concatenate(
            [ranks(log_p, targets).numpy() for log_p, targets in run.log_probs("test", score)], dtype=np.float64
        )
        found[f"{name}P@{_K}"] = 100 * float((places < _K).mean())
        found[f"{name}MPR"] = 100 * float(1 - places.mean() / (run.task.n_vocab - 1))
    return found


def popularity(task):
    """Return the row of ranking by counts (dict)."""
    test, p = task.parts["test"].targets, task.counts / task.counts.sum()
    above = (task.counts[:, None] > task.counts[test]).sum(axis=0)
    level = (task.counts[:, None] == task.counts[test]).sum(axis=0) - 1
    places = above + 0.5 * level
    return {
        "network": "none",
        "method": "popularity",
        "test": float(-np.log(p[test]).mean()),
        f"P@{_K}": 100 * float((places < _K).mean()),
        "MPR": 100 * float(1 - places.mean() / (task.n_vocab - 1)),
    }


def verdicts(table):
    """Return what the table says (str, Markdown)."""
    lines = []
    for figure in ("test", f"P@{_K}", "MPR"):
        best = []
        for net in NETS.values():
            part = table[table["network"] == net]
            row = part.loc[part[figure].idxmin() if figure == "test" else part[figure].idxmax()]
            best.append(f"{net}: {row['method']} {row[figure]:.3f} ± {row[f'{figure} ±']:.3f}")
        lines.append(f"- Best {'log-likelihood (loss, nats)' if figure == 'test' else figure}: {'; '.join(best)}.")
    return "\n".join(lines)


def run(task, plans, methods, seed, tell):
    """Return the study of one task."""
    tables, all_rates = [pd.DataFrame([popularity(task)])], []
    for plan in plans:
        net = NETS[plan.net]
        table, _, rates = measure(task, plan, methods, seed, lambda text, net=net: tell(f"{net}, {text}"), ranking)
        tables.append(table.assign(network=net))
        all_rates.append(rates.assign(network=net))
    table = pd.concat(tables, ignore_index=True)
    text = f"{how(task, plans[0])} Networks: {', '.join(NETS[plan.net] for plan in plans)}.\n\n{verdicts(table)}\n"
    return Study({"ranking": table, "rates": pd.concat(all_rates, ignore_index=True)}, text)


@STUDIES.register("next-of-history")
def next_of_history(tell, quick, seed):
    """Next item from the last one, a mean or a GRU over a history, on MovieLens 100K; quick: made-up histories."""
    if quick:
        task, methods = made_up_histories(100, 4, seed), METHODS[:1] + METHODS[3:4]
        return run(task, [Plan(net, 8, 1, 200, 2, rates=(0.03,)) for net in NETS], methods, seed, tell)
    task = histories("ml-100k", 10, seed)
    return run(task, [Plan(net, 32, 3, 128, 3) for net in NETS], METHODS, seed, tell)
