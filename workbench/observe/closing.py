"""Pipelines that nobody uses any more, closed beside the training instead of in it.

TensorFlow can take as long to close a pipeline as it was open: OptimizeLoop in model.cc sleeps on,
because StartCancel in cancellation.cc wakes it before it tells it to end. Keras' `fit` closes two
or three in each epoch.
"""

import collections
import sys
import threading
from typing import Any

import tensorflow as tf
from tensorflow.python.data.ops import iterator_ops, multi_device_iterator_ops

from .kerases import Patches

LOOK_SECONDS = 0.2


class Closing:
    """Holds each iterator of a pipeline until its last user has left it."""

    def __init__(self, patches: Patches, over: threading.Event) -> None:
        """Wrap TensorFlow, and begin to close; `over` ends that."""
        self.held = collections.deque[Any]()
        for owner in (
            iterator_ops.OwnedIterator,
            multi_device_iterator_ops.OwnedMultiDeviceIterator,
        ):
            patches.after(owner, "__init__", self._hold)
        threading.Thread(target=self._close, args=(over,), name="closing", daemon=True).start()

    def _hold(self, result: None, iterator: Any, *_: Any, **__: Any) -> None:
        if tf.executing_eagerly():
            self.held.append(iterator)

    def _close(self, over: threading.Event) -> None:
        while not over.wait(LOOK_SECONDS):
            for _ in range(len(self.held)):
                iterator = self.held.popleft()
                if sys.getrefcount(iterator) > 2:  # this variable and the argument are two
                    self.held.append(iterator)
                del iterator  # closes it if it was the last reference
