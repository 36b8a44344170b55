"""The model of gpu/common/cost_model.hpp, and its least squares: microseconds from terms, relative errors.

t = c0 x0 + c1 x1 + (sum over i > 1 of (ci xi)^p)^(1/p), with ci > 0. The logarithms of the ci are fitted to
the logarithm of the time by Levenberg and Marquardt's method; p is the one of SHARPNESS that fits best.
"""

import math

TERMS, APART = 8, 2  # terms; of these, what nothing overlaps
SHARPNESS = (1.0, 1.5, 2.0, 4.0)
ROUNDS = 60
BELIEVED = 2  # how far beyond its cases a model is believed: kBelieved of cost_model.hpp
LOOSE, TIGHT = 1e-3, 0.02  # how much a cost is kept near its start: of the common model, of a candidate


def parts_of(costs, sharpness, terms):
    """Every term's share of the time, so that they add up to it, weighted by how the norm counts them."""
    alone = [c * x for c, x in zip(costs, terms)]
    powers = [a**sharpness if a > 0 else 0.0 for a in alone[APART:]]
    total = sum(powers)
    if total <= 0:
        return alone[:APART] + [0.0] * (TERMS - APART)
    norm = total ** (1 / sharpness)
    return alone[:APART] + [norm * p / total for p in powers]


def predict(model, terms):
    return sum(parts_of(model[1], model[0], terms))  # model: (sharpness, costs, ...)


def beyond(most, terms):
    """How far terms lie beyond those that a model was fitted to: 1 or less within."""
    return max(x / m if m > 0 else math.inf for x, m in zip(terms, most) if x > 0)


def doubt(far, nearest):
    """What a model's time is multiplied by so far beyond its cases, and beyond the nearest candidate's."""
    limit = BELIEVED * max(1, nearest)
    return (far / limit) ** 2 if far > limit else 1


def start(cases):
    """Half of what a cost can be at most: no case takes less time than one of its terms."""
    costs = []
    for i in range(TERMS):
        most = min((t / x[i] for x, t, _ in cases if x[i] > 0), default=0.0)
        costs.append(most / 2)
    return costs


def solve(a, b):
    """Gauss with pivots, for a small symmetric system."""
    n = len(b)
    m = [row[:] + [b[i]] for i, row in enumerate(a)]
    for i in range(n):
        p = max(range(i, n), key=lambda r: abs(m[r][i]))
        m[i], m[p] = m[p], m[i]
        for r in range(i + 1, n):
            f = m[r][i] / m[i][i]
            for k in range(i, n + 1):
                m[r][k] -= f * m[i][k]
    x = [0.0] * n
    for i in reversed(range(n)):
        x[i] = (m[i][n] - sum(m[i][k] * x[k] for k in range(i + 1, n))) / m[i][i]
    return x


def error_of(cases, costs, sharpness, first, ridge):
    used = [i for i, c in enumerate(first) if c > 0]
    e = sum(w * math.log(sum(parts_of(costs, sharpness, x)) / t) ** 2 for x, t, w in cases)
    return e + ridge * sum(math.log(costs[i] / first[i]) ** 2 for i in used)


def fit_sharp(cases, sharpness, first, ridge):
    used = [i for i in range(TERMS) if first[i] > 0]
    costs, damping = first[:], 1e-2
    best = error_of(cases, costs, sharpness, first, ridge)
    for _ in range(ROUNDS):
        n = len(used)
        a = [[0.0] * n for _ in range(n)]
        b = [-ridge * math.log(costs[i] / first[i]) for i in used]
        for k in range(n):
            a[k][k] = ridge
        for x, t, w in cases:
            shares = parts_of(costs, sharpness, x)
            total = sum(shares)
            residual = math.log(total / t)
            slope = [shares[i] / total for i in used]
            for k in range(n):
                if slope[k] == 0:
                    continue
                b[k] -= w * slope[k] * residual
                for q in range(n):
                    a[k][q] += w * slope[k] * slope[q]
        damped = [[v * (1 + damping) if k == q else v for q, v in enumerate(row)] for k, row in enumerate(a)]
        step = solve(damped, b)
        tried = costs[:]
        for k, i in enumerate(used):
            tried[i] *= math.exp(max(-2.0, min(2.0, step[k])))
        error = error_of(cases, tried, sharpness, first, ridge)
        if error < best:
            done = best - error < 1e-9 * best
            costs, best, damping = tried, error, damping / 3
            if done:
                break
        elif damping > 1e6:
            break
        else:
            damping *= 4
    return best, (sharpness, costs)


def fit_together(cases):
    """(sharpness, costs) of one model for all candidates: what a chip's costs are before they differ."""
    return min((fit_sharp(cases, p, start(cases), LOOSE) for p in SHARPNESS), key=lambda r: r[0])[1]


def fit(cases, common):
    """(sharpness, costs) of one candidate's cases (terms, microseconds, weight).

    They stay near the common ones where the cases say little.
    """
    return min((fit_sharp(cases, p, common[1], TIGHT) for p in SHARPNESS), key=lambda r: r[0])[1]
