"""Tests of the tables: every choice exists, and every choice has a label and help."""

import ast
import dataclasses
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

import workbench
from workbench import catalog
from workbench.config import RunConfig

ENGINE = Path(workbench.__file__).parent / "engine"
TABLES: dict[str, Mapping[str, catalog.Choice]] = {**catalog.CHOICES, "preset": catalog.PRESETS}


@pytest.mark.parametrize("table", TABLES)
def test_every_row_has_a_label_and_a_sentence_of_help(table: str) -> None:
    for row in TABLES[table].values():
        assert row.label
        assert row.help.endswith(".")


def test_every_table_belongs_to_a_field() -> None:
    tables = [table for table in vars(catalog).values() if _holds_choices(table)]
    assert sorted(map(list, tables)) == sorted(map(list, TABLES.values()))
    defaults = dataclasses.asdict(RunConfig())
    assert all(defaults[name] in {None, *table} for name, table in catalog.CHOICES.items())


def _holds_choices(table: object) -> bool:
    rows = table.values() if isinstance(table, Mapping) else ()
    return bool(rows) and all(isinstance(row, catalog.Choice) for row in rows)


def test_the_catalogue_has_the_strategies_of_tensorflow() -> None:
    assert set(catalog.STRATEGIES) == {
        "default", "one_device", "mirrored", "central_storage", "multi_worker_mirrored",
        "parameter_server", "tpu",
    }  # fmt: skip


def test_every_choice_has_its_function_in_the_engine() -> None:
    functions = {
        f"{path.stem}.{name}"
        for path in ENGINE.glob("*.py")
        for name in re.findall(r"^def (\w+)", path.read_text(), re.MULTILINE)
    }
    chosen = [
        f"strategies.make_strategy__{row.source}{'' if row.tpu else kind}"
        for row in catalog.STRATEGIES.values()
        for kind in ("_cpu", "_gpu")
    ]
    chosen += [f"coordinator.main__{name}" for name in catalog.LOOPS]
    chosen += [f"{name}.main__alone" for name in catalog.LOOPS]
    chosen += [f"data.make_data__{row.source}" for row in catalog.DATA.values()]
    chosen += [f"models.make_model__{row.source}" for row in catalog.MODELS.values()]
    chosen += [f"pipelines.make_batches__{name}" for name in catalog.PIPELINES]
    chosen += [f"orders.shuffled_rows__{name}" for name in catalog.LAST_BATCH]
    assert [name for name in chosen if name not in functions] == []


DECLARED = ("__init__.py", "constants.py", "slots.py")


PARTS = [path for path in ENGINE.glob("*.py") if path.name not in DECLARED]


@pytest.mark.parametrize("path", PARTS)
def test_a_file_of_the_engine_has_only_functions_and_imports(path: Path) -> None:
    doc, *statements = ast.parse(path.read_text()).body
    assert isinstance(doc, ast.Expr)
    allowed = ast.FunctionDef | ast.Import | ast.ImportFrom
    others = [ast.unparse(each) for each in statements if not isinstance(each, allowed)]
    assert [each for each in others if not each.startswith("if TYPE_CHECKING:")] == []


def test_the_presets_are_the_three_lessons() -> None:
    configs = {name: row.config for name, row in catalog.PRESETS.items()}
    lessons = {
        name: (config.data, config.model, config.per_replica_batch_size, config.epochs)
        for name, config in configs.items()
    }
    assert lessons == {
        "mlp_synthetic": ("synthetic", "mlp", 64, 5),
        "dense_fashion_mnist": ("fashion_mnist", "dense", 64, 5),
        "cnn_fashion_mnist": ("fashion_mnist", "cnn", 16, 10),
    }
    assert {config.strategy for config in configs.values()} == {"mirrored"}


def test_the_usual_model_of_a_data_set_takes_that_data() -> None:
    for name, row in catalog.DATA.items():
        assert name in catalog.MODELS[row.model].data
