"""The model of gpu/common/cost_model.hpp, and its fit: microseconds from terms, relative errors.

t = c0 x0 + c1 x1 + (sum over i > 1 of (ci xi)^p)^(1/p), with ci >= 0. A fit begins with costs that are there
already, the prior. First the cost of each term is scaled by one factor for all candidates, which is what
another chip or an honest measurement changes together. Then each candidate's costs are scaled by factors of
its own, and p is the one of SHARPNESS that fits best. The logarithms of all factors are drawn to zero by a
ridge. So a cost of which the cases say nothing stays where the prior and the other candidates have it.
"""

import numpy as np
from scipy.optimize import least_squares

TERMS, APART = 8, 2  # terms; of these, what nothing overlaps
SHARPNESS = (1.0, 1.5, 2.0, 4.0)
COMMON_STRENGTH = 0.02  # of the ridge on the factors that all candidates share
LEAST = 1e-300  # of a time's logarithm


def parts_of(costs, sharpness, terms):
    """Every term's share of the time, by rows of cases: they add up to it, as the norm counts them."""
    alone = np.asarray(terms, dtype=float) * np.asarray(costs, dtype=float)
    powers = alone[..., APART:] ** sharpness
    total = powers.sum(axis=-1, keepdims=True)
    of_total = np.divide(powers, total, out=np.zeros_like(powers), where=total > 0)
    return np.concatenate([alone[..., :APART], total ** (1 / sharpness) * of_total], axis=-1)


def predict(model, terms):
    sharpness, costs = model
    return parts_of(costs, sharpness, terms).sum(axis=-1)


def table(cases):
    """Terms by rows, the logarithms of the times, and the roots of the weights."""
    terms = np.array([x for x, _, _ in cases], dtype=float).reshape(len(cases), TERMS)
    time, weight = (np.array([case[i] for case in cases], dtype=float) for i in (1, 2))
    return terms, np.log(time), np.sqrt(weight)


def start(cases):
    """Half of what a cost can be at most: no case takes less time than one of its terms."""
    terms, time, _ = table(cases)
    most = np.where(terms > 0, np.exp(time)[:, None] / np.where(terms > 0, terms, 1), np.inf).min(axis=0)
    return np.where(np.isfinite(most), most / 2, 0.0)


def scaled(cases, sharpness, costs, ridge):
    """(error, factors of the costs). `costs` and `sharpness`: of each case, or the same for all."""
    terms, time, weight = table(cases)
    costs = np.broadcast_to(np.asarray(costs, dtype=float), terms.shape)
    used, pull = (costs * terms > 0).any(axis=0), np.sqrt(ridge)

    def shares(logs):
        factors = np.ones(TERMS)
        factors[used] = np.exp(logs)
        parts = parts_of(costs * factors, sharpness, terms)
        return parts, np.maximum(parts.sum(axis=1, keepdims=True), LEAST)

    def residuals(logs):
        _, total = shares(logs)
        return np.concatenate([weight * (np.log(total[:, 0]) - time), pull * logs])

    def slopes(logs):
        parts, total = shares(logs)
        return np.concatenate([weight[:, None] * (parts / total)[:, used], pull * np.eye(len(logs))])

    found = least_squares(residuals, np.zeros(used.sum()), jac=slopes, method="lm", ftol=1e-4, xtol=1e-4)
    factors = np.ones(TERMS)
    factors[used] = np.exp(found.x)
    return 2 * found.cost, factors


def mean_cost(models, i):
    """The geometric mean of those that have cost i; 0 of none."""
    known = [costs[i] for _, costs in models if costs[i] > 0]
    return float(np.exp(np.mean(np.log(known)))) if known else 0.0


def completed(priors, rows):
    """The priors of all candidates (None: there is none) with a cost for every term that a case has.

    What is missing is the mean of the other candidates', or else half of what the cases allow.
    """
    known = [prior for prior in priors if prior]
    at_most = start([case for of_one in rows for case in of_one])
    means = [mean_cost(known, i) for i in range(TERMS)]
    sharpness = sorted(p for p, _ in known)[len(known) // 2] if known else SHARPNESS[0]
    full = []
    for prior, of_one in zip(priors, rows):
        costs = list(prior[1]) if prior else list(means)
        for i in range(TERMS):
            if costs[i] == 0 and any(terms[i] > 0 for terms, _, _ in of_one):
                costs[i] = means[i] or float(at_most[i])
        full.append((prior[0] if prior else sharpness, costs))
    return full


def in_common(priors, rows):
    """The priors, each term's cost scaled alike for all candidates, as all their cases say together."""
    cases = [case for of_one in rows for case in of_one]
    counts = [len(of_one) for of_one in rows]
    costs = np.repeat([costs for _, costs in priors], counts, axis=0)
    sharpness = np.repeat([p for p, _ in priors], counts)[:, None]
    _, factors = scaled(cases, sharpness, costs, COMMON_STRENGTH)
    return [(p, (np.asarray(costs) * factors).tolist()) for p, costs in priors]


def drawn_to(prior, cases, strength):
    """(sharpness, costs) of one candidate's cases (terms, microseconds, weight), near `prior`."""

    def attempt(sharpness):
        error, factors = scaled(cases, sharpness, prior[1], strength)
        moved = strength * np.log(sharpness / prior[0]) ** 2
        return error + moved, (sharpness, (np.asarray(prior[1]) * factors).tolist())

    return min((attempt(p) for p in SHARPNESS), key=lambda tried: tried[0])[1]


def begun(priors, rows):
    """What all candidates' fits are drawn to; None of a candidate without a prior and without a case."""
    if not any(rows):
        return list(priors)
    full = in_common(completed(priors, rows), rows)
    return [one if prior or of_one else None for prior, one, of_one in zip(priors, full, rows)]


def drawn(begun_models, rows, strength):
    """Models of all candidates from their cases, by a ridge of `strength`; None: what they are drawn to."""
    return [
        drawn_to(one, of_one, strength) if one and of_one and strength is not None else one
        for one, of_one in zip(begun_models, rows)
    ]


def fit(priors, rows, strength):
    return drawn(begun(priors, rows), rows, strength)
