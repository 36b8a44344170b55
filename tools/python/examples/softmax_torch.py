"""log_softmax by PyTorch on the CPU: arrays reach the function as tensors."""

import plumbline as pl
import torch


@pl.variant("log_softmax", arrays="torch")
def torch_log_softmax(x):
    return torch.log_softmax(x, dim=1)


@pl.variant("log_softmax", arrays="torch")
def exp_log_sum(x):
    """Wrong: exp() of a large number is inf."""
    return x - torch.log(torch.sum(torch.exp(x), dim=1, keepdim=True))


if __name__ == "__main__":
    print(pl.judge(torch_log_softmax, listed=True).raise_if_failed())
    print(pl.judge(exp_log_sum, listed=True))
