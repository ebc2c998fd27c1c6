"""Takes two batches of a pipeline, leaves it, and writes which thread has closed it."""

import sys
import threading
import weakref
from pathlib import Path

import tensorflow as tf

strategy = tf.distribute.MirroredStrategy(["CPU:0"])
batches = strategy.experimental_distribute_dataset(tf.data.Dataset.range(100).batch(2))
closed = threading.Event()


def note(thread: list[str]) -> None:
    thread.append(threading.current_thread().name)
    closed.set()


thread = list[str]()
iterator = iter(batches)
next(iterator)
(pipeline,) = iterator._iterators
weakref.finalize(pipeline._iterator, note, thread)
del pipeline
kept = next(iterator)
assert not closed.is_set()
del iterator
closed.wait(60)
Path(sys.argv[1], "closed").write_text(" ".join(thread))
