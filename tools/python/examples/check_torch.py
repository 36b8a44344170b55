"""check(): tensors that you have computed, in place of assert_close. The bound is derived, and there is no tolerance to choose."""

import plumbline as pl
import torch

if __name__ == "__main__":
    torch.manual_seed(1)
    a, b = torch.randn(70, 300), torch.randn(300, 50)
    print(pl.check(a @ b, "gemm", a, b))

    half, other = a.to(torch.bfloat16), b.to(torch.bfloat16)
    print(pl.check((half.float() @ other.float()).to(torch.bfloat16), "gemm", half, other))

    # sums kept in bf16: every element looks right to two digits
    total = torch.zeros(70, 50, dtype=torch.bfloat16)
    for k in range(300):
        total += half[:, k : k + 1] * other[k : k + 1]
    wrong = pl.check(total, "gemm", half, other, raises=False)
    print(wrong)
    assert not wrong.passed
    # as a kernel may that says so
    print(pl.check(total, "gemm", half, other, accumulate="bf16"))
