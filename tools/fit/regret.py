"""What a choice by models costs on measured cases, and how strongly a fit is drawn to its prior for it.

A case is {candidate: (terms, microseconds)}.
"""

import math

from . import model

FOLDS = 5  # parts of the cases, each held out once
FOCUS = 2  # a time twice the best of its case counts a quarter
STRENGTHS = (0.01, 0.1, 1, None)  # of the ridge; None: the prior alone
ROUNDING = 1e-9  # of an error, and of a case: errors that differ less differ by the arithmetic of the machine
USES = (1, 10, 1000)  # of a plan, for which the regret is said where candidates prepare something


def best_of(times):
    return min(us for _, us in times.values())


def rows_of(cases, candidate):
    """(terms, microseconds, weight): a time counts less the further it is from the best of its case."""
    return [
        (*t[candidate], (best_of(t) / t[candidate][1]) ** FOCUS) for t in cases if candidate in t
    ]


def all_rows(cases, count):
    return [rows_of(cases, c) for c in range(count)]


def fitted(priors, cases, strength):
    return model.fit(priors, all_rows(cases, len(priors)), strength)


def believed(models, times):
    """{candidate: microseconds}: what the rung believes of the candidates that have a model."""
    return {c: float(model.predict(models[c], terms)) for c, (terms, _) in times.items() if models[c]}


def regret_of(models, times, before=None):
    """`before`: models and times of the preparation, and the uses that share it."""
    expected = believed(models, times)
    taken = {c: us for c, (_, us) in times.items()}
    if before:
        of_before, times_before, uses = before
        shares = believed(of_before, times_before)
        expected = {c: us + shares[c] / uses for c, us in expected.items() if c in shares}
        taken = {c: us + times_before[c][1] / uses for c, us in taken.items() if c in times_before}
    if not expected:
        return None
    return taken[min(expected, key=expected.get)] / min(taken.values()) - 1


def quantile(values, q):
    values = sorted(values)
    at = q * (len(values) - 1)
    low = int(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (at - low) * (values[high] - values[low])


def folds(count):
    """(numbers of the cases fitted to, numbers of those held out)."""
    for fold in range(FOLDS):
        yield [i for i in range(count) if i % FOLDS != fold], list(range(fold, count, FOLDS))


def taken(cases, numbers):
    return [cases[i] for i in numbers]


def error_of(models, cases):
    """The sum of the squared errors of the times' logarithms, weighted as they are fitted."""
    error = 0.0
    for c, of_one in enumerate(models):
        if of_one:
            for terms, us, weight in rows_of(cases, c):
                error += weight * math.log(float(model.predict(of_one, terms)) / us) ** 2
    return error


def strength_of(priors, cases):
    """The strength whose models err least in cases that they were not fitted to; of those whose errors differ
    by rounding alone, the strongest."""
    errors = dict.fromkeys(STRENGTHS, 0.0)
    for seen, held in folds(len(cases)):
        rows = all_rows(taken(cases, seen), len(priors))
        begun = model.begun(priors, rows)
        for strength in STRENGTHS:
            errors[strength] += error_of(model.drawn(begun, rows, strength), taken(cases, held))
    as_good = (1 + ROUNDING) * min(errors.values()) + ROUNDING * len(cases)
    return next(s for s in reversed(STRENGTHS) if errors[s] <= as_good)


def fit(priors, cases):
    """(models, strength)."""
    strength = strength_of(priors, cases)
    return fitted(priors, cases, strength), strength


def held_out(fitted_to, cases, whole, before=None, fitted_before=None):
    """{uses: regrets} of the whole cases, by models that `fitted_to` gives of the other folds; 0: many uses.

    Of a case that is not whole the best may be a candidate without a time: its regret would look too small.
    `before`: times of preparations, and `fitted_before` what gives models of these.
    """
    regrets = {uses: [] for uses in (0, *(USES if before else ()))}
    for seen, held in folds(len(cases)):
        models = fitted_to(taken(cases, seen))
        of_before = fitted_before(taken(before, seen)) if before else None
        for i in (i for i in held if whole[i]):
            for uses, found in regrets.items():
                found.append(regret_of(models, cases[i], (of_before, before[i], uses) if uses else None))
    return {uses: [r for r in found if r is not None] for uses, found in regrets.items()}


def said(regrets):
    if not regrets:
        return "none: no candidate has costs"
    return (
        f"median {100 * quantile(regrets, 0.5):.1f} %, "
        f"95th percentile {100 * quantile(regrets, 0.95):.1f} %, worst {100 * max(regrets):.1f} %"
    )


def all_said(regrets):
    """Of many uses, and of the few that have regrets."""
    few = [f"; of {uses} uses: {said(found)}" for uses, found in regrets.items() if uses and found]
    return said(regrets[0]) + "".join(few)


def said_always(cases, c):
    """What choosing candidate c always would cost, over its cases; infinite where these are few."""
    known = [t for t in cases if c in t]
    if 2 * len(known) < len(cases):
        return math.inf, c
    return math.exp(sum(math.log(t[c][1] / best_of(t)) for t in known) / len(known)) - 1, c
