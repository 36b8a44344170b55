"""Functions of JAX on a GPU, right and wrong. Inputs cannot be changed, and nothing is written beyond an output: results are copied."""

import jax
import jax.numpy as jnp
import plumbline as pl

kept = {}


def declare(op="transpose", **more):
    return pl.variant(op, device="cuda", arrays="jax", **more)


@declare()
def right(A):
    return A.T


transposed = jax.jit(jnp.transpose)


@declare(storage=("f32", "f16", "bf16"))
def right_compiled(A):
    return transposed(A)


@declare("gemm", storage="bf16")
def right_bf16(A, B):
    return jnp.dot(A.astype(jnp.float32), B.astype(jnp.float32), precision="highest").astype(jnp.bfloat16)


@declare("gemm", storage="e4m3_bf16")
def right_fp8(A, B):
    return jnp.dot(A.astype(jnp.float32), B.astype(jnp.float32), precision="highest").astype(jnp.bfloat16)


@declare()
def wrong_element(A):
    return A.T.at[-1, -1].add(1) if A.size else A.T


@declare()
def wrong_type(A):
    return A.T.astype(jnp.float16)


@declare()
def wrong_answer_by_shape(A):
    if A.shape not in kept:
        kept[A.shape] = A.T
    return kept[A.shape]
