"""Fit a line asynchronously: a chief hands steps to workers, and a parameter server holds the weights.

One script for all roles: TF_CONFIG says which one a task plays.
"""

from __future__ import annotations

import argparse

import tensorflow as tf


def points() -> tf.data.Dataset:
    """Give batches of points of y = 3 x - 1, for ever."""
    x = tf.linspace(-1.0, 1.0, 512)
    return tf.data.Dataset.from_tensor_slices((x, 3.0 * x - 1.0)).shuffle(512).repeat().batch(64)


def serve(place: tf.distribute.cluster_resolver.ClusterResolver) -> None:
    """Wait for what the chief asks for, until the platform ends this task."""
    server = tf.distribute.Server(
        place.cluster_spec(),
        job_name=place.task_type,
        task_index=place.task_id,
        protocol="grpc",
    )
    print(f"{place.task_type} {place.task_id} serves at {server.target}", flush=True)
    server.join()


def train(place: tf.distribute.cluster_resolver.ClusterResolver, steps: int) -> None:
    strategy = tf.distribute.ParameterServerStrategy(place)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    with strategy.scope():
        weights = tf.Variable([0.0, 0.0])
    print(f"the weights live on {weights.device}", flush=True)

    def learn(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((weights[0] * x + weights[1] - y) ** 2)
        weights.assign_sub(0.2 * tape.gradient(loss, weights))
        return loss

    @tf.function
    def step(batches: tf.data.Iterator) -> tf.Tensor:
        return strategy.run(learn, args=next(batches))

    batches = iter(coordinator.create_per_worker_dataset(points))
    losses = [coordinator.schedule(step, args=(batches,)) for _ in range(steps)]
    coordinator.join()
    print(f"{steps} steps, last loss {float(losses[-1].fetch()):.4f}")
    slope, offset = weights.numpy()
    print(f"y = {slope:.2f} x + {offset:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=200)
    steps = parser.parse_args().steps
    place = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    if place.task_type in ("ps", "worker"):
        serve(place)
    else:
        train(place, steps)


if __name__ == "__main__":
    main()
