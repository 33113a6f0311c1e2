"""Next item from a history (Tanielian and Vasile 2019, whose table 2 has single items): last item, mean, recurrent net.

The paper's movies: MovieLens 100K, ratings of 4 and more, each user's in order of time. The next item is predicted
from up to ten previous items, by the last one alone (the paper's setting), by the mean of their embeddings, or by a
GRU over them, with six of the paper's objectives. Users of validation and test data are not trained on.

For objectives that leave their noise in the scores, evaluation and the choice of the rate use scores corrected by the
law of `evaluation.scores`; "raw" ranks the same models by plain scores.
"""

import numpy as np
import pandas as pd

from . import STUDIES, Study, declare
from .climb import Rates
from .networks import Method, Plan, how, measure
from .sequences import histories, made_up_histories
from .verdicts import Claim, Unit, judged

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
    """Return how many targets score higher than each true one, plus half of those that tie: (k,)."""
    own = scores.gather(1, targets[:, None])
    return (scores > own).sum(dim=1) + 0.5 * ((scores == own).sum(dim=1) - 1)


def ranking(run):
    """Return P@15 and MPR on test data, by the method's scores and by raw ones: dict, in per cent."""
    found = {}
    for name, score in (("", run.method.score), ("raw ", "raw")):
        places = np.concatenate(
            [ranks(log_p, targets).numpy() for log_p, targets in run.log_probs("test", score)], dtype=np.float64
        )
        found[f"{name}P@{_K}"] = 100 * float((places < _K).mean())
        found[f"{name}MPR"] = 100 * float(1 - places.mean() / (run.task.n_vocab - 1))
    return found


def popularity(task):
    """Return the table row of a ranking by counts (dict)."""
    test, p = task.parts["test"].targets, task.counts / task.counts.sum()
    above = (task.counts[:, None] > task.counts[test]).sum(axis=0)
    level = (task.counts[:, None] == task.counts[test]).sum(axis=0) - 1
    places = above + 0.5 * level
    return {
        "network": "none",
        "method": "popularity",
        "loss": float(-np.log(p[test]).mean()),
        f"P@{_K}": 100 * float((places < _K).mean()),
        "MPR": 100 * float(1 - places.mean() / (task.n_vocab - 1)),
    }


def claims():
    """Return the paper's claims on single items, for each network, and that a history is better than its last item."""
    found = []
    for net in NETS.values():
        for name in ("US", "PS", "UBS", "PBS"):
            text = f"{name} ranks better than the full softmax ({net})"
            found.append(Claim("RS", text, f"{net}, {name}", f"{net}, FS (MLE)", f"P@{_K}"))
    for net in ("mean of ten", "GRU"):
        text = f"{net} is better than the last item alone, full softmax"
        found.append(Claim("ours", text, f"{net}, FS (MLE)", "last item, FS (MLE)", "log-likelihood"))
    return found


def run(task, plans, methods, given):
    """Return the study of one task; given : (tell, seed, memo)."""
    tell, seed, memo = given
    tables, rates, runs = [pd.DataFrame([popularity(task)])], [], {}
    for plan in plans:
        net = NETS[plan.net]
        found = measure(task, plan, methods, seed, lambda text, net=net: tell(f"{net}, {text}"), memo, ranking)
        tables.append(found.table.assign(network=net))
        rates.append(found.rates.assign(network=net))
        runs |= {(f"{net}, {method}", figure): values for (method, figure), values in found.runs.items()}
    table = pd.concat(tables, ignore_index=True)
    text = f"{how(task, plans[0])} Networks: {', '.join(NETS[plan.net] for plan in plans)}.\n"
    units = {f"P@{_K}": Unit(1.0, "points", 0.1), "log-likelihood": Unit(1.0, "nats", 0.01)}
    tables = {"ranking": table, "null models": task.nulls(), "rates": pd.concat(rates, ignore_index=True)}
    return Study(tables, text, verdicts=judged(claims(), runs, units))


@STUDIES.register("next-of-history")
@declare("RS", "table 2, from histories", minutes=35)
def next_of_history(tell, quick, seed, memo):
    """Next item from the last one, a mean or a GRU over a history, on MovieLens 100K; quick: synthetic histories."""
    if quick:
        task, methods = made_up_histories(100, 4, seed), METHODS[:1] + METHODS[3:4]
        return run(
            task,
            [Plan(net, 8, 1, 200, 2, rates=Rates(0.03, 3.0, (0,), 0)) for net in NETS],
            methods,
            (tell, seed, memo),
        )
    task = histories("ml-100k", 10, seed)
    return run(task, [Plan(net, 32, 3, 512, 3) for net in NETS], METHODS, (tell, seed, memo))
