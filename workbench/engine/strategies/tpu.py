from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import REPLICAS, TPU


def make_strategy() -> tf.distribute.Strategy:
    """Set up the TPU once; copy the model to each of its cores. Each step sums all gradients."""
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu=TPU)
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    strategy = tf.distribute.TPUStrategy(resolver)
    if strategy.num_replicas_in_sync != REPLICAS:
        raise SystemExit(
            f"Needs a TPU of {REPLICAS} cores; {TPU} has {strategy.num_replicas_in_sync}. Set "
            "REPLICAS to that number, and GLOBAL_BATCH_SIZE to REPLICAS x PER_REPLICA_BATCH_SIZE."
        )
    return strategy
