"""The sizes of models and optimizers in the tables, against the models that scripts make."""

import json
from itertools import pairwise
from pathlib import Path

import pytest

from tests.forked import run_code
from tests.machines import LAPTOP
from workbench import catalog
from workbench.codegen import render_script
from workbench.config import RunConfig
from workbench.plan import make_plan

FEATURES = 12
Made = dict[tuple[str, str], tuple[int, list[int], int]]
"""The weights, the layers' outputs and the optimizer's numbers, by model and optimizer."""
CODE = """
import json, sys
import numpy as np

for path in sys.argv[1:]:
    names = {"__name__": "train"}
    exec(compile(open(path).read(), path, "exec"), names)
    model = names["make_model"]()
    model.optimizer.build(model.trainable_variables)
    layers = [layer for layer in model.layers if "Flatten" not in type(layer).__name__]
    outputs = [int(np.prod(layer.output.shape[1:])) for layer in layers]
    slots = sum(int(np.prod(each.shape)) for each in model.optimizer.variables if len(each.shape))
    print(json.dumps([model.count_params(), outputs, slots]))
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Return the sizes of all models with all optimizers."""
    optimizers = [name for name in catalog.OPTIMIZERS if name != catalog.COMPILED]
    paths: dict[tuple[str, str], Path] = {}
    for model, row in catalog.MODELS.items():
        for optimizer in optimizers:
            config = RunConfig(
                data=row.data[0], model=model, optimizer=optimizer, synthetic_features=FEATURES
            )
            path = tmp_path_factory.mktemp("scripts") / "train.py"
            path.write_text(render_script(make_plan(config, LAPTOP)))
            paths[model, optimizer] = path
    lines = run_code(CODE, *paths.values()).stdout.splitlines()
    return dict(zip(paths, map(json.loads, lines), strict=True))


def test_the_tables_have_the_weights_and_slots_of_each_model(made: Made) -> None:
    for (model, optimizer), (weights, _, slots) in made.items():
        row = catalog.MODELS[model]
        features = catalog.DATA[row.data[0]].features or FEATURES
        assert row.weights + row.weights_per_feature * features == weights
        assert catalog.OPTIMIZERS[optimizer].slots * weights == slots


def test_a_step_holds_no_more_than_two_layers_outputs_and_gradients(made: Made) -> None:
    for (model, _), (_, outputs, _) in made.items():
        most = max(2 * (one + two) for one, two in pairwise(outputs))
        assert 0.8 * most < catalog.MODELS[model].step_numbers <= most
