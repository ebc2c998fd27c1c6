"""The words of all texts that people see: plain ones, and the same ones everywhere."""

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RETIRED = (
    r"\bgo on with\b",
    r"\bgoes on from\b",
    r"\bcopies go to\b",
    r"\bbring back\b",
    r"\bnodes with\b",
    r"\bthe usual one\b",
    r"\bmeaning of the sizes\b",
    r"\bas the plan chooses\b",
    r"\benough for a speed\b",
    r"\bchosen for you\b",
    r"\bin its present form\b",
    r"\bcounts? in full\b",
    r"\b(?:examples|\d|\}|sizes?|MiB|GiB) a replica\b",
    r"\bsays nothing about GPUs\b",
    r"\bdealt out\b",
    r"\band there is none\b",
    r"\bwaits for its turn\b",
    r"\bdone again from\b",
    r"\bno such variant\b",
    r"\bOnly one action\b",
    r"\ba name of its own\b",
)
"""What people had to read twice; a plainer text is in its place."""
SHOWN = re.compile(
    r"""trans\.(?:__|_n)\(\s*((?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`)[\s+,]*)+"""
)


def of_python(path: Path) -> Iterator[str]:
    """Yield the texts of a module, except its docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) not in documented:
                yield node.value
        elif isinstance(node, ast.JoinedStr):
            yield re.sub(r"\{[^{}]*\}", "{}", ast.unparse(node))


def of_notebook(path: Path) -> Iterator[str]:
    """Yield the texts of a notebook's cells."""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        yield "".join(cell["source"])


def public_texts() -> Iterator[tuple[Path, str]]:
    """Yield every text that a person sees, with its file."""
    for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")):
        yield path, path.read_text(encoding="utf-8")
    for path in ROOT.glob("notebooks/*.ipynb"):
        yield from ((path, text) for text in of_notebook(path))
    for path in ROOT.glob("workbench/**/*.py"):
        if "engine" not in path.parts:
            yield from ((path, text) for text in of_python(path))
    for path in ROOT.glob("extension/src/**/*.ts"):
        if path.parent.name != "test":
            found = SHOWN.finditer(path.read_text(encoding="utf-8"))
            yield from ((path, match.group()) for match in found)


@pytest.mark.parametrize("retired", RETIRED)
def test_a_retired_word_is_in_no_text(retired: str) -> None:
    pattern = re.compile(retired, re.IGNORECASE)
    found = [f"{path.relative_to(ROOT)}: {text}" for path, text in TEXTS if pattern.search(text)]
    assert found == []


def test_texts_of_every_kind_are_searched() -> None:
    kinds = Counter(path.suffix for path, _ in TEXTS)
    assert kinds.keys() == {".md", ".ipynb", ".py", ".ts"}
    assert kinds[".py"] > 5_000
    assert kinds[".ts"] > 300


def test_contributing_explains_forty_words() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| [^|]+ \|", text.partition("## Forty words")[2], re.MULTILINE)
    assert len(rows) == 1 + 40


TEXTS = tuple(public_texts())
