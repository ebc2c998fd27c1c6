"""Scripts: the parts that differ between strategies, the parts that do not, and the needs."""

import ast
import builtins
import itertools
import re
import sys
from typing import Any

import pytest

from tests.codegen.golden import CONFIGS, OWN_MODEL, render
from tests.machines import LAPTOP, TPU_VM, TWO_GPUS
from workbench import catalog
from workbench.codegen import render_script
from workbench.config import RunConfig
from workbench.plan import make_plan
from workbench.plan.plan import DataFacts
from workbench.plan.sharding import read_per_step
from workbench.scripts.changed_constants import constants

STRATEGIES = ("default", "one_device", "mirrored", "central_storage")
SLOTS = ["make_strategy", "make_data", "make_batches", "make_model", "make_steps", "main"]


def script(machine: Any = LAPTOP, **fields: Any) -> str:
    return render_script(make_plan(RunConfig(**fields), machine))


def definitions(text: str) -> dict[str, str]:
    """Return each function, class and import of the top level, by name."""
    kinds = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
    nodes = [node for node in ast.parse(text).body if isinstance(node, kinds)]
    return {getattr(node, "name", ast.unparse(node)): ast.unparse(node) for node in nodes}


def values(text: str) -> dict[str, Any]:
    """Return the constants that are numbers, by name."""
    found: dict[str, Any] = {}
    known = {"__builtins__": {"len": len, "max": max, "range": range}}
    for name, code in constants(ast.parse(text)).items():
        names = (node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name))
        if not any(node.id in ("tf", "functools") for node in names):
            found[name] = eval(code, {**known, **found})
    return found


def assert_they_differ_in_make_strategy(texts: list[str]) -> None:
    """Check that scripts of these strategies have the same other functions.

    With central storage, `main` makes the metrics outside of the scope.
    """
    named = dict(zip(STRATEGIES, map(definitions, texts), strict=True))
    for one, other in itertools.combinations(STRATEGIES, 2):
        here, there = named[one], named[other]
        assert here.keys() == there.keys()
        main = ["main"] * ("central_storage" in (one, other))
        differing = [name for name in here if here[name] != there[name]]
        assert differing == ["make_strategy", *main]


@pytest.mark.parametrize(
    ("fields", "written"),
    [
        ({}, {"implementation": "AUTO"}),
        ({"communication": "ring"}, {"implementation": "RING"}),
        ({"communication": "ring", "bytes_per_pack": 4096},
         {"implementation": "RING", "bytes_per_pack": "4096"}),
    ],
)  # fmt: skip
def test_the_communication_of_workers_is_written_as_configured(
    fields: dict[str, Any], written: dict[str, str]
) -> None:
    text = script(strategy="multi_worker_mirrored", **fields)
    (options,) = [
        node.value
        for node in ast.parse(text).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "COMMUNICATION"
    ]
    assert isinstance(options, ast.Call)
    assert ast.unparse(options.func).endswith("CommunicationOptions")
    given = {each.arg: ast.unparse(each.value).rpartition(".")[2] for each in options.keywords}
    assert given == written


@pytest.mark.parametrize("pipeline", [name for name in catalog.PIPELINES if name != "cached"])
@pytest.mark.parametrize("loop", catalog.LOOPS)
@pytest.mark.parametrize("data", catalog.DATA)
def test_another_strategy_changes_only_constants_and_make_strategy(
    data: str, loop: str, pipeline: str
) -> None:
    texts = [script(strategy=s, data=data, loop=loop, pipeline=pipeline) for s in STRATEGIES]
    assert_they_differ_in_make_strategy(texts)


@pytest.mark.parametrize("memory", ["growth", "all", 2048])
def test_another_strategy_on_gpus_changes_only_make_strategy(memory: str | int) -> None:
    texts = [script(TWO_GPUS, strategy=s, gpu_memory=memory) for s in STRATEGIES]
    assert_they_differ_in_make_strategy(texts)


@pytest.mark.parametrize("loop", catalog.LOOPS)
def test_metrics_are_made_in_the_scope_except_that_of_central_storage(loop: str) -> None:
    made = {"custom": "make_steps(model)", "fit": "compile_model(model)"}[loop]
    for strategy in STRATEGIES:
        (line,) = [x for x in script(strategy=strategy, loop=loop).splitlines() if x.endswith(made)]
        indented = line.startswith(" " * 8)
        assert indented == (strategy != "central_storage")


@pytest.mark.parametrize("name", CONFIGS)
def test_a_script_needs_only_tensorflow_numpy_and_the_standard_library(name: str) -> None:
    nodes = list(ast.walk(ast.parse(render(name))))
    modules = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    modules += [node.module or "." for node in nodes if isinstance(node, ast.ImportFrom)]
    roots = {module.split(".")[0] for module in modules} - {OWN_MODEL.stem}
    assert roots - set(sys.stdlib_module_names) <= {"numpy", "tensorflow"}


@pytest.mark.parametrize("name", CONFIGS)
def test_a_script_is_its_slots_in_order_with_public_names_only(name: str) -> None:
    fit = CONFIGS[name].loop == "fit"
    steps = "make_step" if CONFIGS[name].strategy == "parameter_server" else "make_steps"
    slots = [steps if slot == "make_steps" else slot for slot in SLOTS]
    found = [name for name in definitions(render(name)) if name in slots]
    assert found == [slot for slot in slots if not (fit and slot == steps)]
    for node in ast.walk(ast.parse(render(name))):
        assert not isinstance(node, ast.ClassDef)
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            assert (node.attr, fit) == ("_maybe_symbolic_build", True)
            assert "keras#20585" in render(name)


@pytest.mark.parametrize(
    ("name", "most_lines"),
    [
        ("default_custom_synthetic", 175),
        ("mirrored_custom_fashion_mnist", 185),
        ("mirrored_fit_fashion_mnist", 150),
        ("multi_worker_fit_synthetic", 210),
        ("parameter_server_custom_synthetic", 210),
        ("parameter_server_fit_synthetic", 180),
    ],
)
def test_a_script_is_short(name: str, most_lines: int) -> None:
    assert len(render(name).splitlines()) <= most_lines


@pytest.mark.parametrize("name", CONFIGS)
def test_every_constant_has_a_comment_and_is_read(name: str) -> None:
    text = render(name).split("\n\n\n", maxsplit=1)[0]
    lines = text.splitlines()
    starts = [n for n, line in enumerate(lines) if line.split(" = ")[0].isupper()]
    assert len(starts) > 8
    for number in starts:
        assert "  # " in lines[number] or lines[number - 1].startswith("# ")
        constant = lines[number].split(" = ")[0]
        assert render(name).count(constant) > 1


@pytest.mark.parametrize("name", CONFIGS)
def test_every_name_it_reads_is_bound(name: str) -> None:
    tree = ast.parse(render(name))
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    read = {node.id for node in names if isinstance(node.ctx, ast.Load)}
    bound = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.alias):
            bound.add(node.asname or node.name)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            bound.add(node.name)
    assert read - bound <= set(dir(builtins))


def test_both_batch_sizes_are_there_with_their_arithmetic() -> None:
    text = script(per_replica_batch_size=48)
    assert "\nPER_REPLICA_BATCH_SIZE = 48  # " in text
    assert "\nGLOBAL_BATCH_SIZE = PER_REPLICA_BATCH_SIZE * REPLICAS  # " in text
    assert "\nSTEPS_PER_EPOCH = NUM_TRAIN_EXAMPLES // GLOBAL_BATCH_SIZE  # " in text


def test_the_batch_size_that_was_chosen_is_the_number_and_the_other_follows() -> None:
    text = script(global_batch_size=96, pipeline="indexed")
    assert "\nGLOBAL_BATCH_SIZE = 96  # " in text
    assert "\nPER_REPLICA_BATCH_SIZE = GLOBAL_BATCH_SIZE // REPLICAS  # " in text


@pytest.mark.parametrize(
    ("machine", "fields"),
    [
        (LAPTOP, {}),
        (LAPTOP, {"per_replica_batch_size": 50, "last_batch": "keep"}),
        (LAPTOP, {"global_batch_size": 96, "last_batch": "repeat"}),
        (LAPTOP, {"global_batch_size": 96, "pipeline": "indexed", "loop": "fit"}),
        (LAPTOP, {"pipeline": "files", "steps_per_epoch": 200}),
        (LAPTOP, {"strategy": "one_device", "loop": "fit"}),
        (LAPTOP, {"data": "fashion_mnist", "loop": "fit"}),
        (TWO_GPUS, {"devices": ("GPU:0", "GPU:1")}),
        (TWO_GPUS, {"devices": ("GPU:0",), "replicas": 4, "gpu_memory": 2048}),
        (LAPTOP, {"strategy": "multi_worker_mirrored", "workers": 3}),
        (LAPTOP, {"strategy": "multi_worker_mirrored", "auto_shard": "off"}),
        (
            LAPTOP,
            {"strategy": "multi_worker_mirrored", "auto_shard": "off", "last_batch": "repeat"},
        ),
        (TPU_VM, {"strategy": "tpu", "per_replica_batch_size": 60}),
        (LAPTOP, {"strategy": "multi_worker_mirrored", "pipeline": "files", "loop": "fit"}),
        (LAPTOP, {"strategy": "parameter_server", "last_batch": "repeat"}),
    ],
)
def test_constants_that_follow_from_others_have_the_values_of_the_plan(
    machine: Any, fields: dict[str, Any]
) -> None:
    plan = make_plan(RunConfig(**fields), machine)
    numbers = values(render_script(plan))
    wanted = {
        "PER_REPLICA_BATCH_SIZE": plan.per_replica_batch_size,
        "GLOBAL_BATCH_SIZE": plan.global_batch_size,
        "READ_PER_STEP": read_per_step(plan),
        "STEPS_PER_EPOCH": plan.steps_per_epoch,
        "STEPS_PER_EXECUTION": plan.graph_steps,
        "TEST_BATCH_SIZE": plan.test_batch_size,
        "TEST_STEPS": plan.test_steps,
    }
    written = numbers.keys() & wanted.keys()
    assert {"STEPS_PER_EPOCH", "STEPS_PER_EXECUTION"} < written
    assert {name: numbers[name] for name in written} == {name: wanted[name] for name in written}


def test_a_rehearsal_does_two_steps_and_tests_two_batches() -> None:
    numbers = values(render_script(make_plan(RunConfig(pipeline="indexed"), LAPTOP).rehearsal))
    assert (numbers["STEPS_PER_EPOCH"], numbers["TEST_STEPS"]) == (2, 2)


@pytest.mark.parametrize("pipeline", ["usual", "indexed"])
@pytest.mark.parametrize("size", [7, 32, 100])
def test_calls_of_fit_divide_the_steps_of_an_epoch_whatever_batch_size_is_written(
    size: int, pipeline: str
) -> None:
    text = script(data="fashion_mnist", loop="fit", pipeline=pipeline)
    numbers = values(re.sub("^PER_REPLICA_BATCH_SIZE = 64", f"PER_REPLICA_BATCH_SIZE = {size}",
                            text, flags=re.M))  # fmt: skip
    assert numbers["PER_REPLICA_BATCH_SIZE"] == size
    assert numbers["GLOBAL_BATCH_SIZE"] == 2 * size
    assert numbers["STEPS_PER_EPOCH"] % numbers["STEPS_PER_EXECUTION"] == 0


def test_learning_rate_scaling_is_written_next_to_the_number() -> None:
    text = script(learning_rate=0.01, learning_rate_scaling="linear", replicas=4)
    assert "LEARNING_RATE = 0.04  # 0.01 x 4 replicas" in text


def test_gpus_are_named_and_checked_at_the_start() -> None:
    text = script(TWO_GPUS, devices=("GPU:1",))
    assert 'DEVICES = ("GPU:1",)' in text
    assert "Change DEVICES to" in text


@pytest.mark.parametrize(("steps", "passes"), [(157, 2), (312, 2), (313, 3)])
def test_a_started_pass_counts_as_a_pass(steps: int, passes: int) -> None:
    text = script(per_replica_batch_size=32, steps_per_epoch=steps)
    assert values(text)["PASSES_PER_EPOCH"] == passes


@pytest.mark.parametrize("evaluator", [False, True])
@pytest.mark.parametrize("loop", catalog.LOOPS)
def test_either_the_chief_or_an_evaluator_tests(loop: str, evaluator: bool) -> None:
    found = definitions(script(strategy="parameter_server", loop=loop, evaluator=evaluator))
    testing = [name for name, text in found.items() if "tester.evaluate(test_batches" in text]
    assert testing == ["evaluate_checkpoints" if evaluator else "main"]


@pytest.mark.parametrize(
    ("precision", "statement"),
    [
        ("float64", 'tf.keras.backend.set_floatx("float64")'),
        ("mixed_bfloat16", 'tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")'),
    ],
)
def test_a_precision_other_than_the_default_is_a_statement(precision: str, statement: str) -> None:
    assert f"\n{statement}\n" in script(precision=precision)
    assert statement not in script()


def names_in_main(tests: int, **fields: Any) -> set[str]:
    """Return the names that `main` reads or binds in a script for the user's own data."""
    config = RunConfig(data="my_data:load", model="my_model:build", **fields)
    facts = DataFacts("arrays", 640, tests, "features (10,) float32", 40)
    text = definitions(render_script(make_plan(config, LAPTOP, facts)))["main"]
    nodes = list(ast.walk(ast.parse(text)))
    named = {node.arg for node in nodes if isinstance(node, ast.keyword) and node.arg}
    return {node.id for node in nodes if isinstance(node, ast.Name)} | named


@pytest.mark.parametrize("loop", catalog.LOOPS)
@pytest.mark.parametrize("strategy", [name for name in catalog.STRATEGIES if name != "tpu"])
def test_a_main_without_tests_has_no_line_for_them(strategy: str, loop: str) -> None:
    of_tests = {"test", "trained", "test_batches", "validation_data", "validation_steps"}
    fields = {"strategy": strategy, "loop": loop}
    assert names_in_main(64, **fields) & of_tests
    assert not names_in_main(0, **fields) & of_tests
    assert names_in_main(0, **fields) - {"_"} < names_in_main(64, **fields)
