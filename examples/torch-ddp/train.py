"""Fit a small network to a curve with DistributedDataParallel, as PyTorch's own tutorial does."""

from __future__ import annotations

import argparse
import gc

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def curve(n_points: int) -> TensorDataset:
    torch.manual_seed(7)
    x = torch.rand(n_points, 1) * 6 - 3
    return TensorDataset(x, torch.sin(x))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=5)
    epochs = parser.parse_args().epochs
    # Rank, size and address come from torchrun.
    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    # With its line end in one write: ranks write to one output.
    print(f"rank {rank} of {size}\n", end="")
    train(epochs, rank)
    # A model that still holds the group would keep its threads alive until the interpreter is half gone.
    gc.collect()
    # A process that leaves early would tear the connection of one that still sends.
    dist.barrier()
    dist.destroy_process_group()


def train(epochs: int, rank: int) -> None:
    data = curve(1024)
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=32, sampler=sampler)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1)))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
        if rank == 0:
            print(f"epoch {epoch + 1}/{epochs} loss {loss.item():.4f}")
    check(model, rank)


def check(model: nn.Module, rank: int) -> None:
    """Show that all ranks hold the same weights, which is the point of the exercise."""
    weights = torch.cat([p.detach().flatten() for p in model.parameters()])
    highest, lowest = weights.clone(), weights.clone()
    dist.all_reduce(highest, op=dist.ReduceOp.MAX)
    dist.all_reduce(lowest, op=dist.ReduceOp.MIN)
    if rank == 0:
        print(f"weights agree on all ranks: {torch.equal(highest, lowest)}")


if __name__ == "__main__":
    main()
