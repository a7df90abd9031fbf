"""Fit a line on points that are spread over the devices of all processes."""

from __future__ import annotations

import argparse

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P


def spread(own: np.ndarray, mesh: Mesh) -> jax.Array:
    """Make one array of the shares that the processes hold."""
    return jax.make_array_from_process_local_data(NamedSharding(mesh, P("data")), own)


def loss(weights: jax.Array, x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.mean((weights[0] * x + weights[1] - y) ** 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=50)
    steps = parser.parse_args().steps
    jax.distributed.initialize()
    print(f"process {jax.process_index()} of {jax.process_count()}, {jax.device_count()} devices in all")
    mesh = Mesh(np.array(jax.devices()), ("data",))
    chance = np.random.default_rng(jax.process_index())
    own = chance.uniform(-1, 1, 128).astype(np.float32)
    x, y = spread(own, mesh), spread(3 * own - 1, mesh)
    # JAX inserts the exchange between processes where a mean goes over all of them.
    step = jax.jit(lambda weights, x, y: weights - 0.5 * jax.grad(loss)(weights, x, y))
    weights = jax.device_put(np.zeros(2, np.float32), NamedSharding(mesh, P()))
    for _ in range(steps):
        weights = step(weights, x, y)
    if jax.process_index() == 0:
        slope, offset = np.asarray(weights.addressable_data(0))
        print(f"y = {slope:.2f} x + {offset:.2f}")


if __name__ == "__main__":
    main()
