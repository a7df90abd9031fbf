"""The training of the walkthrough, small: two nodes add up what they read; the first tells its metrics."""

import os
import sys
import time
from pathlib import Path

import torch
import torch.distributed as dist
from tikit.client import Client

client = Client(os.environ["WALK_ID"], os.environ["WALK_KEY"])


def train(folder: str) -> None:
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    numbers = torch.tensor([float(line) for line in Path(folder, "numbers.txt").read_text().split()])
    total = numbers[rank::world].sum()
    dist.all_reduce(total)
    print(f"rank {rank} of {world}: {total.item():.0f}", flush=True)
    if rank == 0:
        for epoch in range(3):
            values = {"acc1": float(format(60 + epoch, ".3f")), "acc5": float(format(90 + epoch, ".3f"))}
            client.push_training_metrics(int(time.time()), values, epoch=epoch)
        torch.save({"total": total}, "/opt/ml/model/model.pth")
    dist.barrier()
    dist.destroy_process_group()


train(next(word for word in sys.argv[1:] if word.startswith("/opt/ml/input/data/")))
