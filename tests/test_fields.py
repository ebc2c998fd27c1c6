"""The table of fields: a new field is one row, and the place that uses it."""

import dataclasses
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from workbench.catalog import CHOICES
from workbench.config import USUAL, RunConfig, field_types
from workbench.fields import FIELDS, SECTIONS

ROOT = Path(__file__).parents[1]
ROW = """    weight_decay: float = row(
        0.01, "Weight decay",
        "How much of each weight an update takes away.",
        range=zero_or_more("Set it to 0, for none."),
        constant="WEIGHT_DECAY", comment="of each weight, in an update",
    )
    clip_norm: float"""
USES = "OPTIMIZER(LEARNING_RATE)", "OPTIMIZER(LEARNING_RATE, weight_decay=WEIGHT_DECAY)"


def test_a_field_of_one_row_is_in_form_flags_checks_schema_and_scripts(tmp_path: Path) -> None:
    package = tmp_path / "workbench"
    shutil.copytree(ROOT / "workbench", package, ignore=shutil.ignore_patterns("__pycache__"))
    for path, old, new in (
        ("fields.py", "    clip_norm: float", ROW),
        ("engine/models.py", *(f"{each}, loss=tf.keras.losses.Binary" for each in USES)),
    ):
        text = (package / path).read_text()
        assert text.count(old) == 1
        (package / path).write_text(text.replace(old, new))
    places = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (tmp_path, ROOT)))}
    program = [sys.executable, ROOT / "tests" / "own_field.py"]
    ended = subprocess.run(program, env=places, check=True, stdout=subprocess.PIPE)
    found = json.loads(ended.stdout)
    assert (found["flag"], found["file"]) == (0.2, True)
    assert "--weight-decay X How much of each weight" in " ".join(found["help"].split())
    assert found["label"] == "Weight decay"
    rule = "must be 0 or more; got -1"
    assert rule in found["beside the field"]
    assert found["problem"] == f"weight_decay {rule}.0. Set it to 0, for none."
    assert found["problems"] == ["weight_decay must be 0 or more"]
    assert found["schema"] == 0
    assert "WEIGHT_DECAY = 0.2  # of each weight, in an update\n" in found["script"]
    assert found["opened"] == 0.4


def test_a_config_has_the_fields_of_all_sections_in_their_order() -> None:
    assert list(FIELDS) == list(field_types()) == [f.name for f in dataclasses.fields(RunConfig)]
    assert len(SECTIONS) == 6


@pytest.mark.parametrize("name", FIELDS)
def test_each_field_has_a_label_and_sentences_of_help(name: str) -> None:
    row = FIELDS[name]
    assert row.label
    assert row.help.endswith(".")
    assert bool(row.comment) <= bool(row.constant)


@pytest.mark.parametrize("name", FIELDS)
def test_each_default_is_a_value_that_its_field_can_have(name: str) -> None:
    row, default = FIELDS[name], getattr(USUAL, name)
    assert default is None or row.range is None or row.range.holds(default)
    assert default is None or row.above_zero is None or default > 0
    assert default in {None, *CHOICES.get(name, [default])}
