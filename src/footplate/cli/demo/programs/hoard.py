"""Read a whole dataset into memory, which is more than the job has asked for."""

from __future__ import annotations

import random
import time

SHARDS, SHARD_BYTES, PAUSE_S = 200, 8 << 20, 0.05


def main() -> None:
    chance, held = random.Random(5), []
    print(f"loading {SHARDS} shards of {SHARD_BYTES >> 20} MB each before training begins")
    for shard in range(1, SHARDS + 1):
        # Random bytes, since the kernel stores nothing for pages that nobody has written to.
        held.append(chance.randbytes(SHARD_BYTES))
        print(f"shard {shard:3d} of {SHARDS}: {shard * SHARD_BYTES >> 20} MB in memory")
        time.sleep(PAUSE_S)
    print("all shards are in memory")


if __name__ == "__main__":
    main()
