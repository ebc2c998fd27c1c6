"""Write numbered examples to TFRecord files: `write_records.py FOLDER EXAMPLES FILES`."""

import sys
from pathlib import Path

import numpy as np
import tensorflow as tf


def main() -> None:
    """Write the examples to the files in turn; the first feature is their number."""
    folder = Path(sys.argv[1])
    examples, files = map(int, sys.argv[2:])
    rows = np.zeros((examples, 10), np.float32)
    rows[:, 0] = np.arange(examples)
    for number in range(files):
        with tf.io.TFRecordWriter(str(folder / f"{number:02d}.tfrecord")) as file:
            for row in rows[number::files]:
                file.write(row.tobytes())


if __name__ == "__main__":
    main()
