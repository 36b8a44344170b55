"""Gluon kernels of the corpus: what their author orders by hand, right and with one order left out. Needs triton and numpy, no GPU."""

import numpy as np
from corpus import Unset, drawn
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)
from triton_kernels import Case


@gluon.jit
def turned(x, o, R: gl.constexpr, C: gl.constexpr):
    by_rows: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    by_columns: gl.constexpr = gl.BlockedLayout([4, 1], [8, 4], [1, 4], [0, 1])
    r, c = gl.arange(0, R, gl.SliceLayout(1, by_rows)), gl.arange(0, C, gl.SliceLayout(0, by_rows))
    v = gl.convert_layout(gl.load(x + r[:, None] * C + c[None, :]), by_columns)
    r, c = gl.arange(0, R, gl.SliceLayout(1, by_columns)), gl.arange(0, C, gl.SliceLayout(0, by_columns))
    gl.store(o + c[None, :] * R + r[:, None], v)


@gluon.jit
def row_norms(x, o, C: gl.constexpr):
    flat: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    row, c = gl.program_id(0), gl.arange(0, C, flat)
    v = gl.load(x + row * C + c)
    gl.store(o + row * C + c, v / gl.sqrt(gl.sum(v * v, 0)))


@gluon.jit
def shared_rows(x, o, C: gl.constexpr):
    flat: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    wide: gl.constexpr = gl.BlockedLayout([4], [32], [4], [0])
    plain: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    memory = gl.allocate_shared_memory(gl.float32, [C], plain)
    memory.store(gl.load(x + gl.arange(0, C, flat)))
    gl.store(o + gl.arange(0, C, wide), memory.load(wide) * 2)


@gluon.jit
def copied_ahead(x, o, N: gl.constexpr, C: gl.constexpr, LEFT: gl.constexpr):
    flat: gl.constexpr = gl.BlockedLayout([4], [32], [4], [0])
    other: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    plain: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    rows = gl.allocate_shared_memory(gl.float32, [2, C], plain)
    c = gl.arange(0, C, flat)
    async_copy.async_load(rows.index(0), x + c)
    async_copy.commit_group()
    for k in gl.static_range(N):
        if k + 1 < N:
            async_copy.async_load(rows.index((k + 1) % 2), x + (k + 1) * C + c)
        async_copy.commit_group()
        async_copy.wait_group(LEFT)
        gl.barrier()
        v = rows.index(k % 2).load(other)
        if k + 2 < N:
            gl.barrier()
        gl.store(o + k * C + gl.arange(0, C, other), v + 1)


@gluon.jit
def product(a, b, c, S: gl.constexpr):
    blocked: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    sums: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
    tile: gl.constexpr = gl.NVMMASharedLayout(128, 16, 2)
    r, k = gl.arange(0, S, gl.SliceLayout(1, blocked)), gl.arange(0, S, gl.SliceLayout(0, blocked))
    at = r[:, None] * S + k[None, :]
    sa = gl.allocate_shared_memory(gl.float16, [S, S], tile, gl.load(a + at))
    sb = gl.allocate_shared_memory(gl.float16, [S, S], tile, gl.load(b + at))
    acc = warpgroup_mma(sa, sb, gl.zeros([S, S], gl.float32, sums), is_async=True)
    acc = warpgroup_mma_wait(0, deps=[acc])
    r, k = gl.arange(0, S, gl.SliceLayout(1, sums)), gl.arange(0, S, gl.SliceLayout(0, sums))
    gl.store(c + r[:, None] * S + k[None, :], acc)


# Rows of C numbers come by TMA, two under way, and leave by TMA from a stage of their own.
@gluon.jit
def tiles_by_tma(x, o, N: gl.constexpr, C: gl.constexpr):
    flat: gl.constexpr = gl.BlockedLayout([1, 1], [1, 32], [1, 4], [1, 0])
    tile: gl.constexpr = gl.NVMMASharedLayout.get_default_for([1, C], gl.float32)
    source = tma.make_tensor_descriptor(x, [N, C], [C, 1], [1, C], tile)
    target = tma.make_tensor_descriptor(o, [N, C], [C, 1], [1, C], tile)
    stages = gl.allocate_shared_memory(gl.float32, [2, 1, C], tile)
    out = gl.allocate_shared_memory(gl.float32, [1, C], tile)
    full = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    for k in gl.static_range(2):
        mbarrier.init(full.index(k), 1)
    for k in gl.static_range(2):
        mbarrier.expect(full.index(k), 4 * C)
        tma.async_load(source, [k, 0], full.index(k), stages.index(k))
    for k in range(N):
        mbarrier.wait(full.index(k % 2), k // 2 & 1)
        v = stages.index(k % 2).load(flat) + 1
        tma.store_wait(0)
        out.store(v)
        fence_async_shared()
        gl.barrier()
        tma.async_store(target, [k, 0], out)
        if k + 2 < N:
            mbarrier.expect(full.index(k % 2), 4 * C)
            tma.async_load(source, [k + 2, 0], full.index(k % 2), stages.index(k % 2))
    tma.store_wait(0)
    for k in gl.static_range(2):
        mbarrier.invalidate(full.index(k))


@gluon.jit
def brought(source, stages, full, empty, N: gl.constexpr, C: gl.constexpr):
    for k in range(N):
        mbarrier.wait(empty.index(k % 2), (k // 2 & 1) ^ 1)
        mbarrier.expect(full.index(k % 2), 4 * C)
        tma.async_load(source, [k, 0], full.index(k % 2), stages.index(k % 2))


@gluon.jit
def used(o, stages, full, empty, N: gl.constexpr, C: gl.constexpr):
    flat: gl.constexpr = gl.BlockedLayout([1, 1], [1, 32], [1, 4], [1, 0])
    c = gl.arange(0, C, gl.SliceLayout(0, flat))
    for k in range(N):
        mbarrier.wait(full.index(k % 2), k // 2 & 1)
        v = stages.index(k % 2).load(flat)
        mbarrier.arrive(empty.index(k % 2), count=1)
        gl.store(o + k * C + c[None, :], v + 1)


# A warp brings the tiles, and four others use them.
@gluon.jit
def apart(x, o, N: gl.constexpr, C: gl.constexpr):
    tile: gl.constexpr = gl.NVMMASharedLayout.get_default_for([1, C], gl.float32)
    source = tma.make_tensor_descriptor(x, [N, C], [C, 1], [1, C], tile)
    stages = gl.allocate_shared_memory(gl.float32, [2, 1, C], tile)
    full = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    for k in gl.static_range(2):
        mbarrier.init(full.index(k), 1)
        mbarrier.init(empty.index(k), 1)
    gl.warp_specialize([(used, (o, stages, full, empty, N, C)), (brought, (source, stages, full, empty, N, C))], [1], [40])


# What TMA has stored is read again, behind a wait that is not for its reads alone.
@gluon.jit
def stored_and_read(x, o, again, C: gl.constexpr, READ_ONLY: gl.constexpr):
    flat: gl.constexpr = gl.BlockedLayout([1, 1], [1, 32], [1, 4], [1, 0])
    tile: gl.constexpr = gl.NVMMASharedLayout.get_default_for([1, C], gl.float32)
    target = tma.make_tensor_descriptor(o, [1, C], [C, 1], [1, C], tile)
    stage = gl.allocate_shared_memory(gl.float32, [1, C], tile)
    c = gl.arange(0, C, gl.SliceLayout(0, flat))
    stage.store(gl.load(x + c[None, :]))
    fence_async_shared()
    gl.barrier()
    tma.async_store(target, [0, 0], stage)
    tma.store_wait(0, read_only=READ_ONLY)
    gl.barrier()
    gl.store(again + c[None, :], gl.load(o + (C - 1 - c[None, :])))


def cases():
    x = drawn(60, 32, 64)
    yield Case(turned, (1,), {"x": x, "o": Unset((64, 32))}, {"o": x.T}, {"R": 32, "C": 64})
    yield Case(row_norms, (4,), {"x": x.reshape(4, 512), "o": Unset((4, 512))},
               {"o": x.reshape(4, 512) / np.linalg.norm(x.reshape(4, 512), axis=1, keepdims=True)}, {"C": 512})
    yield Case(shared_rows, (1,), {"x": x[:8].ravel(), "o": Unset(512)}, {"o": 2 * x[:8].ravel()}, {"C": 512})
    rows = x.reshape(4, 512)
    yield Case(copied_ahead, (1,), {"x": rows, "o": Unset((4, 512))}, {"o": rows + 1}, {"N": 4, "C": 512, "LEFT": 1})
    yield Case(copied_ahead, (1,), {"x": rows, "o": Unset((4, 512))}, {}, {"N": 4, "C": 512, "LEFT": 2}, finding="asynchronous copy not waited for",
               told=(".load(other)", "async_copy"))
    a, b = drawn(61, 64, 64, kind=np.float16), drawn(62, 64, 64, kind=np.float16)
    yield Case(product, (1,), {"a": a, "b": b, "c": Unset((64, 64))}, {"c": a.astype(np.float32) @ b.astype(np.float32)}, {"S": 64}, 1e-2, chips=(90,))
    yield Case(tiles_by_tma, (1,), {"x": x[:8], "o": Unset((8, 64))}, {"o": x[:8] + 1}, {"N": 8, "C": 64}, chips=(90,))
    yield Case(apart, (1,), {"x": x[:8], "o": Unset((8, 64))}, {"o": x[:8] + 1}, {"N": 8, "C": 64}, chips=(90,))
    for read_only in (False, True):
        wrong = {"finding": "race", "told": ("gl.load(o", "async_store")} if read_only else {}
        yield Case(stored_and_read, (1,), {"x": x[:1].copy(), "o": Unset(64), "again": Unset(64)}, {} if wrong else {"again": x[0, ::-1]},
                   {"C": 64, "READ_ONLY": read_only}, chips=(90,), **wrong)
