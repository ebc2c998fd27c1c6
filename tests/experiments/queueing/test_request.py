"""The request of a comparison, written and read, and the list of comparisons with damaged ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.experiments.written import write_comparison
from workbench.experiments import Comparison, UnreadableComparison, list_comparisons
from workbench.experiments.queueing.request import Request
from workbench.runs import RunError

RATES = {"OneDevice": (1000.0,), "Mirrored x 2": ()}
OLD, NEW = "compare-20260101-000000-abcd", "compare-20260102-000000-abcd"


def test_a_request_is_read_as_it_was_written(tmp_path: Path) -> None:
    request = write_comparison(tmp_path, RATES).request
    (tmp_path / "compare.json").write_text(json.dumps(request.to_json()))
    assert Request.read(tmp_path) == request
    assert [each.label for each in request.candidates] == ["OneDevice", "Mirrored x 2", "TPU"]


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        (lambda values: {**values, "candidates": [{}]}, "KeyError: 'config'"),
        (lambda values: {**values, "repeats": None}, "TypeError"),
        (lambda values: {**values, "candidates": [{"config": {"seed": "x"}}]}, "ConfigError"),
        (list, "TypeError"),
    ],
)
def test_a_damaged_request_is_an_error_with_file_and_remedy(
    damage: Any, what: str, tmp_path: Path
) -> None:
    asked = write_comparison(tmp_path, RATES).folder / "compare.json"
    asked.write_text(json.dumps(damage(json.loads(asked.read_text()))))
    with pytest.raises(RunError) as raised:
        Comparison(asked.parent)
    for words in ("compare.json cannot be read", str(asked), what, "Restore it from a copy"):
        assert words in str(raised.value)


def test_a_damaged_comparison_stays_in_the_list_with_the_reason(tmp_path: Path) -> None:
    for name in (OLD, NEW):
        write_comparison(tmp_path, RATES, name=name)
    asked = tmp_path / NEW / "compare.json"
    asked.write_text("{")
    damaged, whole = list_comparisons(tmp_path)
    assert isinstance(damaged, UnreadableComparison)
    assert str(asked) in damaged.why
    assert (damaged.state, whole.state) == ("finished", "finished")
    assert len(whole.request.candidates) == 3
    with pytest.raises(RunError, match="Restore it from a copy"):
        _ = damaged.request
