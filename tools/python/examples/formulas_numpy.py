"""Operators that are formulas, by NumPy: judged like any other, and checked one array at a time. `print(pl.formulas)` lists them."""

import numpy as np
import plumbline as pl


def rmsnorm(x, w, eps):
    return x * w / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps)


def eps_outside(x, w, eps):
    """Wrong by one part in a million where rows are of usual size, and by all of it where they are small."""
    return x * w / (np.sqrt(np.mean(x * x, axis=-1, keepdims=True)) + eps)


if __name__ == "__main__":
    print(pl.formulas)
    print(pl.judge(pl.formulas.rmsnorm, rmsnorm, listed=True).raise_if_failed())
    print(pl.judge(pl.formulas.rmsnorm, eps_outside, listed=True, fail_fast=True))

    x = np.random.default_rng(1).standard_normal((2, 5, 64), np.float32)  # a batch of sequences: rows of 64
    w = np.ones(64, np.float32)
    print(pl.check(rmsnorm(x, w, np.float32(1e-6)), pl.formulas.rmsnorm, x, w, 1e-6))
    print(pl.check(eps_outside(x, w, np.float32(1e-6)), pl.formulas.rmsnorm, x, w, 1e-6, raises=False))
