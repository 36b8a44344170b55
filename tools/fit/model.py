"""The model of gpu/common/cost_model.hpp, and its least squares: microseconds from terms, relative errors.

t = c0 x0 + c1 x1 + (sum over i > 1 of (ci xi)^p)^(1/p), with ci > 0. The logarithms of the ci are fitted to
the logarithm of the time by scipy's least squares; p is the one of SHARPNESS that fits best.
"""

import numpy as np
from scipy.optimize import least_squares

TERMS, APART = 8, 2  # terms; of these, what nothing overlaps
SHARPNESS = (1.0, 1.5, 2.0, 4.0)
BELIEVED = 2  # how far beyond its cases a model is believed: kBelieved of cost_model.hpp
LOOSE, TIGHT = 1e-3, 0.02  # how much a cost is kept near its start: of the common model, of a candidate
LEAST = 1e-300  # of a time's logarithm


def parts_of(costs, sharpness, terms):
    """Every term's share of the time, by rows of cases: they add up to it, as the norm counts them."""
    alone = np.asarray(terms, dtype=float) * np.asarray(costs, dtype=float)
    powers = alone[..., APART:] ** sharpness
    total = powers.sum(axis=-1, keepdims=True)
    of_total = np.divide(powers, total, out=np.zeros_like(powers), where=total > 0)
    return np.concatenate([alone[..., :APART], total ** (1 / sharpness) * of_total], axis=-1)


def predict(model, terms):
    return parts_of(model[1], model[0], terms).sum(axis=-1)  # model: (sharpness, costs, ...)


def beyond(most, terms):
    """How far terms lie beyond those that a model was fitted to: 1 or less within."""
    return max(x / m if m > 0 else float("inf") for x, m in zip(terms, most) if x > 0)


def table(cases):
    """Terms by rows, the logarithms of the times, and the roots of the weights."""
    terms = np.array([x for x, _, _ in cases], dtype=float).reshape(len(cases), TERMS)
    time, weight = (np.array([case[i] for case in cases], dtype=float) for i in (1, 2))
    return terms, np.log(time), np.sqrt(weight)


def doubt(far, nearest):
    """What a model's time is multiplied by so far beyond its cases, and beyond the nearest candidate's."""
    limit = BELIEVED * max(1, nearest)
    return (far / limit) ** 2 if far > limit else 1


def start(cases):
    """Half of what a cost can be at most: no case takes less time than one of its terms."""
    terms, time, _ = table(cases)
    most = np.where(terms > 0, np.exp(time)[:, None] / np.where(terms > 0, terms, 1), np.inf).min(axis=0)
    return np.where(np.isfinite(most), most / 2, 0.0)


def fit_sharp(cases, sharpness, first, ridge):
    """(error, (sharpness, costs)), of costs near `first` as `ridge` says; a cost of 0 stays."""
    terms, time, weight = table(cases)
    first = np.asarray(first, dtype=float)
    used = first > 0
    near, pull = np.log(first[used]), np.sqrt(ridge)

    def costs_of(logs):
        costs = np.zeros(TERMS)
        costs[used] = np.exp(logs)
        return costs

    def residuals(logs):
        all_parts = parts_of(costs_of(logs), sharpness, terms)
        errors = np.log(np.maximum(all_parts.sum(axis=1), LEAST)) - time
        return np.concatenate([weight * errors, pull * (logs - near)])

    def slopes(logs):
        shares = parts_of(costs_of(logs), sharpness, terms)
        shares /= np.maximum(shares.sum(axis=1, keepdims=True), LEAST)
        return np.concatenate([weight[:, None] * shares[:, used], pull * np.eye(len(near))])

    found = least_squares(residuals, near, jac=slopes, method="lm")
    return 2 * found.cost, (sharpness, costs_of(found.x).tolist())


def fit_together(cases):
    """(sharpness, costs) of one model for all candidates: what a chip's costs are before they differ."""
    first = start(cases)
    return min((fit_sharp(cases, p, first, LOOSE) for p in SHARPNESS), key=lambda r: r[0])[1]


def fit(cases, common):
    """(sharpness, costs) of one candidate's cases (terms, microseconds, weight).

    They stay near the common ones where the cases say little.
    """
    return min((fit_sharp(cases, p, common[1], TIGHT) for p in SHARPNESS), key=lambda r: r[0])[1]
