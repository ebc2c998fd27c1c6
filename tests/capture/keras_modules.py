"""A model that names modules of tf.keras in several ways, captured in a process with Keras."""

from tests.capture.notebook import opened
from workbench.capture import capture

TYPED = """
from tensorflow import keras
from tensorflow.keras import layers as parts
from tensorflow.keras.layers import Dense
import tensorflow as tf
""".strip()
BUILD = """
@tf.function
def double(x):
    return 2 * x

@keras.utils.register_keras_serializable()
class Doubled(parts.Layer):
    def call(self, x):
        return double(x)

def build():
    return keras.Sequential([keras.Input([3]), Dense(2), Doubled()])
"""


def main() -> None:
    """Compare the captured text, and the model that it builds, with the notebook's."""
    with opened() as notebook:
        notebook.run(TYPED, BUILD)
        source = capture(notebook["build"]).source
        assert source.split("\n\n\n")[0] == TYPED, source
        assert "@tf.function\ndef double(x):\n" in source, source
        assert "@keras.utils.register_keras_serializable()\nclass Doubled(" in source, source
        notebook["keras"].utils.get_custom_objects().clear()
        names = {"__name__": "alone"}
        exec(compile(source, "alone.py", "exec"), names)
        assert names["build"]().count_params() == notebook["build"]().count_params() == 8


if __name__ == "__main__":
    main()
