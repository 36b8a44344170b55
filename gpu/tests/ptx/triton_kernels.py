"""Triton kernels of the corpus, each with inputs and what it must yield. Needs triton and numpy, no GPU."""

import math

import numpy as np
import triton
import triton.language as tl
from corpus import Unset, drawn


class Case:
    """A kernel, its constants, the grid, arrays and numbers by parameter, what arrays hold afterwards, and the finding that there must be: its
    kind, and what stands in the lines that tell it."""

    def __init__(self, kernel, grid, arguments, expected, constants=None, tolerance=1e-5, finding=None, told=(), chips=(80, 90), **options):
        self.chips, self.told = chips, told
        self.kernel, self.grid, self.arguments, self.expected = kernel, grid, arguments, expected
        self.constants, self.tolerance, self.finding, self.options = constants or {}, tolerance, finding, options
        self.name = kernel.__name__ + "".join(f"_{k}{v}" for k, v in options.items())


@triton.jit
def add(x, y, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def activations(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    gelu = 0.5 * v * (1 + tl.erf(v * 0.70710678118))
    silu = v / (1 + tl.exp(-v))
    tl.store(o + i, gelu + silu + tl.sqrt(tl.abs(v)) + tl.cos(v) - tl.sin(v) + tl.log2(v * v + 1), mask=i < n)


@triton.jit
def halves(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(o + i, (v * v + v).to(tl.bfloat16).to(tl.float32).to(tl.float16), mask=i < n)


@triton.jit
def integers(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    w = (v // 7) * 3 + v % 5 + (v << 2) - (v >> 1) + (v ^ 21) + tl.maximum(v, 3) + tl.umulhi(v.to(tl.uint32), 3000000000).to(tl.int32)
    tl.store(o + i, tl.where(v > 50, w, -w), mask=i < n)


@triton.jit
def total(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o, tl.sum(tl.load(x + i, mask=i < n, other=0.0), 0))


@triton.jit
def softmax(x, o, n, stride, B: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + row * stride + c, mask=c < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(o + row * stride + c, e / tl.sum(e, 0), mask=c < n)


@triton.jit
def layernorm(x, w, b, o, n, B: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + row * n + c, mask=c < n, other=0.0)
    mean = tl.sum(v, 0) / n
    d = tl.where(c < n, v - mean, 0.0)
    scale = tl.rsqrt(tl.sum(d * d, 0) / n + 1e-5)
    tl.store(o + row * n + c, d * scale * tl.load(w + c, mask=c < n) + tl.load(b + c, mask=c < n), mask=c < n)


@triton.jit
def rmsnorm(x, o, n, B: tl.constexpr):
    row, acc = tl.program_id(0), tl.zeros((B,), tl.float32)
    for start in range(0, n, B):
        c = start + tl.arange(0, B)
        v = tl.load(x + row * n + c, mask=c < n, other=0.0)
        acc += v * v
    scale = tl.rsqrt(tl.sum(acc, 0) / n + 1e-6)
    for start in range(0, n, B):
        c = start + tl.arange(0, B)
        tl.store(o + row * n + c, tl.load(x + row * n + c, mask=c < n) * scale, mask=c < n)


@triton.jit
def argmax_rows(x, o, n, B: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, B)
    tl.store(o + row, tl.argmax(tl.load(x + row * n + c, mask=c < n, other=-1e9), 0))


@triton.jit
def cross_entropy(x, label, o, n, B: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + row * n + c, mask=c < n, other=-float("inf"))
    m = tl.max(v, 0)
    tl.store(o + row, tl.log(tl.sum(tl.exp(v - m), 0)) + m - tl.load(x + row * n + tl.load(label + row)))


@triton.jit
def transpose(x, o, R: tl.constexpr, C: tl.constexpr):
    r, c = tl.arange(0, R), tl.arange(0, C)
    v = tl.load(x + r[:, None] * C + c[None, :])
    tl.store(o + c[:, None] * R + r[None, :], tl.trans(v))


@triton.jit
def matmul(a, b, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm, rn, rk = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(tl.load(a + rm[:, None] * K + (k + rk)[None, :]), tl.load(b + (k + rk)[:, None] * N + rn[None, :]), acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc)


@triton.jit
def matmul_by_descriptors(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, APART: tl.constexpr):
    of_a, of_b = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK]), tl.make_tensor_descriptor(b, [K, N], [N, 1], [BK, BN])
    of_c = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in tl.range(0, K, BK, warp_specialize=APART):
        acc = tl.dot(of_a.load([m, k]), of_b.load([k, n]), acc)
    of_c.store([m, n], acc.to(tl.float16))


@triton.jit
def matmul_bf16(a, b, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm, rn, rk = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rm[:, None] * K + (k + rk)[None, :]).to(tl.bfloat16)
        acc = tl.dot(x, tl.load(b + (k + rk)[:, None] * N + rn[None, :]).to(tl.bfloat16), acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc)


@triton.jit
def matmul_int8(a, b, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm, rn, rk = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.int32)
    for k in range(0, K, BK):
        acc = tl.dot(tl.load(a + rm[:, None] * K + (k + rk)[None, :]), tl.load(b + (k + rk)[:, None] * N + rn[None, :]), acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc)


@triton.jit
def fp8_scale(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(o + i, (v * 4).to(tl.float8e5).to(tl.float32), mask=i < n)


@triton.jit
def batched_small(a, b, o, S: tl.constexpr):
    t, r = tl.program_id(0), tl.arange(0, S)
    x = tl.load(a + t * S * S + r[:, None] * S + r[None, :])
    y = tl.load(b + t * S * S + r[:, None] * S + r[None, :])
    tl.store(o + t * S * S + r[:, None] * S + r[None, :], tl.dot(x, y, input_precision="ieee"))


@triton.jit
def attention(q, k, v, o, n, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    rm, rd = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D)
    x = tl.load(q + rm[:, None] * D + rd[None, :])
    m, total_, acc = tl.full((BM,), -1e30, tl.float32), tl.zeros((BM,), tl.float32), tl.zeros((BM, D), tl.float32)
    for start in range(0, n, BN):
        rn = start + tl.arange(0, BN)
        s = tl.dot(x, tl.trans(tl.load(k + rn[:, None] * D + rd[None, :]))) * scale
        new = tl.maximum(m, tl.max(s, 1))
        p, fade = tl.exp(s - new[:, None]), tl.exp(m - new)
        total_ = total_ * fade + tl.sum(p, 1)
        acc = tl.dot(p.to(tl.float16), tl.load(v + rn[:, None] * D + rd[None, :]), acc * fade[:, None])
        m = new
    tl.store(o + rm[:, None] * D + rd[None, :], acc / total_[:, None])


@triton.jit
def csr_spmm(first, column, value, b, o, N, BN: tl.constexpr):
    row, rn = tl.program_id(0), tl.arange(0, BN)
    acc = tl.zeros((BN,), tl.float32)
    for j in range(tl.load(first + row), tl.load(first + row + 1)):
        acc += tl.load(value + j) * tl.load(b + tl.load(column + j) * N + rn, mask=rn < N, other=0.0)
    tl.store(o + row * N + rn, acc, mask=rn < N)


@triton.jit
def sddmm(row, column, a, b, o, K: tl.constexpr):
    e, rk = tl.program_id(0), tl.arange(0, K)
    x, y = tl.load(a + tl.load(row + e) * K + rk), tl.load(b + tl.load(column + e) * K + rk)
    tl.store(o + e, tl.sum(x * y, 0))


@triton.jit
def histogram(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(o + tl.load(x + i, mask=i < n, other=0), 1, mask=i < n)


@triton.jit
def histogram_of_block(x, o, B: tl.constexpr, BINS: tl.constexpr):
    tl.store(o + tl.arange(0, BINS), tl.histogram(tl.load(x + tl.arange(0, B)), BINS))


@triton.jit
def sort_rows(x, o, B: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, B)
    tl.store(o + row * B + c, tl.sort(tl.load(x + row * B + c)))


@triton.jit
def prefix_sums(x, o, B: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, B)
    tl.store(o + row * B + c, tl.cumsum(tl.load(x + row * B + c), 0))


@triton.jit
def first_order(a, b):
    return a * 2 + b


@triton.jit
def running_maximum(x, o, B: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, B)
    tl.store(o + row * B + c, tl.associative_scan(tl.load(x + row * B + c), 0, maximum))


@triton.jit
def maximum(a, b):
    return tl.maximum(a, b)


@triton.jit
def split_k_locked(a, b, c, lock, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm, rn = tl.arange(0, BM), tl.arange(0, BN)
    rk = tl.program_id(0) * BK + tl.arange(0, BK)
    part = tl.dot(tl.load(a + rm[:, None] * K + rk[None, :]), tl.load(b + rk[:, None] * N + rn[None, :]))
    at = c + rm[:, None] * N + rn[None, :]
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.debug_barrier()
    tl.store(at, tl.load(at) + part)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def split_k_atomic(a, b, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm, rn = tl.arange(0, BM), tl.arange(0, BN)
    rk = tl.program_id(0) * BK + tl.arange(0, BK)
    part = tl.dot(tl.load(a + rm[:, None] * K + rk[None, :]), tl.load(b + rk[:, None] * N + rn[None, :]))
    tl.atomic_add(c + rm[:, None] * N + rn[None, :], part, sem="relaxed")


@triton.jit
def atomics(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    tl.atomic_max(o, tl.max(v, 0), sem="acq_rel")
    tl.atomic_min(o + 1, tl.min(v, 0), sem="release")
    tl.atomic_or(o + 2, 1 << tl.program_id(0), sem="acquire")
    tl.atomic_xor(o + 3, 5)
    tl.atomic_and(o + 4, ~(1 << tl.program_id(0)))


@triton.jit
def gather_rows(x, index, o, C: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, C)
    tl.store(o + row * C + c, tl.load(x + tl.load(index + row) * C + c))


@triton.jit
def rope(x, cosine, sine, o, H: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, H)
    a, b = tl.load(x + row * 2 * H + c), tl.load(x + row * 2 * H + H + c)
    co, si = tl.load(cosine + row * H + c), tl.load(sine + row * H + c)
    tl.store(o + row * 2 * H + c, a * co - b * si)
    tl.store(o + row * 2 * H + H + c, b * co + a * si)


@triton.jit
def dropout(x, o, n, seed, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    keep = tl.rand(seed, i) > 0.5
    tl.store(o + i, tl.where(keep, tl.load(x + i, mask=i < n, other=0.0) * 2, 0.0), mask=i < n)


@triton.jit
def conv1d(x, w, o, n, TAPS: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    acc = tl.zeros((B,), tl.float32)
    for t in tl.static_range(TAPS):
        acc += tl.load(x + i + t, mask=i + t < n, other=0.0) * tl.load(w + t)
    tl.store(o + i, acc, mask=i < n)


def sparse():
    r = np.random.RandomState(5)
    dense = np.where(r.uniform(size=(24, 32)) < 0.2, r.uniform(-1, 1, (24, 32)), 0).astype(np.float32)
    first = np.concatenate([[0], np.cumsum((dense != 0).sum(1))]).astype(np.int32)
    row, column = np.nonzero(dense)
    return dense, first, row.astype(np.int32), column.astype(np.int32), dense[dense != 0]


def softmax_of(x):
    e = np.exp(x.astype(np.float64) - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def gelu_and_more(x):
    erf = np.vectorize(math.erf)
    y = x.astype(np.float64)
    return (0.5 * y * (1 + erf(y * 0.70710678118)) + y / (1 + np.exp(-y)) + np.sqrt(np.abs(y)) + np.cos(y) - np.sin(y)
            + np.log2(y * y + 1))


def integers_of(x):
    v = x.astype(np.int64)
    quotient = np.trunc(v / 7).astype(np.int64)
    w = quotient * 3 + np.fmod(v, 5) + (v << 2) - (v >> 1) + (v ^ 21) + np.maximum(v, 3) + ((v % 2**32) * 3000000000 >> 32).astype(np.uint32).astype(np.int32)
    return np.where(v > 50, w, -w).astype(np.int32)


def elementwise_cases():
    x, y = drawn(0, 1000), drawn(1, 1000)
    whole = np.random.RandomState(3).randint(-100, 100, 500).astype(np.int32)
    half = x.astype(np.float16)
    yield Case(add, (4,), {"x": x, "y": y, "o": Unset(1000), "n": 1000}, {"o": x + y}, {"B": 256})
    yield Case(activations, (2,), {"x": x, "o": Unset(1000), "n": 1000}, {"o": gelu_and_more(x)}, {"B": 512}, 2e-4)
    yield Case(halves, (2,), {"x": half, "o": Unset(1000, np.float16), "n": 1000},
               {"o": half.astype(np.float32) ** 2 + half}, {"B": 512}, 1e-2)
    yield Case(integers, (1,), {"x": whole, "o": Unset(500, np.int32), "n": 500}, {"o": integers_of(whole)}, {"B": 512})
    yield Case(conv1d, (4,), {"x": x, "w": y[:5], "o": Unset(1000), "n": 1000, },
               {"o": np.convolve(np.concatenate([x, np.zeros(4, np.float32)]), y[:5][::-1], "valid")}, {"TAPS": 5, "B": 256})
    yield Case(fp8_scale, (2,), {"x": x, "o": Unset(1000), "n": 1000}, {"o": x * 4}, {"B": 512}, 0.6)
    yield Case(dropout, (2,), {"x": np.ones(1000, np.float32), "o": Unset(1000), "n": 1000, "seed": 7}, {}, {"B": 512})
    table = drawn(4, 20, 64)
    index = np.random.RandomState(9).randint(0, 20, 12).astype(np.int32)
    yield Case(gather_rows, (12,), {"x": table, "index": index, "o": Unset((12, 64))}, {"o": table[index]}, {"C": 64})
    co, si, z = drawn(5, 8, 32), drawn(6, 8, 32), drawn(7, 8, 64)
    turned = np.concatenate([z[:, :32] * co - z[:, 32:] * si, z[:, 32:] * co + z[:, :32] * si], 1)
    yield Case(rope, (8,), {"x": z, "cosine": co, "sine": si, "o": Unset((8, 64))}, {"o": turned}, {"H": 32})
    yield Case(transpose, (1,), {"x": z, "o": Unset((64, 8))}, {"o": z.T}, {"R": 8, "C": 64})
    yield Case(transpose, (1,), {"x": drawn(8, 64, 32), "o": Unset((32, 64))}, {"o": drawn(8, 64, 32).T}, {"R": 64, "C": 32}, num_warps=8)


def row_cases():
    x, w, b = drawn(10, 6, 300), drawn(11, 300), drawn(12, 300)
    label = np.arange(6, dtype=np.int32) * 7
    norm = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)
    yield Case(total, (1,), {"x": x, "o": Unset(1), "n": 1800}, {"o": x.sum(dtype=np.float64)}, {"B": 2048}, 1e-4)
    yield Case(softmax, (6,), {"x": x, "o": Unset((6, 300)), "n": 300, "stride": 300}, {"o": softmax_of(x)}, {"B": 512})
    yield Case(layernorm, (6,), {"x": x, "w": w, "b": b, "o": Unset((6, 300)), "n": 300}, {"o": norm * w + b}, {"B": 512}, 1e-4)
    yield Case(rmsnorm, (6,), {"x": x, "o": Unset((6, 300)), "n": 300},
               {"o": x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-6)}, {"B": 128}, 1e-4)
    yield Case(argmax_rows, (6,), {"x": x, "o": Unset(6, np.int32), "n": 300}, {"o": x.argmax(1)}, {"B": 512})
    loss = -np.log(softmax_of(x)[np.arange(6), label])
    yield Case(cross_entropy, (6,), {"x": x, "label": label, "o": Unset(6), "n": 300}, {"o": loss}, {"B": 512}, 1e-4)
    y, bins = drawn(13, 3, 256), np.random.RandomState(2).randint(0, 32, 512).astype(np.int32)
    yield Case(sort_rows, (3,), {"x": y, "o": Unset((3, 256))}, {"o": np.sort(y, 1)}, {"B": 256})
    yield Case(prefix_sums, (3,), {"x": y, "o": Unset((3, 256))}, {"o": np.cumsum(y, 1)}, {"B": 256}, 1e-4)
    yield Case(running_maximum, (3,), {"x": y, "o": Unset((3, 256))}, {"o": np.maximum.accumulate(y, 1)}, {"B": 256})
    counts = np.bincount(bins, minlength=32).astype(np.int32)
    yield Case(histogram, (2,), {"x": bins, "o": np.zeros(32, np.int32), "n": 512}, {"o": counts}, {"B": 256})
    yield Case(histogram_of_block, (1,), {"x": bins, "o": Unset(32, np.int32)}, {"o": counts}, {"B": 512, "BINS": 32})
    start = np.array([-1000, 1000, 0, 0, 15], np.int32)
    left = np.array([bins[:500].max(), 0, 3, 0, 12], np.int32)
    yield Case(atomics, (2,), {"x": bins, "o": start, "n": 512}, {"o": left}, {"B": 256})


def product_cases():
    a, b = drawn(20, 64, 64, kind=np.float16), drawn(21, 64, 64, kind=np.float16)
    product = a.astype(np.float32) @ b.astype(np.float32)
    blocks = {"BM": 32, "BN": 32, "BK": 16}
    for stages in (1, 2, 3, 5):
        yield Case(matmul, (2, 2), {"a": a, "b": b, "c": Unset((64, 64)), "N": 64, "K": 64}, {"c": product}, blocks, 1e-3,
                   num_stages=stages)
    yield Case(matmul, (1, 1), {"a": a, "b": b, "c": Unset((64, 64)), "N": 64, "K": 64}, {"c": product},
               {"BM": 64, "BN": 64, "BK": 32}, 1e-3, num_stages=2, num_warps=4)
    p, q = drawn(26, 64, 192, kind=np.float16), drawn(27, 192, 64, kind=np.float16)
    for apart in (False, True):  # TMA by maps that the kernel makes; with True, warps that load and warps that multiply, and stages that are filled again
        yield Case(matmul_by_descriptors, (1, 1), {"a": p, "b": q, "c": Unset((64, 64), np.float16), "M": 64, "N": 64, "K": 192},
                   {"c": p.astype(np.float32) @ q.astype(np.float32)},
                   {"BM": 64, "BN": 64, "BK": 32, "APART": apart}, 2e-2, chips=(90,), num_stages=2 + apart)
    x, y = drawn(22, 32, 64), drawn(23, 64, 32)
    yield Case(matmul, (1, 1), {"a": x, "b": y, "c": Unset((32, 32)), "N": 32, "K": 64}, {"c": x @ y}, blocks, 1e-2, num_stages=2, num_warps=2)
    yield Case(matmul_bf16, (1, 1), {"a": x, "b": y, "c": Unset((32, 32)), "N": 32, "K": 64}, {"c": x @ y}, blocks, 5e-2)
    i, j = (np.random.RandomState(k).randint(-20, 20, (64, 64)).astype(np.int8) for k in (1, 2))
    yield Case(matmul_int8, (1, 1), {"a": i, "b": j, "c": Unset((64, 64), np.int32), "N": 64, "K": 64},
               {"c": i.astype(np.int32) @ j.astype(np.int32)}, {"BM": 64, "BN": 64, "BK": 32})
    s, t = drawn(24, 3, 16, 16), drawn(25, 3, 16, 16)
    yield Case(batched_small, (3,), {"a": s, "b": t, "o": Unset((3, 16, 16))}, {"o": s @ t}, {"S": 16}, 1e-4)
    q, k, v = (drawn(30 + n, 64, 32, kind=np.float16) for n in range(3))
    seen = softmax_of(q.astype(np.float32) @ k.astype(np.float32).T * 0.25) @ v.astype(np.float32)
    yield Case(attention, (2,), {"q": q, "k": k, "v": v, "o": Unset((64, 32)), "n": 64, "scale": 0.25}, {"o": seen},
               {"BM": 32, "BN": 32, "D": 32}, 3e-3)
    wide = drawn(40, 16, 64, kind=np.float16), drawn(41, 64, 16, kind=np.float16)
    summed = wide[0].astype(np.float32) @ wide[1].astype(np.float32)
    zero = np.zeros((16, 16), np.float32)
    small = {"BM": 16, "BN": 16, "BK": 16}
    yield Case(split_k_atomic, (4,), {"a": wide[0], "b": wide[1], "c": zero.copy(), "N": 16, "K": 64}, {"c": summed}, small, 1e-3)
    yield Case(split_k_locked, (4,), {"a": wide[0], "b": wide[1], "c": zero.copy(), "lock": np.zeros(1, np.int32), "N": 16, "K": 64},
               {"c": summed}, small, 1e-3)


def sparse_cases():
    dense, first, row, column, value = sparse()
    b, k = drawn(50, 32, 40), drawn(51, 24, 64)
    yield Case(csr_spmm, (24,), {"first": first, "column": column, "value": value, "b": b, "o": Unset((24, 40)), "N": 40},
               {"o": dense @ b}, {"BN": 64}, 1e-4)
    j = drawn(52, 32, 64)
    edges = {"row": row, "column": column, "a": k, "b": j, "o": Unset(len(row))}
    sums = {"o": (k[row] * j[column]).sum(1)}
    yield Case(sddmm, (len(row),), edges, sums, {"K": 64}, 1e-4, enable_fp_fusion=False)
    # With products fused into sums, the lanes of a warp round differently, and all of them store "the" sum of the warp at one place.
    yield Case(sddmm, (len(row),), edges, sums, {"K": 64}, 1e-4, finding="race", enable_fp_fusion=True)


def cases():
    for of in (elementwise_cases, row_cases, product_cases, sparse_cases):
        yield from of()
