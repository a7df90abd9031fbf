"""Fit a line on all workers at once: every step averages their gradients."""

from __future__ import annotations

import argparse

import tensorflow as tf


def points(context: tf.distribute.InputContext) -> tf.data.Dataset:
    """Give this worker its share of the points of y = 3 x - 1, for ever."""
    x = tf.linspace(-1.0, 1.0, 512)
    share = tf.data.Dataset.from_tensor_slices((x, 3.0 * x - 1.0)).shard(
        context.num_input_pipelines, context.input_pipeline_id
    )
    return share.shuffle(512).repeat().batch(context.get_per_replica_batch_size(128))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=50)
    steps = parser.parse_args().steps
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    place = strategy.cluster_resolver
    print(f"{place.task_type} {place.task_id}, {strategy.num_replicas_in_sync} replicas in step", flush=True)
    with strategy.scope():
        weights = tf.Variable([0.0, 0.0])

    def learn(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((weights[0] * x + weights[1] - y) ** 2)
        own = tape.gradient(loss, weights)
        mean = tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.MEAN, own)
        weights.assign_sub(0.5 * mean)
        return loss

    @tf.function
    def step(batch: tuple[tf.Tensor, tf.Tensor]) -> tf.Tensor:
        losses = strategy.run(learn, args=batch)
        return strategy.reduce(tf.distribute.ReduceOp.MEAN, losses, axis=None)

    batches = iter(strategy.distribute_datasets_from_function(points))
    for number in range(1, steps + 1):
        loss = step(next(batches))
        if number % 10 == 0 and place.task_id == 0:
            print(f"step {number}/{steps} loss {float(loss):.4f}", flush=True)
    slope, offset = weights.numpy()
    print(f"y = {slope:.2f} x + {offset:.2f}")


if __name__ == "__main__":
    main()
