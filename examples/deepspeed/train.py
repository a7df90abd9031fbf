"""Fit a line with DeepSpeed: each rank has its own points, and DeepSpeed averages the gradients."""

from __future__ import annotations

import argparse
import os

import deepspeed
import torch

CONFIG = {"train_micro_batch_size_per_gpu": 64, "zero_optimization": {"stage": 0}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=50)
    # DeepSpeed's launcher gives this to every rank.
    parser.add_argument("--local_rank", type=int, default=0)
    steps = parser.parse_args().steps
    deepspeed.init_distributed()
    rank, size = deepspeed.comm.get_rank(), deepspeed.comm.get_world_size()
    # With its line end in one write: ranks write to one output.
    print(f"rank {rank} of {size} in {os.environ.get('FOOTPLATE_TASK', 'no task')}\n", end="", flush=True)
    torch.manual_seed(rank)
    line = torch.nn.Linear(1, 1)
    engine, *_ = deepspeed.initialize(
        model=line, optimizer=torch.optim.SGD(line.parameters(), lr=0.3), config=CONFIG
    )
    for _ in range(steps):
        x = torch.rand(64, 1, device=engine.device) * 2 - 1
        engine.backward(torch.nn.functional.mse_loss(engine(x), 3 * x - 1))
        engine.step()
    if rank == 0:
        print(f"y = {line.weight.item():.2f} x + {line.bias.item():.2f}", flush=True)
    deepspeed.comm.barrier()
    deepspeed.comm.destroy_process_group()


if __name__ == "__main__":
    main()
