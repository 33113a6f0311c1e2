"""The oracle: what the engine must do, written as slowly and plainly as it can be, in Python and float64.

Nothing here is imported from the package; the equations are written down again from the papers.
"""

import math
from functools import partial
from itertools import pairwise

import numpy as np


def keep_probability(share, threshold):
    """Chance that a word making up `share` of the corpus survives subsampling; word2vec.c's formula. 0 keeps all."""
    if threshold == 0:
        return 1.0
    return min(1.0, math.sqrt(threshold / share) + threshold / share)


def sentences(ids, offsets):
    """Return the sentences of an encoded corpus as lists of (position, id)."""
    return [[(p, int(ids[p])) for p in range(a, b)] for a, b in pairwise(offsets)]


def groups(ids, offsets, window, kept=lambda position: True):
    """Return (position, centre, positives) of every centre that has a neighbour: nearest first, left before right.

    kept : callable, tells whether the token at a position survives; the others are gone before windows are counted.
    """
    found = []
    for sentence in sentences(ids, offsets):
        line = [(p, i) for p, i in sentence if kept(p)]
        for here, (position, centre) in enumerate(line):
            left = [i for _, i in line[max(0, here - window) : here]][::-1]
            right = [i for _, i in line[here + 1 : here + 1 + window]]
            if left or right:
                found.append((position, centre, left + right))
    return found


def log_sum_exp(values):
    """Return log Σ e^v without overflow; −∞ if there is nothing to add up."""
    top = max(values)
    if top == -math.inf:
        return top
    return top + math.log(sum(math.exp(v - top) for v in values))


def softplus(x):
    """Return log(1 + e^x) without overflow."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def sigmoid(x):
    """Return 1 / (1 + e^−x) without overflow."""
    return math.exp(-softplus(-x))


def counting(weights):
    """Return the places of the negatives that count; the positive's place is 0."""
    return [k for k in range(1, len(weights)) if weights[k] > 0]


def negative_sampling(logits, weights, log_q=None, mean=False):
    """Notes eq. 18 with weights: L = −log σ(s₀) − Σ ω_k log σ(−s_k); CSS eq. 28 has their mean. Returns (L, dL/ds)."""
    share = 1 / max(1, len(counting(weights))) if mean else 1
    value = softplus(-logits[0]) + share * sum(w * softplus(s) for s, w in zip(logits[1:], weights[1:], strict=True))
    gradient = [-sigmoid(-logits[0])] + [share * w * sigmoid(s) for s, w in zip(logits[1:], weights[1:], strict=True)]
    return value, np.array(gradient)


def softmax_of(terms, first, penalty=0.0):
    """Return (L, dL/dt) of L = −first + log Z + λ (log Z)², Z = Σ e^{term}; dL/d first is counted on place 0."""
    log_z = log_sum_exp(terms)
    if log_z == -math.inf:
        return 0.0, np.zeros(len(terms))
    shares = np.array([math.exp(term - log_z) for term in terms])
    gradient = (1 + 2 * penalty * log_z) * shares
    gradient[0] = -math.exp(log_sum_exp(terms[1:]) - log_z) + 2 * penalty * log_z * shares[0]  # p₀ − 1 exactly
    return log_z - first + penalty * log_z**2, gradient


def corrected(logits, weights, corrections):
    """Return log ω_k + s_k − c_k, −∞ for what does not count."""
    return [s - c + math.log(w) if w > 0 else -math.inf for s, w, c in zip(logits, weights, corrections, strict=True)]


def relaxed_softmax(logits, weights, log_q=None, penalty=0.0, positive_in=True):
    """Relaxed softmax, eq. 5 with the positive in V or not: L = −s₀ + log(e^{s₀} + Σ ω_k e^{s_k})."""
    terms = corrected(logits, weights, np.zeros(len(logits)))
    if not positive_in:
        terms[0] = -math.inf
    return softmax_of(terms, logits[0], penalty)


def sampled_softmax(logits, weights, log_q, penalty=0.0):
    """Kernel paper, eq. 2: negatives' logits less log(n q), the positive's as it is."""
    corrections = np.array(log_q, np.float64) + math.log(max(1, len(counting(weights))))
    corrections[0] = 0
    return softmax_of(corrected(logits, weights, corrections), logits[0], penalty)


def large_vocabulary(logits, weights, log_q, penalty=0.0):
    """Softmax over positive and negatives on s − log q; log n shifts log Z alone."""
    corrections = np.array(log_q, np.float64) + math.log(max(1, len(counting(weights))))
    return softmax_of(corrected(logits, weights, corrections), logits[0] - corrections[0], penalty)


def complementary_sum(logits, weights, log_q, penalty=0.0, drawn=None):
    """CSS eqs. 17–18: κ = 1 / (S q'), q' = q / (1 − q₀); for `drawn` independent draws κ = 1 / b, b = drawn · q."""
    kappa = np.zeros(len(logits))
    for k in counting(weights):
        if drawn is None:
            kappa[k] = (1 - math.exp(log_q[0])) / (len(counting(weights)) * math.exp(log_q[k]))
        else:
            kappa[k] = 1 / (drawn * math.exp(log_q[k]))
    kappa[0] = 1
    return softmax_of(corrected(logits, weights, [-math.log(k) if k else 0.0 for k in kappa]), logits[0], penalty)


def importance_sampling(logits, weights, log_q, penalty=0.0):
    """CSS eq. 11: the normaliser is (1/S) Σ e^{s_k} / q_k, without the positive."""
    corrections = np.array(log_q, np.float64) + math.log(max(1, len(counting(weights))))
    terms = corrected(logits, weights, corrections)
    terms[0] = -math.inf
    return softmax_of(terms, logits[0], penalty)


def noise_contrastive(logits, weights, log_q, log_z=0.0, drawn=None):
    """Notes eq. 10: P(observed) = e^s/z / (e^s/z + n q); L = −log P(observed | 0) − Σ ω log P(noise | k).

    drawn : int, how many targets independent draws entered, of which those of weight 0 are excluded
    """
    places = counting(weights)
    gradient = np.zeros(len(logits))
    if not places and drawn is None:
        return 0.0, gradient
    n = len(places) if drawn is None else max(drawn, 1)
    exp_logits = [s - log_z - math.log(n) - q for s, q in zip(logits, log_q, strict=True)]
    value, gradient[0] = softplus(-exp_logits[0]), -sigmoid(-exp_logits[0])
    for k in places:
        value += weights[k] * softplus(exp_logits[k])
        gradient[k] = weights[k] * sigmoid(exp_logits[k])
    return value, gradient


def blackout(logits, weights, log_q):
    """CSS eqs. 29–30: p ∝ ω e^s / q; L = −log p₀ − Σ log(1 − p_k). The gradient by the chain rule through p."""
    terms = corrected(logits, weights, log_q)
    places = counting(weights)
    gradient = np.zeros(len(logits))
    if not places:
        return 0.0, gradient
    log_z = log_sum_exp(terms)
    p = [math.exp(term - log_z) for term in terms]
    log_rests = [log_sum_exp([t for j, t in enumerate(terms) if j != k]) for k in range(len(terms))]
    value = log_z - terms[0]
    gradient -= np.exp(log_rests[0] - log_z) * (np.arange(len(p)) == 0)  # p₀ − 1
    gradient[1:] += p[1:]
    for k in places:
        value += log_z - log_rests[k]
        for j in range(len(p)):  # ∂p_k/∂s_j / (1 − p_k) = p_k (δ_jk − p_j) / (1 − p_k)
            gradient[j] += p[k] if j == k else -math.exp(terms[k] + terms[j] - log_rests[k] - log_z)
    return value, gradient


def ranking(logits, weights, log_q=None, margin=0.0):
    """CSS eq. 25: L = −Σ ω log σ(s₀ − s_k − Δ)."""
    short = [s - logits[0] + margin for s in logits[1:]]
    slopes = [w * sigmoid(x) if w else 0.0 for x, w in zip(short, weights[1:], strict=True)]
    value = sum(w * softplus(x) for x, w in zip(short, weights[1:], strict=True) if w)
    return value, np.array([-sum(slopes), *slopes])


def hinge(logits, weights, log_q=None, margin=1.0):
    """CSS eq. 24: L = Σ ω max(0, Δ − s₀ + s_k)."""
    short = [s - logits[0] + margin for s in logits[1:]]
    slopes = [w * (x > 0) for x, w in zip(short, weights[1:], strict=True)]
    value = sum(w * max(0.0, x) for x, w in zip(short, weights[1:], strict=True))
    return value, np.array([-sum(slopes), *slopes])


LOSSES = {  # with the options they have by default for 1000 words
    "ns": negative_sampling,
    "relaxed": relaxed_softmax,
    "sampled-softmax": sampled_softmax,
    "large-vocab": large_vocabulary,
    "css": complementary_sum,
    "importance": importance_sampling,
    "nce": noise_contrastive,
    "blackout": blackout,
    "ranking": partial(ranking, margin=math.log(999)),
    "hinge": hinge,
}


def no_weights(log_q, logits, counted, evaluated):
    """Every negative counts once. A weigher's arguments have the positive's place first, and so has its answer.

    counted : 1 + n bools, False for a negative that is excluded; evaluated : the discriminator's logits
    """
    return np.array(counted, np.float64)


def importance_weights(log_q, logits, counted, evaluated):
    """ω_k = n q_k⁻¹ / Σ_l q_l⁻¹ over the n negatives that count, 1 for the positive."""
    return _shares([-value for value in log_q], counted)


def self_adversarial_weights(log_q, logits, counted, evaluated, temperature=1.0):
    """RotatE eq. 5 times n: ω_k = n e^{s_k/T} / Σ_l e^{s_l/T} over the n negatives that count."""
    return _shares([s / temperature for s in logits], counted)


def _shares(exponents, counted):
    """Return 1, then n e^{v_k} / Σ_l e^{v_l} over the n places that count."""
    places = [k for k in range(1, len(exponents)) if counted[k]]
    weights = np.zeros(len(exponents))
    weights[0] = 1.0
    if places:
        log_z = log_sum_exp([float(exponents[k]) for k in places])
        for k in places:
            weights[k] = len(places) * math.exp(exponents[k] - log_z)
    return weights


def discriminator_weights(log_q, logits, counted, evaluated, weigh_positive=False):
    """CIS eq. 8: ω_k = σ(−D(i, j_k)), 1 for the positive; eq. 10: for the positive as well."""
    weights = np.array([sigmoid(-d) if c else 0.0 for d, c in zip(evaluated, counted, strict=True)])
    if not weigh_positive:
        weights[0] = 1.0
    return weights


WEIGHERS = {
    "none": no_weights,
    "importance": importance_weights,
    "self-adversarial": self_adversarial_weights,
    "discriminator": discriminator_weights,
}


def discriminator_loss(x, out, positives, drawn, n, shared):
    """CIS eq. 9 as a loss, over the pairs of a group: −Σ_i [ log σ(D(i)) + Σ_k log σ(−D(i_k)) ]."""
    total = 0.0
    for k, positive in enumerate(positives):
        total += softplus(-(out[positive] @ x))
        total += sum(softplus(out[drawn[p]] @ x) for p in negatives_of(k, n, drawn, shared))
    return total


def negatives_of(k, n, drawn, shared):
    """Return the places in `drawn` of the k-th positive's negatives."""
    return range(n) if shared else range(k * n, (k + 1) * n)


def no_noise(target):
    """Return the log q of a positive where no loss asks for it."""
    return 0.0


def group_loss(loss, weigher, x, out, positives, drawn, log_q, n, shared, exclude=False, noise=no_noise):
    """Return the group's loss and its gradient with respect to the logits of the positives and of all drawn.

    exclude : bool, a negative that is the very positive it stands beside weighs nothing
    noise : callable, log q of a positive
    """
    value, at_positives, at_drawn = 0.0, np.zeros(len(positives)), np.zeros(len(drawn))
    for k, positive in enumerate(positives):
        places = negatives_of(k, n, drawn, shared)
        logits = np.array([out[i] @ x for i in [positive, *(drawn[p] for p in places)]])
        logs = np.array([noise(positive), *(log_q[p] for p in places)])
        counted = [True, *(not exclude or drawn[p] != positive for p in places)]
        weights = WEIGHERS[weigher](logs, logits, counted, None)
        one, gradient = LOSSES[loss](logits, weights, logs)
        value += one
        at_positives[k] = gradient[0]
        for p, g in zip(places, gradient[1:], strict=True):
            at_drawn[p] += g
    return value, at_positives, at_drawn


def shrink(rows, ids, rates, amount, held=0.0):
    """L2 as lazy decay: every touch of a row takes it to e^(−amount · rate) of itself; rates None : no penalty.

    held : what the first number of a row is from then on; 0: it shrinks with the others
    """
    for i in ids if rates is not None else ():
        rows[i] *= math.exp(-amount * rates[i])
        rows[i][0] = held or rows[i][0]


NO_DECAY = None, None


def train(
    groups,
    drawn,
    log_q,
    inputs,
    outputs,
    *,
    loss,
    weigher,
    n,
    shared,
    bounded,
    alphas,
    exclude=False,
    decay=NO_DECAY,
    held=0.0,
    noise=no_noise,
):
    """Do stochastic gradient descent group by group, changing `inputs` and `outputs` (float64) in place.

    groups : list of (place, centre, positives); `place` picks the learning rate and the draws
    drawn, log_q : (places, draws); alphas : one learning rate for each place
    decay : rates of the rows of centres, which shrink for each pair, and of targets, which shrink as positives
    Returns (loss, pairs).
    """
    total, pairs = 0.0, 0
    for place, centre, positives in groups:
        count = n if shared else n * len(positives)
        ids, logs = drawn[place][:count], log_q[place][:count]
        x = inputs[centre].copy()
        given = loss, weigher, x, outputs, positives, ids, logs, n, shared, exclude, noise
        value, at_positives, at_drawn = group_loss(*given)
        steps = -alphas[place] * np.concatenate([at_positives, at_drawn])
        if bounded:  # no logit moves by more than 1 through its own row: the positives as one, each negative by itself
            by_positives, by_negatives = np.abs(steps[: len(positives)]).sum(), np.abs(steps[len(positives) :])
            steps *= min(1.0, 1.0 / (max(by_positives, *by_negatives) * (x @ x)))
        gradient = np.zeros_like(x)
        for target, step in zip([*positives, *ids], steps, strict=True):
            gradient += step * outputs[target]
        for target, step in zip([*positives, *ids], steps, strict=True):
            outputs[target] += step * x
        inputs[centre] += gradient
        shrink(inputs, [centre] * len(positives), decay[0], alphas[place], held)
        shrink(outputs, positives, decay[1], alphas[place])
        total += value
        pairs += len(positives)
    return total, pairs


def train_windows(
    groups,
    drawn,
    log_q,
    inputs,
    outputs,
    *,
    loss,
    weigher,
    n,
    bounded,
    alphas,
    exclude=False,
    decay=NO_DECAY,
    held=0.0,
    noise=no_noise,
):
    """The same where negatives are shared by windows: groups are (place, word, the words around it), which are the
    centres; all logits first, then pair by pair.
    """
    total, pairs = 0.0, 0
    for place, word, centres in groups:
        targets, logs = [word, *drawn[place][:n]], log_q[place][:n]
        steps = np.empty((len(centres), 1 + n))
        for k, centre in enumerate(centres):
            x = inputs[centre]
            given = loss, weigher, x, outputs, [word], targets[1:], logs, n, False, exclude, noise
            value, *gradients = group_loss(*given)
            steps[k] = -alphas[place] * np.concatenate(gradients)
            total += value
        if bounded:  # neither a target's row nor that of a centre which comes again moves a logit by more than 1
            norms, of_word = (inputs[centres] ** 2).sum(axis=1), outputs[word] @ outputs[word]
            through = list((np.abs(steps) * norms[:, None]).sum(axis=0))
            for centre in set(centres):
                its = [k for k, other in enumerate(centres) if other == centre]
                if len(its) > 1:
                    through.append(np.abs(steps[its, 0]).sum() * of_word)
            steps *= min(1.0, 1.0 / max(through))
        for k, centre in enumerate(centres):
            x, gradient = inputs[centre].copy(), 0.0
            for target, step in zip(targets, steps[k], strict=True):
                gradient = gradient + step * outputs[target]
                outputs[target] += step * x
            inputs[centre] += gradient
        shrink(inputs, centres, decay[0], alphas[place], held)
        shrink(outputs, [word] * len(centres), decay[1], alphas[place])
        pairs += len(centres)
    return total, pairs


def popularity(counts, exponent):
    """Return Q(j) ∝ count_j^a."""
    weights = np.asarray(counts, np.float64) ** exponent
    return weights / weights.sum()


def boltzmann(logits, degeneracy, temperature):
    """Relaxed softmax, eq. 8, by enumeration: Q(j) = D(j) e^{s_j / T} / Σ_l D(l) e^{s_l / T}."""
    scaled = np.asarray(logits, np.float64) / temperature
    weights = np.asarray(degeneracy, np.float64) * np.exp(scaled - scaled.max())
    return weights / weights.sum()


def hardest_of(p, scores, m):
    """Return the distribution of the highest-scoring of m draws from p (no two scores the same)."""
    q = np.zeros(len(p))
    below = 0.0
    for j in np.argsort(scores):
        q[j] = (below + p[j]) ** m - below**m
        below += p[j]
    return q


def bigram(groups, centre, p, back_off):
    """Return q(j|i) = (1 − β) c_ij / c_i + β p_j, c counted over groups of window 1; p alone where c_i is 0."""
    counts = np.zeros(len(p))
    for _, i, positives in groups:
        if i == centre:
            for j in positives:
                counts[j] += 1
    return (1 - back_off) * counts / counts.sum() + back_off * p if counts.any() else np.array(p)


def alias_probabilities(table):
    """Return the distribution that an alias table (threshold and alias in one word) stands for, slot by slot."""
    n = len(table)
    probabilities = np.zeros(n)
    for slot in range(n):
        alias, threshold = divmod(int(table[slot]), 2**32)
        own = threshold / 2**32
        probabilities[slot] += own / n
        probabilities[alias] += (1 - own) / n
    return probabilities


def merge(shared, copies, pulls):
    """Return the shared rows after a merge of the workers' copies (workers, n_private, dim) of the first rows.

    Each row gains the sum of its workers' changes, times the mean of 1, ρ, …, ρ^(k−1) where k > 2 workers changed it.
    """
    merged = np.array(shared, np.float64)
    for row in range(np.shape(copies)[1]):
        changes = [copy[row].astype(np.float64) - shared[row] for copy in copies]
        moved = [change for change in changes if np.any(change != 0)]
        if moved:
            passes = np.exp(-pulls[row] * np.arange(len(moved)))
            merged[row] += sum(moved) * (passes.mean() if len(moved) > 2 else 1.0)
    return merged


def merge_changes(changes, pulls):
    """Return the change of each row that those of the ranks, (n_ranks, n_rows, dim), come to."""
    changes = np.array(changes, np.float64)
    merged = np.zeros(changes.shape[1:])
    for row in range(merged.shape[0]):
        moved = [change for change in changes[:, row] if np.any(change != 0)]
        k, total = len(moved), sum(moved)
        if k <= 2:
            merged[row] = total
            continue
        settled = np.exp(-pulls[row] * np.arange(k)).mean()
        agreement = sum(change @ change for change in moved) / (total @ total) if total.any() else 1.0
        merged[row] = max(settled, min(1.0, agreement)) * total
    return merged


def train_bags(
    groups,
    drawn,
    log_q,
    words,
    grams,
    outputs,
    *,
    loss,
    weigher,
    n,
    shared,
    bounded,
    alphas,
    exclude=False,
    decay=(None, None, None),
    held=0.0,
    noise=no_noise,
):
    """The same where the vector is the mean of several rows, each of which takes the whole step of it.

    groups : list of (place, ids of words, ids of n-grams, positives); words, grams : their rows, float64
    decay : rates of words, of n-grams and of targets
    """
    total, pairs = 0.0, 0
    for place, of_words, of_grams, positives in groups:
        rows = [words[i] for i in of_words] + [grams[g] for g in of_grams]
        line = {"mean": np.mean(rows, axis=0)}
        before = line["mean"].copy()
        one = [(place, "mean", positives)]
        options = {"loss": loss, "weigher": weigher, "n": n, "shared": shared, "bounded": bounded, "alphas": alphas}
        options |= {"exclude": exclude, "decay": (None, decay[2]), "noise": noise}
        value, m = train(one, drawn, log_q, line, outputs, **options)
        for i in of_words:
            words[i] += line["mean"] - before
        for g in of_grams:
            grams[g] += line["mean"] - before
        shrink(words, of_words * len(positives), decay[0], alphas[place], held)
        shrink(grams, of_grams * len(positives), decay[1], alphas[place], held)
        total, pairs = total + value, pairs + m
    return total, pairs


def character_grams(word, shortest, longest):
    """Return the n-grams of ``<word>`` as fastText lists them: by where they begin, the shortest first."""
    marked = f"<{word}>"
    found = []
    for begin in range(len(marked)):
        for end in range(begin + shortest, min(begin + longest, len(marked)) + 1):
            if marked[begin:end] not in ("<", ">") or (begin > 0 and end < len(marked)):
                found.append(marked[begin:end])
    return found


def fnv1a(text, signed=True):
    """Return the 32-bit FNV-1a hash of the UTF-8 bytes, which fastText takes as signed numbers and widens."""
    hashed = 2166136261
    for byte in text.encode("utf-8", "surrogatepass"):
        hashed ^= (byte - 256) % 2**32 if signed and byte > 127 else byte
        hashed = hashed * 16777619 % 2**32
    return hashed
