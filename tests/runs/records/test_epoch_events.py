"""What the events of epochs told, as columns."""

import numpy as np

from workbench.runs.folder.events import Event
from workbench.runs.records.epoch_events import told_metrics


def test_the_metrics_of_a_model_stand_train_beside_test_unknown_where_nobody_told() -> None:
    epochs: list[Event] = [
        {"accuracy": 0.5, "metrics": {"auc": 0.7, "accuracy": 0.5, "mae": None, "test_auc": 0.6}},
        {"accuracy": 0.6},
    ]
    metrics = told_metrics(epochs)
    assert list(metrics) == ["auc", "test_auc", "mae"]
    np.testing.assert_array_equal(metrics["auc"], [0.7, np.nan])
    np.testing.assert_array_equal(metrics["mae"], [np.nan, np.nan])
