import tensorflow as tf


def check_model(model: object, function: str) -> tf.keras.Model:
    """Return what a function of one's own gave, or end with why it cannot be trained."""
    kinds = {(kind.__module__.split(".")[0], kind.__name__) for kind in type(model).__mro__}
    if not isinstance(model, tf.keras.Model) and ("keras", "Model") in kinds:
        got = "a model of Keras 3, which tf.keras is not here. Import keras through tf.keras"
    elif not isinstance(model, tf.keras.Model):
        got = f"{type(model).__name__}. Return the model"
    elif not model.built:
        got = "one without weights. Give it a tf.keras.Input, or call model.build(input_shape)"
    elif not getattr(model, "loss", None):
        got = "one without a loss. Call model.compile(loss=...) before returning it"
    else:
        return model
    raise SystemExit(f"Needs a built tf.keras.Model with its loss; {function} returned {got}.")
