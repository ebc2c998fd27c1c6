"""`workbench config`, the settings for a run: a file to begin with, and its schema."""

import json
from pathlib import Path

import pytest

from workbench import RunConfig
from workbench.cli import main
from workbench.schema import config_schema


def test_the_settings_of_flags_are_a_file_that_run_and_script_read(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["config", "--preset", "cnn_fashion_mnist", "--epochs", "2"]) == 0
    file = tmp_path / "run.json"
    file.write_text(capsys.readouterr().out)
    config = RunConfig.from_json(json.loads(file.read_text()))
    assert (config.model, config.per_replica_batch_size, config.epochs) == ("cnn", 16, 2)
    assert main(["config", "--config", str(file)]) == 0
    assert capsys.readouterr().out == file.read_text()


def test_the_schema_is_printed_instead(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "--schema"]) == 0
    assert json.loads(capsys.readouterr().out) == config_schema()
