"""An evaluation of a model, for tests that show it."""

from __future__ import annotations

from typing import Any

EVALUATION: dict[str, Any] = {
    "test_loss": 0.25,
    "test_accuracy": 0.9,
    "classes": [
        {"name": "Shirt", "examples": 10, "accuracy": 0.8},
        {"name": "Coat", "examples": 10, "accuracy": 1.0},
    ],
    "confusion": {"names": ["Shirt", "Coat"], "pairs": [[0, 0, 8], [0, 1, 2], [1, 1, 10]]},
}
