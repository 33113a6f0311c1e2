"""Node classification: do vectors tell what things are labelled as?

The protocol of DeepWalk (Perozzi, Al-Rfou and Skiena 2014, section 4): a share of the labelled nodes is drawn for
training, one logistic regression a label is fitted on their vectors, and each other node gets as many labels as it has,
those with the highest chances. The figures are F1 over all decisions (micro) and the mean of F1 over labels (macro).

The null model knows no vectors: it gives the most frequent labels of the training nodes.
"""

import warnings
from dataclasses import asdict, dataclass

import numpy as np

from ...data.inputs import Input, encode_input
from ...ground.errors import ConfigError, InputError, require

SHARES = (0.1, 0.5, 0.9)


@dataclass(frozen=True)
class ClassesResult:
    """How well labels are predicted.

    shares : dict of float -> dict of str -> (float, float), by share of training: micro and macro F1 of the vectors,
        null_micro and null_macro of the null model, each with mean and standard deviation over draws
    nodes, labels : int, that took part; labels_a_node : float
    unknown : int, labelled nodes without a vector; seeds : int, draws
    """

    shares: dict
    nodes: int
    labels: int
    labels_a_node: float
    unknown: int
    seeds: int

    def as_dict(self):
        return asdict(self)


def evaluate_classes(vectors, labels, *, shares=SHARES, seeds=10, seed=1):
    """Predict the labels of nodes from their vectors.

    Parameters
    ----------
    vectors : Vectors
    labels : str, Path or table in memory
        A node and a label a row; a node with several labels has as many rows.
    shares : sequence of float, in (0, 1)
        Of the labelled nodes, for training.
    seeds : int, at least 1
        Draws of the training nodes for each share.
    seed : int

    Returns
    -------
    ClassesResult

    Raises
    ------
    InputError
        If the file cannot be read, has one label, or too few of its nodes have a vector.
    ConfigError
        If a share is out of range.
    MissingExtraError
        Without scikit-learn.
    """
    score = require("sklearn.metrics", "sklearn", "evaluating classes").f1_score
    if not all(0 < share < 1 for share in shares):
        raise ConfigError(f"shares of training must be above 0 and below 1, not {', '.join(map(str, shares))}")
    read = encode_input(Input("pairs", labels, rectangular=True))
    rows = vectors.words.find_all(read.vocab.words)
    truth = read.matrix[rows >= 0].toarray() > 0
    truth = truth[:, truth.any(axis=0)]  # what is left are labels, and no headings
    x = vectors.matrix[rows[rows >= 0]]
    if truth.shape[1] < 2 or not all(0 < round(share * len(x)) < len(x) for share in shares):
        raise InputError(
            f"{labels}: {len(x):,} of {len(rows):,} labelled {vectors.noun}s have a vector, with "
            f"{truth.shape[1]} labels; that is too little to train and to test on"
        )
    found = {}
    for share in shares:
        runs = []
        for number in range(seeds):
            order = np.random.default_rng([seed, number]).permutation(len(x))
            train, test = np.split(order, [round(share * len(x))])
            own = {
                "": _chances(x[train], truth[train], x[test]),
                "null_": np.tile(truth[train].mean(0), (len(test), 1)),
            }
            runs.append(
                {
                    f"{who}{way}": score(truth[test], _chosen(chances, truth[test]), average=way, zero_division=0)
                    for who, chances in own.items()
                    for way in ("micro", "macro")
                }
            )
        found[share] = {
            name: (float(np.mean([run[name] for run in runs])), float(np.std([run[name] for run in runs])))
            for name in runs[0]
        }
    return ClassesResult(found, *truth.shape, float(truth.sum(1).mean()), int((rows < 0).sum()), seeds)


def _chances(x, truth, x_test):
    """Return the chance of each label, (n_test, n_labels), by a logistic regression a label."""
    linear = require("sklearn.linear_model", "sklearn", "evaluating classes").LogisticRegression
    several = require("sklearn.multiclass", "sklearn", "evaluating classes").OneVsRestClassifier
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Label .* present in all training|Label not .* is present")
        return several(linear(max_iter=1000)).fit(x, truth).predict_proba(x_test)


def _chosen(chances, truth):
    """Return for each node as many labels as it has, the likeliest: ndarray, bool."""
    ranks = np.argsort(np.argsort(-chances, axis=1, kind="stable"), axis=1, kind="stable")
    return ranks < truth.sum(axis=1, keepdims=True)
