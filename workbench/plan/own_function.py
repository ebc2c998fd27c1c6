"""The user's own functions, `module:function` or `file.py:function`, which a script imports."""

from __future__ import annotations

import ast
import hashlib
import os
import sys
import tokenize
from collections.abc import Iterator
from keyword import iskeyword
from pathlib import Path
from typing import TYPE_CHECKING

from .. import catalog
from ..fields import FIELDS, is_own
from .names import DEFINED, bound_names, parse, script_names
from .plan import (
    ARRAYS,
    BATCHES,
    DATASET,
    FEATURES,
    GENERATORS,
    PAIRS,
    SEQUENCES,
    WEIGHTED,
    OwnFunction,
)
from .problems import Findings

if TYPE_CHECKING:
    from ..config import RunConfig
    from .plan import DataFacts

NOTEBOOK = ".ipynb"
OWN_ORDER = (
    "The workbench does not shuffle your data: shuffle it in {place}. A resumed run first reads "
    "all examples up to the checkpoint again, which takes as long as the first time."
)
TAKEN_APART = {
    BATCHES: "Your data set gives batches, which are taken apart to make those of the plan. It "
    "costs time for each example: return single examples to save it. An example is then: "
    "{example}. If that is only a piece of your example, end your data set with .batch(1).",
    SEQUENCES: "The batches of your keras.utils.PyDataset are taken apart to make those of the "
    "plan, which costs time for each example. One thread reads them in order, whatever its workers "
    "say. An example is: {example}.",
    GENERATORS: "The batches of your generator are taken apart to make those of the plan, which "
    "costs time for each example. A generator can be read only once, so your function is called "
    "again for each epoch. An example is: {example}.",
}
UNTESTED = {
    ARRAYS: "Your data has nothing to test on, so there are no test results. To get some, set the "
    "validation split, or return (x_train, y_train), (x_test, y_test).",
    DATASET: "Your data has nothing to test on, so there are no test results. To get some, return "
    "two parts of one form: train, test.",
}
WITH_WEIGHTS = "The third part of your data is used as sample weights."
SCRIPT_NAMES = {"model": "make_model", "data": "make_data", "step": "train_step"}
"""The function that scripts call for each field. The user's own function may have this name."""
_EXAMPLES = {
    "model": "models:build_model",
    "data": "data:load_data",
    "step": "steps:train_step",
}
_TAKEN_MODULES = {"train", "tensorflow", "keras", "numpy", *sys.stdlib_module_names}
"""The modules for which a file of the same name would stand: a run's script, and what it needs."""


def kept_name(function: str, source: str) -> str:
    """Return the name, without ending, of the file that keeps a function of a notebook.

    It depends on the text, so it shows that a file is such a text and was not changed since.
    """
    return f"{function}_{hashlib.sha256(source.encode()).hexdigest()[:8]}"


def read_own_function(findings: Findings, field: str, address: str) -> OwnFunction | None:
    """Find a function by `module:function` or `file.py:function`, or note why it is unusable."""
    where, _, function = address.rpartition(":")
    if NOTEBOOK in address:
        _refuse_notebook(findings, field, address)
        return None
    if address.endswith(".py"):
        _name_its_functions(findings, field, address)
        return None
    if not _is_name(function) or not where:
        rule = "module:function or file.py:function"
        example = _EXAMPLES[field].replace(":", ".py:")
        findings.add(field, rule, address, f"Write, for example, my_{example}.")
        return None
    if where.endswith(".py"):
        return _from_file(findings, field, where, function)
    if not all(map(_is_name, where.split("."))):
        rule = "module:function with a dotted module name, or file.py:function"
        fix = f"Write, for example, my_package.{_EXAMPLES[field]}."
        findings.add(field, rule, address, fix)
        return None
    return OwnFunction(function, module=where, source=None)


def _refuse_notebook(findings: Findings, field: str, address: str) -> None:
    """Note that a notebook was named, from which no function can be imported."""
    path, _, function = address.partition(NOTEBOOK)
    name = function.removeprefix(":") or _EXAMPLES[field].partition(":")[2]
    fix = (
        f"Save the function in a file and name it {path}.py:{name}; or, in the notebook, pass the "
        f"function itself: Workbench({field}={name})."
    )
    rule = "a function of a module or .py file, because a notebook cannot be imported"
    findings.add(field, rule, address, fix)


def module_file(module: str, asked_from: Path | None = None) -> Path | None:
    """Return the file of a module that a run imports; None for an installed module.

    `asked_from` is the folder in which the run is asked for; None: the working folder. Nothing is
    imported, because an import would run the module.
    """
    path = os.environ.get("PYTHONPATH", "")
    base = asked_from or Path.cwd()
    folders = [base, *(base / entry for entry in path.split(os.pathsep) if entry)]
    places = [Path(folder, *module.split(".")) for folder in folders]
    files = [file for place in places for file in (place / "__init__.py", place.with_suffix(".py"))]
    return next(filter(Path.is_file, files), None)


def check_own_together(findings: Findings, *functions: OwnFunction | None) -> None:
    """Note what two files of the user cannot both mean to one script: a module, or a name."""
    folders: dict[str, str] = {}
    meant: dict[str, str] = {}
    for function in functions:
        if function is None or function.source is None:
            continue
        if function.module is not None and function.folder is not None:
            known = folders.setdefault(function.module, function.folder)
            if known != function.folder:
                got = f"two files called {function.module}.py"
                fix = f"Rename one of them; they are in {known} and in {function.folder}."
                findings.add("model", "files with different names", got, fix)
            continue
        own = _meanings(function.source)
        if differing := sorted(n for n in own.keys() & meant.keys() if own[n] != meant[n]):
            rule = "a function whose names do not clash with those of your other functions"
            got = f"different meanings of {', '.join(differing)}"
            fix = "Rename them in one of the functions, or save both in one file of your own."
            findings.add("model", rule, got, fix)
        meant |= own


def _meanings(source: str) -> dict[str, str]:
    """Return the import of each top-level name of a file, or the code that binds the name."""
    tree = parse(source)
    meanings = bound_names(tree)
    for node in tree.body:
        code = ast.unparse(node)
        for name in bound_names(ast.Module([node], [])):
            meanings[name] = meanings[name] or code
    return meanings


def _is_name(text: str) -> bool:
    return text.isidentifier() and not iskeyword(text)


def _name_its_functions(findings: Findings, field: str, where: str) -> None:
    """Note that a file was named without a function, and offer the functions that it has."""
    if (read := _read(findings, field, where)) is not None:
        path, _, tree = read
        names = [f"{where}:{name}" for name in _functions(tree)]
        fix = f"Write {' or '.join(names)}." if names else f"Define a function in {path.name}."
        findings.add(field, "a function in this file, as file.py:function", where, fix)


def _read(findings: Findings, field: str, where: str) -> tuple[Path, str, ast.Module] | None:
    """Return a file's path, text and code, or note why it cannot be read."""
    try:
        path = Path(where).expanduser()
        with tokenize.open(path) as file:
            source = file.read()
        return path, source, parse(source)
    except SyntaxError as error:
        at = f", line {error.lineno}" if error.lineno else ""
        findings.add(field, "a file of valid Python", f"{where}{at}: {error.msg}", "Fix the file.")
    except FileNotFoundError:
        fix = f"It was not found in {Path.cwd() / path.parent}. Fix the path, or give it in full."
        findings.add(field, "a file that exists", where, fix)
    except (OSError, ValueError, RuntimeError) as error:
        fix = f"Fix the path: {str(error).rstrip('.')}."
        findings.add(field, "a file that can be read", where, fix)
    return None


def _functions(tree: ast.Module) -> list[str]:
    return [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]


def _from_file(findings: Findings, field: str, where: str, function: str) -> OwnFunction | None:
    if (read := _read(findings, field, where)) is None:
        return None
    path, source, tree = read
    functions = _functions(tree)
    if function not in functions:
        has = f"{path.name} has {', '.join(functions)}"
        fix = f"{has}. Name one of them." if functions else f"Define it in {path.name}."
        findings.add(field, f"a function of {path.name}", function, fix)
        return None
    folder = str(path.absolute().parent)
    if path.stem == kept_name(function, source):
        if names := _taken(tree, function, field):
            fix = "Rename them in the notebook, or save the function in a file of your own."
            findings.add(field, "names that scripts do not use themselves", ", ".join(names), fix)
        return OwnFunction(function, module=None, source=source, folder=folder)
    for rule, fix in _unimportable(path, tree):
        findings.add(field, rule, path.name, fix)
    return OwnFunction(function, path.stem, source, folder)


def _unimportable(path: Path, tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield rule and fix for each reason why a script cannot import a file by its name."""
    if path.stem in _TAKEN_MODULES:
        rule = "a file without the name of a module that the run imports, which it would replace"
        yield rule, f"Rename it, for example my_{path.name}."
    elif "." in path.stem:
        yield (
            "a file with one dot in its name, before py",
            f"Rename it {path.stem.replace('.', '_')}.py.",
        )
    nodes = ast.walk(tree)
    if any(isinstance(node, ast.ImportFrom) and node.level for node in nodes):
        fix = f"Give it as package.{path.stem}:function, from a folder where it can be imported."
        yield "a file without relative imports", fix


def _taken(tree: ast.Module, function: str, field: str) -> list[str]:
    """Return the names of a text that mean something else in scripts, sorted."""
    taken = script_names()
    return sorted(
        name
        for name, origin in bound_names(tree).items()
        if name in taken and (origin == DEFINED or origin != taken[name])
        if name != function or name != SCRIPT_NAMES[field]
    )


def find_data(
    findings: Findings, config: RunConfig, facts: DataFacts | None
) -> tuple[catalog.Data | None, OwnFunction | None]:
    """Return the data's row and the user's own function, or note why there is no data.

    Data of the catalogue has no function. Without facts there is a function but no row, because
    its data is not yet known.
    """
    if not is_own(config.data):
        return findings.known("data", config.data, catalog.DATA), None
    function = read_own_function(findings, "data", config.data)
    if function is None or facts is None:
        return None, function
    train, tests = _divided(findings, config, facts)
    row = catalog.Data("The user's data", facts.example, train_examples=train, test_examples=tests)
    _check_pipeline(findings, config, facts)
    if config.evaluator and not tests and config.validation_split is None:
        rule = "off, because your data has nothing to test on"
        split = "set the validation split, or " * (facts.kind == ARRAYS)
        fix = f"Turn it off, {split or 'or '}return examples to test on from {function.function}."
        findings.add("evaluator", rule, True, fix)
    if config.step is not None and facts.form != PAIRS:
        has = "no labels" if facts.form == FEATURES else "sample weights"
        rule = f"empty with data that has {has}: a step takes features and labels"
        findings.add("step", rule, config.step, "Write it as the train_step of your model.")
    return row, function


def notes_of_data(facts: DataFacts | None, test_examples: int) -> tuple[str, ...]:
    """Return notes about the user's own data; none about that of the catalogue."""
    if facts is None:
        return ()
    place = "its on_epoch_end" if facts.given == SEQUENCES else "your function"
    return (
        *([OWN_ORDER.format(place=place)] if facts.kind == DATASET else []),
        *([TAKEN_APART[facts.given].format(example=facts.example)] if facts.given else []),
        *([WITH_WEIGHTS] if facts.form == WEIGHTED else []),
        *([] if test_examples else [UNTESTED[facts.kind]]),
    )


def last_share(examples: int, share: float) -> int:
    """Return how many of the examples are the last share of them, as Keras counts them."""
    return examples - int(examples * (1 - share))


def _divided(findings: Findings, config: RunConfig, facts: DataFacts) -> tuple[int, int]:
    """Return the examples to train on and to test on, or note why they cannot be divided.

    They are divided as by Keras, whose `validation_split` takes the last ones.
    """
    share, train = config.validation_split, facts.train_examples
    known = FIELDS["validation_split"].range
    if share is None or (known and not known.holds(share)):  # which is noted by its range
        return train, facts.test_examples
    if facts.test_examples:
        rule = f"empty, because your data has {facts.test_examples:,} examples to test on"
        findings.add("validation_split", rule, share, "Leave it empty.")
    elif facts.kind == DATASET:
        rule = "empty with a data set, which may give its examples in another order each time"
        fix = (
            "Return two; of a tf.data.Dataset, dataset.skip(n) and dataset.take(n), taken before "
            "any shuffle."
        )
        findings.add("validation_split", rule, share, fix)
    elif not 0 < (tests := last_share(train, share)) < train:
        rule = f"a share that leaves examples to train on and to test on, of {train:,}"
        findings.add("validation_split", rule, share, "Set it to 0.2, for example.")
    else:
        return train - tests, tests
    return train, facts.test_examples


def _check_pipeline(findings: Findings, config: RunConfig, facts: DataFacts) -> None:
    fitting = ("usual", "cached") if facts.kind == DATASET else ("usual", "indexed", "numpy")
    what = "your own data set, which is read in its own order"
    if facts.kind == ARRAYS:
        what = "your own arrays, which are not written to files"
    if config.pipeline not in fitting:
        rule = f"{' or '.join(fitting)} with {what}"
        findings.add("pipeline", rule, config.pipeline, "Choose usual.")
    strategy = catalog.STRATEGIES.get(config.strategy)
    if facts.given == SEQUENCES and strategy is not None and not strategy.synchronous:
        rule = "arrays, a tf.data.Dataset or generators with asynchronous workers, because"
        why = "all of them would read one PyDataset, each at its own pace"
        fix = "Return one of these, or choose another strategy."
        findings.add("data", f"{rule} {why}", "a keras.utils.PyDataset", fix)
    if config.auto_shard == "file" and not facts.reads_files:
        rule = "auto, data or off: your data is not read from TFRecord, text or fixed-length files"
        findings.add("auto_shard", rule, "file", "Choose auto.")
    if facts.kind == DATASET and config.last_batch == "keep":
        rule = "drop or repeat with your own data set, which gives only full batches"
        findings.add("last_batch", rule, "keep", "Choose drop or repeat.")
