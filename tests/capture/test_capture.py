"""Functions of a notebook's cells as standalone text."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.capture.notebook import Notebook, opened
from workbench.capture import capture
from workbench.config import ConfigError

ROOT = Path(__file__).parents[2]


@pytest.fixture
def notebook() -> Iterator[Notebook]:
    with opened() as notebook:
        yield notebook


def executed(source: str) -> dict[str, Any]:
    """Execute the text alone, and return its names."""
    names: dict[str, Any] = {"__name__": "alone"}
    exec(compile(source, "alone.py", "exec"), names)
    return names


def refused(notebook: Notebook, function: str) -> str:
    with pytest.raises(ConfigError) as caught:
        capture(notebook[function])
    assert {problem.field for problem in caught.value.problems} == {"model"}
    return str(caught.value)


def test_a_function_is_captured_with_everything_it_uses_and_nothing_else(
    notebook: Notebook,
) -> None:
    notebook.run(
        "import json, math\nfrom fractions import Fraction as Part",
        "WIDTHS = [8, 4]\nUNUSED = 1",
        '''
        def half(width):
            """Halve."""
            return Part(width, 2)  # exact


        def build():
            return [math.sqrt(half(width)) for width in WIDTHS]
        ''',
    )
    captured = capture(notebook["build"])
    assert captured.function == "build"
    assert captured.source == (
        "from fractions import Fraction as Part\n"
        "import math\n"
        "\n"
        "WIDTHS = [8, 4]\n"
        "\n\n"
        'def half(width):\n    """Halve."""\n    return Part(width, 2)  # exact\n'
        "\n\n"
        "def build():\n    return [math.sqrt(half(width)) for width in WIDTHS]\n"
    )
    assert executed(captured.source)["build"]() == notebook["build"]()


def test_names_are_found_wherever_they_are_read(notebook: Notebook) -> None:
    notebook.run(
        "import functools, math\nSIZE = 3\nSCALE = 2\nBASE = 7\nSTART = 1",
        """
        def twice(function):
            @functools.wraps(function)
            def inner(*arguments):
                return SCALE * function(*arguments)
            return inner

        class Parent:
            base = BASE

        class Child(Parent):
            def __call__(self, size=SIZE):
                return [self.base + START + n for n in range(size)]
        """,
        """
        @twice
        def total(child: Child) -> float:
            return math.fsum(child())

        def build():
            return total(Child())
        """,
    )
    captured = capture(notebook["build"])
    names = executed(captured.source)
    assert names["build"]() == notebook["build"]() == 54
    order = [node.name for node in ast.parse(captured.source).body if hasattr(node, "name")]
    assert order == ["twice", "Parent", "Child", "total", "build"]


def test_a_cell_that_was_run_again_gives_its_newest_text(notebook: Notebook) -> None:
    notebook.run("SIZE = 1", "def build():\n    return SIZE", "SIZE = 2")
    assert executed(capture(notebook["build"]).source)["build"]() == 2
    notebook.run("def build():\n    return -SIZE")
    assert executed(capture(notebook["build"]).source)["build"]() == -2


def test_functions_that_call_each_other_are_each_taken_once(notebook: Notebook) -> None:
    notebook.run(
        """
        def even(n):
            return n == 0 or odd(n - 1)

        def odd(n):
            return n != 0 and even(n - 1)
        """
    )
    source = capture(notebook["even"]).source
    assert source.count("def ") == 2
    assert executed(source)["even"](10)


VALUES = [
    "None", "True", "-3", "1e-9", "float('inf')", "'a \"quoted\" word'", "b'bytes'",
    "(1,)", "()", "{}", "set()", "{3, 1}", "frozenset({2})", "{'a': [1, (2, None)], 3: {4}}",
    "range(3)", "pathlib.Path('data') / 'x'", "[pathlib.Path('data')]", "list(range(200))",
    "{f'word {n}': n for n in range(50)}",
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES)
def test_a_plain_value_is_the_same_in_the_text(notebook: Notebook, value: str) -> None:
    notebook.run(f"import pathlib\nVALUE = {value}", "def build():\n    return VALUE")
    source = capture(notebook["build"]).source
    assert executed(source)["build"]() == notebook["VALUE"]
    assert max(map(len, source.splitlines())) <= 100


def test_a_number_of_numpy_is_the_same_number_in_the_text(notebook: Notebook) -> None:
    notebook.run(
        "import numpy as np\nCLASSES = np.array([3, 9]).max() + 1",
        "def build():\n    return CLASSES",
    )
    assert (
        capture(notebook["build"]).source == "CLASSES = 10\n\n\ndef build():\n    return CLASSES\n"
    )


ARRAYS = [
    "[1.5, -0.0, 1e-30, np.inf, -np.inf, np.nan]", "np.float32([0.1, 0.2]) / 3", "[[1, 2], [3, 4]]",
    "np.arange(6, dtype='int8').reshape(1, 2, 3)", "np.float16([0.1])", "[True, False]",
    "['cat', 'a longer word']", "['four']", "np.array([1, 2], dtype='>i2')", "np.random.rand(200)",
    "np.array([2**63], dtype='uint64')", "np.float32(np.random.rand(1000))[::3].reshape(2, -1)",
]  # fmt: skip


@pytest.mark.parametrize("value", ARRAYS)
def test_a_small_array_is_the_same_array_in_the_text(notebook: Notebook, value: str) -> None:
    notebook.run(
        f"import numpy as np\nVALUE = np.asarray({value})", "def build():\n    return VALUE"
    )
    source = capture(notebook["build"]).source
    expected, found = notebook["VALUE"], executed(source)["build"]()
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    assert found.tobytes() == expected.tobytes()
    assert max(map(len, source.splitlines())) <= 100
    assert source.splitlines()[0] == "import numpy as np"


def test_the_short_digits_of_a_number_are_written(notebook: Notebook) -> None:
    notebook.run(
        "import numpy\nMEANS = numpy.array([0.1, 0.5], 'float32')", "def build():\n    return MEANS"
    )
    written = 'import numpy as np\n\nMEANS = np.array([0.1, 0.5], dtype="float32")\n'
    assert capture(notebook["build"]).source.startswith(written)


def test_an_array_does_not_need_the_name_np(notebook: Notebook) -> None:
    notebook.run(
        "import numpy\nimport textwrap as np\nMEANS = numpy.ones(2)",
        "def build():\n    return np.dedent, MEANS",
    )
    _, means = executed(capture(notebook["build"]).source)["build"]()
    assert means.tolist() == [1.0, 1.0]


def test_imports_stay_as_they_were_typed(notebook: Notebook) -> None:
    notebook.run(
        "import xml.dom\nimport xml.etree.ElementTree",
        "from collections import abc\nfrom os.path import join as joined",
        """
        def build():
            return xml.etree.ElementTree, abc.Sized, joined
        """,
    )
    assert capture(notebook["build"]).source.split("\n\n\n")[0].splitlines() == [
        "from collections import abc",
        "from os.path import join as joined",
        "import xml.dom",
        "import xml.etree.ElementTree",
    ]


def test_a_failed_import_set_to_none_stays_none(notebook: Notebook) -> None:
    notebook.run(
        """
        try:
            import no_such_package as extra
        except ImportError:
            extra = None
        """,
        "def build():\n    return extra",
    )
    source = capture(notebook["build"]).source
    assert source.splitlines()[0] == "extra = None"
    assert executed(source)["build"]() is None


@pytest.mark.slow
def test_the_several_modules_of_tf_keras_are_imported_as_they_were_typed() -> None:
    subprocess.run([sys.executable, "-m", "tests.capture.keras_modules"], cwd=ROOT, check=True)


def test_a_value_without_an_import_is_imported_from_its_home(
    notebook: Notebook,
) -> None:
    notebook.run(
        "lines = __import__('textwrap')\nmeasure = lines.dedent",
        "def build():\n    return lines, measure",
    )
    source = capture(notebook["build"]).source
    assert "import textwrap as lines\n" in source
    assert "from textwrap import dedent as measure\n" in source


@pytest.mark.parametrize(
    ("cells", "parts"),
    [
        (
            ["import collections\nLIVE = collections.Counter('ab')", "def build():\n    LIVE"],
            ["build with LIVE, an object of the notebook (collections.Counter)",
             "Create it inside build."],
        ),
        (
            ["import sys\nFILE = sys.__stdin__", "def read():\n    return FILE.read()",
             "def build():\n    return read()"],
            ["build with FILE, an open file", "Open it inside read."],
        ),
        (
            ["import numpy as np\nTABLE = np.zeros(999)", "def build():\n    return TABLE"],
            ["TABLE, an object of the notebook (numpy.ndarray)",
             "Save it to a file, and read the file inside build."],
        ),
        (
            ["import numpy as np\nMEANS = np.zeros(3, complex)", "def build():\n    return MEANS"],
            ["MEANS, an object of the notebook (numpy.ndarray)",
             "Write its 3 numbers as a list, and create the array inside build."],
        ),
        (
            ["import numpy as np\nMASK = np.zeros(4096, bool)", "def build():\n    return MASK"],
            ["MASK, a value of", "Save it to a file, and read the file inside build."],
        ),
        (
            ["%%time\ndef build():\n    return 1"],
            ["build, whose source text cannot be found", "Remove %%time from its cell"],
        ),
        (
            ["LONG = 'a' * 30_000", "def build():\n    return LONG"],
            ["LONG, a value of 30,009 characters", "read the file inside build."],
        ),
        (
            ["def make(n):\n    def build():\n        return n\n    return build",
             "build = make(3)"],
            ["build, a function that uses n of an enclosing function", "give it n as arguments"],
        ),
        (
            ["shorter = lambda text: text[:3]", "def build():\n    return shorter('abcd')"],
            ["shorter, a lambda", "def shorter(...): ..."],
        ),
        (
            ["def first():\n    return 1\nsecond = first", "def build():\n    return second()"],
            ["second, another name for first", "Call it first"],
        ),
        (
            ["def build():\n    return WIDHT"],
            ["WIDHT, which build uses but which is not defined", "Run the cell that defines it"],
        ),
        (
            ["def build():\n    get_ipython()"],
            ["get_ipython, which exists only in a notebook", "a script runs outside the notebook"],
        ),
    ],
)  # fmt: skip
def test_values_that_cannot_be_captured_are_named_with_a_fix(
    notebook: Notebook, cells: list[str], parts: list[str]
) -> None:
    notebook.run(*cells)
    message = refused(notebook, "build")
    for part in parts:
        assert part in message


def test_all_problems_are_reported_together(notebook: Notebook) -> None:
    notebook.run(
        "A, B = object(), object()",
        "def helper():\n    return B",
        "def build():\n    return A, helper()",
    )
    assert len(refused(notebook, "build").splitlines()) == 2


@pytest.mark.parametrize(
    ("value", "got"),
    [("lambda: 1", "a lambda"), ("3", "int 3"), ("len", "builtin_function_or_method")],
)
def test_only_a_function_is_captured(notebook: Notebook, value: str, got: str) -> None:
    notebook.run(f"build = {value}")
    message = refused(notebook, "build")
    assert got in message
    assert "def name(): ..." in message
