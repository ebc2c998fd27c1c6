"""A model that a person defines in a cell."""

CELL_OF_OWN_MODEL = """
import pandas as pd
import tensorflow as tf
from workbench import Workbench

WIDTH = 4
FEATURES = ["age", "height", "weight"]


def load_data():
    table = pd.DataFrame({name: range(400) for name in FEATURES}) / 400
    rows = table.sample(frac=1, random_state=1)
    labels = (rows["age"] > 0.5).astype("float32")
    return (rows[:320], labels[:320]), (rows[320:], labels[320:])


def hidden(units):
    return tf.keras.layers.Dense(units, activation="relu")


def build_model():
    outputs = tf.keras.layers.Dense(1, activation="sigmoid")
    model = tf.keras.Sequential([tf.keras.Input([len(FEATURES)]), hidden(WIDTH), outputs])
    model.compile("adam", loss=tf.keras.losses.BinaryCrossentropy())
    return model


Workbench(model=build_model, data=load_data)
"""
