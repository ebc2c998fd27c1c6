"""The constants that may stand at the top of a script, declared for the type checker."""

from typing import Any

SEED: int
EPOCHS: int
STEPS_PER_EPOCH: int
PER_REPLICA_BATCH_SIZE: int
GLOBAL_BATCH_SIZE: int
TEST_STEPS: int
STEPS_PER_STACK: int
STEPS_PER_EXECUTION: int
OPTIMIZER: Any
LEARNING_RATE: float
CLIP_NORM: float | None
ACCURACY: Any
DEVICES: tuple[str, ...]
REPLICAS: int
GPU_MEMORY: int | str
CROSS_DEVICE_OPS: Any
NUM_TRAIN_EXAMPLES: int
NUM_TEST_EXAMPLES: int
NUM_FEATURES: int
NOISE: float
DATA_DIR: str
WORKERS: int
TPU: str
TEST_BATCH_SIZE: int
COMMUNICATION: Any
AUTO_SHARD: Any
DATA_FILES: int
READ_PER_STEP: int
TASKS: dict[str, int]
PASSES_PER_EPOCH: int
