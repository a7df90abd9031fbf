"""Fit a line; each rank averages its gradients with the others by hand."""

from __future__ import annotations

import argparse

import torch
import torch.distributed as dist


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=50)
    # The launcher adds this option; old scripts choose their card by it.
    parser.add_argument("--local-rank", "--local_rank", type=int, default=0)
    options = parser.parse_args()
    dist.init_process_group("gloo", init_method="env://")
    rank, size = dist.get_rank(), dist.get_world_size()
    # With its line end in one write: ranks write to one output.
    print(f"rank {rank} of {size}, local rank {options.local_rank}\n", end="")
    torch.manual_seed(rank)  # every rank has its own share of the data
    x = torch.rand(256)
    y = 3 * x - 1
    weights = torch.zeros(2, requires_grad=True)
    for _ in range(options.steps):
        loss = ((weights[0] * x + weights[1] - y) ** 2).mean()
        (gradient,) = torch.autograd.grad(loss, weights)
        dist.all_reduce(gradient)
        weights = (weights - 0.5 * gradient / size).detach().requires_grad_()
    if rank == 0:
        print(f"y = {weights[0].item():.2f} x + {weights[1].item():.2f}")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
