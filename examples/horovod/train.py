"""Fit a line with Horovod: each rank has its own points, and Horovod averages the gradients."""

from __future__ import annotations

import argparse
import os

import horovod.torch as hvd
import torch


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=50)
    steps = parser.parse_args().steps
    hvd.init()
    task = os.environ.get("FOOTPLATE_TASK", "no task")
    # With its line end in one write: ranks write to one output.
    print(f"rank {hvd.rank()} of {hvd.size()} in {task}\n", end="", flush=True)
    torch.manual_seed(hvd.rank())
    line = torch.nn.Linear(1, 1)
    hvd.broadcast_parameters(line.state_dict(), root_rank=0)
    optimizer = hvd.DistributedOptimizer(
        torch.optim.SGD(line.parameters(), lr=0.3), named_parameters=line.named_parameters()
    )
    for _ in range(steps):
        x = torch.rand(64, 1) * 2 - 1
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(line(x), 3 * x - 1).backward()
        optimizer.step()
    if hvd.rank() == 0:
        print(f"y = {line.weight.item():.2f} x + {line.bias.item():.2f}", flush=True)


if __name__ == "__main__":
    main()
