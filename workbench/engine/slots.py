"""The functions of a script that its other functions call, declared for the type checker."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

make_strategy: Callable[[], tf.distribute.Strategy]
make_data: Callable[[], Any]
shuffled_rows: Callable[[tf.Tensor, Any, int], tf.Tensor]
deal_tests: Callable[[Any], Callable]
make_batches: Callable[..., Any]
make_model: Callable[[], tf.keras.Model]
train_step: Callable[[tf.keras.Model, Any, Any], tuple[tf.Tensor, Any]]
make_step: Callable[[tf.keras.Model], Callable]
make_steps: Callable[[tf.keras.Model], Any]
make_loop: Callable[[tf.distribute.Strategy, Callable], Callable]
make_loops: Callable[[tf.distribute.Strategy, Callable, Callable], tuple[Callable, Callable]]
make_train_functions: Callable[[tf.distribute.Strategy, tf.keras.Model], None]
compile_model: Callable[[tf.keras.Model], None]
make_tester: Callable[[], tf.keras.Model]
this_worker: Callable[[], int]
