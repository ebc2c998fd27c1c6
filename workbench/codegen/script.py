"""The assembly of a script: the lifted functions fill its slots."""

from __future__ import annotations

import json
import re
from functools import cache
from keyword import iskeyword
from textwrap import indent, wrap
from typing import TYPE_CHECKING

from .. import catalog
from ..plan.names import ENGINE
from ..plan.own_function import SCRIPT_NAMES
from ..plan.plan import OwnFunction
from .carried import config_comment
from .constants import LINE_LENGTH, constants
from .lifting import Lifted, lift, lift_function, merge_imports, statements
from .slots import addresses

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ..plan import Plan

_LEGACY = "needs tf_keras; Keras 3 has no such fit: keras#18624"
OWN = "# ---- Your own {field}: {function}. ----"
"""The mark above the code of the user's own function, which ends at the workbench's check."""
_GIVES = {"model": " -> tf.keras.Model", "data": " -> tuple", "step": " -> tuple"}
_CALLS = {"model": "prepare_model", "data": "check_data", "step": "check_step"}
"""The functions through which the user's functions are called."""
FIRST_PORT = 2001
"""Of the addresses in the example of a TF_CONFIG."""
ENTRY = 'if __name__ == "__main__":'
ENTRY_BODY = """\
    parser = argparse.ArgumentParser()
    parser.add_argument("--run-dir", default="run", help="folder to continue from and to save in")
"""
FOR_US = "# For the workbench that exported this script, to open it again; Python ignores it."
"""What the last lines are for."""
STARTING = """
Start a process for each task of the cluster, with its own TF_CONFIG. The first one is:
{command}
"""
EVALUATOR = 'The evaluator has the same cluster, and "task": {"type": "evaluator", "index": 0}.'
ENDLESS = "Workers and parameter servers run until you stop them."
RUN_MAIN = "    main(parser.parse_args().run_dir)"
RUN_TASK = """\
    task = tf.distribute.cluster_resolver.TFConfigClusterResolver().task_type
    run = evaluate_checkpoints if task == "evaluator" else main
    run(parser.parse_args().run_dir)"""
COMPILED_MODEL = "make_model = compile_by_xla(make_model)"
COMPILED_STEP = "train_step = tf.function(train_step, jit_compile=True)  # by XLA"
TESTS = (
    (r', trained = (.*), tf\.Variable\(""\)', r" = \1"),
    (r', "trained": trained}', "}"),
    (
        r'        results = take_results\(\)\n(.*\n)*? +trained\.assign\(""\)\n',
        r'        print(f"epoch {epoch + 1}: {take_results()}")' "\n",
    ),
    (r"(train|make_worker)_batches, test_batches =", r"\1_batches, _ ="),
    (r"    train, test = ", "    train, _ = "),
    (r" +tester\.set_weights\(model\.get_weights\(\)\)\n", ""),
    (r".*(?:test_batches|validation_steps).*\n", ""),
)
"""What tests in a `main`, and what is there without tests."""
METRICS = re.compile(r"^ {4}( {4}.*(?:make_steps|compile_model)\(model\)$)", re.MULTILINE)
"""The line of `main` that makes the metrics, in the scope of the strategy."""
OUTSIDE = "# Metrics outside of the scope: Keras 3 counts wrongly in that of CentralStorage."
ALONE = 'os.environ.pop("TF_CONFIG", None)  # it names other tasks; this is one task'
"""The statement before a call of `main` in a process of one task."""


def render_script(plan: Plan) -> str:
    """Return the script, which is run and exported; the same plan gives the same bytes."""
    title, imports, numbers, slots = sections(plan, flags=True)
    before = prelude(plan)
    imports = imports.replace("import os\n", "", 1) if before else imports
    head = "\n\n".join([_docstring(plan, title), *before, imports, numbers])
    text = "\n\n\n".join([head, *slots.values(), f"{_entry(plan)}\n\n{FOR_US}"])
    return f"{text}\n{config_comment(plan, text)}\n"


def render_model(plan: Plan) -> str:
    """Return a text with the `make_data`, `make_model` and optimizer of a plan.

    The user's own model is as its function returns it, which may be without weights. Plans that
    differ in nothing else have the same text.
    """
    ours = {
        slot: _lifted(function)
        for slot, function in addresses(plan).items()
        if slot in ("examples", "data") or (slot == "model" and plan.own_model is None)
    }
    parts = ours | _own_slots(plan, ours, ("data", "model"))
    bodies = [part.body for part in parts.values()]
    numbers = constants(plan, _names(ours))
    imports = merge_imports([*parts.values(), _needed(plan), lift("import tensorflow as tf")])
    return "\n\n\n".join([*prelude(plan), imports, numbers, *bodies, ""])


def prelude(plan: Plan) -> list[str]:
    """Return the statements of a script before it imports TensorFlow."""
    if not plan.legacy_keras:
        return []
    return [f'import os\n\nos.environ["TF_USE_LEGACY_KERAS"] = "1"  # {_LEGACY}']


def needs_starter(plan: Plan) -> bool:
    """Return whether a script needs someone who starts a process of it for each task."""
    return len(plan.tasks) > 1


def start_tasks() -> str:
    """Return the code of a function that starts a script's tasks on this machine."""
    lifted = _lifted("tasks.start_tasks")
    return f"{merge_imports([lifted])}\n\n\n{lifted.body}"


def ignores_others(plan: Plan) -> bool:
    """Return whether a script ignores TF_CONFIG, which would make its strategy wait for others."""
    return catalog.STRATEGIES[plan.strategy].workers and len(plan.tasks) == 1


def _docstring(plan: Plan, title: str) -> str:
    """Return what a script is and, if it needs TF_CONFIG, how its tasks are started."""
    if not needs_starter(plan):
        return f'"""{title}"""'
    cluster: dict[str, list[str]] = {}
    for port, task in enumerate(plan.tasks, FIRST_PORT):
        kind = task.rpartition("-")[0]
        if kind != "evaluator":  # which the others do not know
            cluster.setdefault(kind, []).append(f"localhost:{port}")
    addresses_of_all = f'TF_CONFIG=\'{{"cluster": {json.dumps(cluster)},'
    own_place = json.dumps({"type": next(iter(cluster)), "index": 0})
    lines = [
        *wrap(addresses_of_all, LINE_LENGTH - 8, break_on_hyphens=False),
        f'"task": {own_place}}}\' python train.py',
    ]
    command = indent(("\n" + " " * 4).join(lines), " " * 4)
    more = [EVALUATOR] * plan.evaluator + [ENDLESS] * (not plan.synchronous)
    command = "\n".join([command, *more])
    return f'"""{title}\n{STARTING.format(command=command)}"""'


def _entry(plan: Plan) -> str:
    alone = f"    {ALONE}\n" if ignores_others(plan) else ""
    run = RUN_TASK if plan.config.evaluator else RUN_MAIN
    return f"{ENTRY}\n{alone}{ENTRY_BODY}{run}"


def sections(plan: Plan, *, flags: bool = False) -> tuple[str, str, str, dict[str, str]]:
    """Return title, imports, constants and the body of each slot.

    `flags` are those of the command line.
    """
    ours = {slot: _lifted(function) for slot, function in addresses(plan).items()}
    slots = ours | _own_slots(plan, ours)
    bodies = {slot: part.body for slot, part in slots.items()}
    bodies["main"] = _main(plan, bodies["main"])
    if "xla" in ours:
        bodies["model"] += f"\n\n\n{COMPILED_MODEL}"
    if plan.own_step is not None and plan.config.xla:
        bodies["step"] += f"\n\n\n{COMPILED_STEP}"
    entry = lift("import argparse" if flags else "")
    alone = lift("import os" if ignores_others(plan) else "")
    numbers = constants(plan, _names(ours))
    imports = merge_imports([*slots.values(), _needed(plan), entry, alone])
    return _title(plan), imports, numbers, bodies


def _main(plan: Plan, text: str) -> str:
    """Return `main` with the lines that are not for this plan taken out of their place."""
    if plan.evaluator or not plan.is_tested:
        for tests, without in TESTS:
            text = re.sub(tests, without, text)
    if plan.strategy == "central_storage" and plan.own_model is None:
        text = METRICS.sub(rf"    {OUTSIDE}\n\1", text)
    return text


def _names(parts: dict[str, Lifted]) -> frozenset[str]:
    return frozenset().union(*(part.uses for part in parts.values()))


def _needed(plan: Plan) -> Lifted:
    """Return the imports of the constants."""
    made = catalog.OPTIMIZERS[plan.optimizer].expression
    return lift("import functools" if made.startswith("functools.") else "")


@cache
def _lifted(address: str) -> Lifted:
    """Return a function of the engine, which is given as `file.function`."""
    file, _, function = address.partition(".")
    return lift_function((ENGINE / f"{file}.py").read_text(encoding="utf-8"), function)


def _own_slots(
    plan: Plan, ours: dict[str, Lifted], fields: Collection[str] = tuple(_CALLS)
) -> dict[str, Lifted]:
    """Return the slots that the user's functions fill.

    Each slot holds the text of a notebook's function, the workbench's own function through which
    it is called, if `ours` has one, and the function that scripts call. A function of a file is
    imported there, because its file may make layers, which is possible only after the devices are
    set.
    """
    slots: dict[str, Lifted] = {}
    known: frozenset[str] = frozenset()
    for field, own in plan.own_functions.items():
        if field not in fields:
            continue
        source = own.source if own.module is None and own.source else ""
        lifted = lift(source, known)
        known |= statements(source)
        check = ours.get(field, lift(""))
        apart = field == "data" and plan.data_facts is not None and plan.data_facts.given
        given = f"as_examples({own.function})" if apart else own.function
        named = _named(field, own, given, _through(plan, field) if field in ours else None)
        mark = OWN.format(field=field, function=own.function)
        body = f"{mark}\n{lifted.body}" if lifted.body else ""
        parts = [part for part in (body, check.body, named.body) if part]
        imports = (*lifted.imports, *check.imports, *named.imports)
        slots[field] = Lifted(imports, "\n\n\n".join(parts), lifted.uses)
    return slots


def _through(plan: Plan, field: str) -> tuple[str, ...]:
    """Return the function through which the user's function is called, and further arguments."""
    chosen = field == "model" and plan.optimizer != catalog.COMPILED
    return (_CALLS[field], *(["lambda: OPTIMIZER(LEARNING_RATE)"] if chosen else []))


def _named(field: str, own: OwnFunction, given: str, through: tuple[str, ...] | None) -> Lifted:
    """Return the code that gives the user's function the name by which scripts call it.

    `given` is the function in the call of the one `through` which it is called.
    """
    name = SCRIPT_NAMES[field]
    taken = ["model", "features", "labels"] if field == "step" else []
    called = f"{own.function}()"
    if through is not None:
        call, *more = through
        called = f"{call}({', '.join([given, *more, *taken])})"
    if own.module is None and own.function == name:
        if through is None:
            return lift("")
        call, *more = through
        partial = f"functools.partial({', '.join([call, given, *more])})"
        return lift(f"import functools\n\n{name} = {partial}\n")
    body = indent("\n".join([*_imports(field, own), f"return {called}"]), " " * 4)
    needed = "".join(f"import {each}\n" for each in ("importlib", "sys") if f"{each}." in body)
    head = f'def {name}({", ".join(taken)}){_GIVES[field]}:\n    """Your own {field}."""\n'
    return lift(f"{needed}\n{head}{body}\n")


def _imports(field: str, own: OwnFunction) -> Iterator[str]:
    """Yield the lines that import a user's function, if it is not a part of the script."""
    if own.module is None:
        return
    line = f"from {own.module} import {own.function}"
    if own.folder is not None:
        if not own.module.isidentifier() or iskeyword(own.module):
            line = f'{own.function} = importlib.import_module("{own.module}").{own.function}'
        yield "del sys.argv[1:]  # they are this script's"
        line += f"  # your own file {own.module}.py"
    if field == "step":  # which is called while a graph is made
        yield "with tf.init_scope():"
        line = f"    {line}"
    yield from (line, "")


def _title(plan: Plan) -> str:
    model = catalog.MODELS[plan.model].label if plan.own_model is None else "Your model"
    loop = "custom loop" if plan.loop == "custom" else f"Keras {'2 ' * plan.legacy_keras}fit"
    return f"{model} on {_data(plan)}: {plan.strategy_label} strategy, {plan.who_trains}, {loop}."


def _data(plan: Plan) -> str:
    if plan.own_data is not None:
        return "your data"
    row = catalog.DATA[plan.data]
    return row.label if row.files else f"{row.label.lower()} data"
