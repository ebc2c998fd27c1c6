"""The values of epoch events, as columns."""

import numpy as np

from workbench.runs.folder.events import Event
from workbench.runs.records.epochs import metric_columns


def test_metrics_have_train_next_to_test_and_nan_if_unknown() -> None:
    epochs: list[Event] = [
        {"accuracy": 0.5, "metrics": {"auc": 0.7, "accuracy": 0.5, "mae": None, "test_auc": 0.6}},
        {"accuracy": 0.6},
    ]
    metrics = metric_columns(epochs)
    assert list(metrics) == ["auc", "test_auc", "mae"]
    np.testing.assert_array_equal(metrics["auc"], [0.7, np.nan])
    np.testing.assert_array_equal(metrics["mae"], [np.nan, np.nan])
