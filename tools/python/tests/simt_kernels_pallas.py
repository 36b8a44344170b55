"""Kernels of JAX's Pallas, right and wrong: for the CPU executor by Triton, and interpreted by JAX itself."""

import functools

import jax
import jax.numpy as jnp
import plumbline as pl
from jax.experimental import pallas
from jax.experimental.pallas import triton


def row(x, y, *, width, block, other):
    inside = jnp.arange(block) < width
    v = triton.load(x.at[0, :], mask=inside, other=other)
    e = jnp.exp(v - jnp.max(v))
    triton.store(y.at[0, :], e / jnp.sum(e), mask=inside)


def row_and_more(x, y):
    v = x[0, :]
    e = jnp.exp(v - jnp.max(v))
    y[0, :] = e / jnp.sum(e)  # wrong_bounds


def rows(x, y):
    v = x[...]
    e = jnp.exp(v - jnp.max(v, axis=1, keepdims=True))
    y[...] = e / jnp.sum(e, axis=1, keepdims=True)


def by_rows(kernel, x):
    block = pallas.BlockSpec((1, pallas.next_power_of_2(x.shape[1])), lambda i: (i, 0))
    return pallas.pallas_call(
        kernel,
        grid=(x.shape[0],),
        in_specs=[block],
        out_specs=block,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        compiler_params=triton.CompilerParams(num_warps=1),
    )(x)


@functools.partial(jax.jit, static_argnames="other")
def softmax(x, other=-float("inf")):
    block = pallas.next_power_of_2(x.shape[1])
    return by_rows(functools.partial(row, width=x.shape[1], block=block, other=other), x)


def interpreted(x):
    return pallas.pallas_call(rows, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), interpret=True)(x)


def declare():
    return pl.variant("softmax", device="cuda", arrays="jax", arithmetic="flushed")  # as exp() of libdevice is compiled


@declare()
def right(x):
    return softmax(x) if x.size else x


@declare()
def wrong_mask(x):
    return softmax(x, 0.0) if x.size else x


@declare()
def wrong_bounds(x):
    return by_rows(row_and_more, x) if x.size else x
