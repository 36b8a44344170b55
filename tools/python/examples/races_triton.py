"""Any launch of Triton's, on arrays or tensors of the CPU: what is wrong is told with its line. Two programs add to one place; an atomic add is right."""

import numpy as np
import plumbline as pl
import triton
import triton.language as tl


@triton.jit
def total(x, out, n, atomic: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    part = tl.sum(tl.load(x + i, mask=i < n, other=0.0))
    if atomic:
        tl.atomic_add(out, part)
    else:
        tl.store(out, tl.load(out) + part)


if __name__ == "__main__":
    x, out = np.ones(1000, np.float32), np.zeros(1, np.float32)  # or tensors of torch
    with pl.simt.session(on_finding="collect") as session:
        total[(4,)](x, out, 1000, True, BLOCK=256)
        print("atomic:", out[0], session.findings)
        total[(4,)](x, out, 1000, False, BLOCK=256)
    for finding in session.findings:
        print(finding)
    assert {f.kind for f in session.findings} == {"race"}
