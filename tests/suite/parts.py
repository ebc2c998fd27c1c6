"""The parts of `make test` and `make test-all`: their tests, and how many run simultaneously."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FIRST_NOTEBOOK = "notebooks/01_click_to_train.ipynb"
BENCHMARKS = "tests/benchmarks"
SIDE_BY_SIDE = (
    # Twice two cores: a test waits half of its time for processes to start and end.
    *("--numprocesses", "4", "--dist", "loadfile"),
    "--no-loadscope-reorder",  # keeps the order of conftest.py: the longest files first
    "--nbval-lax",
)


@dataclass(frozen=True)
class Part:
    """A session of pytest."""

    name: str
    targets: tuple[str, ...]
    """Files and folders, from the root of the project."""
    options: tuple[str, ...] = ()
    """Options of pytest for the first pass; the second pass is serial and names its tests."""


def parts_of(command: str, room: str | None) -> tuple[Part, ...]:
    """Return the parts of the command `test` or `all`; with a room, only the part of that room.

    The tests of pages run after all other tests and one at a time, because their front end is too
    slow during other work. `test` stops them after three failures, because then all would fail,
    each after a wait of ten minutes. Benchmarks run one at a time too, because some of them wait
    until the machine is quiet.

    Raises:
        ValueError: the room does not exist.
    """
    if command == "test":
        chosen = ("-m", "(not slow or promise) and not browser")
        targets = ("tests", FIRST_NOTEBOOK)
        pages = Part("pages", ("tests/browser",), ("-m", "promise", "--maxfail", "3"))
        return Part("tests", targets, (*SIDE_BY_SIDE, *chosen)), pages
    pages, benchmarks = Part("pages", ("tests/browser",)), Part("benchmarks", (BENCHMARKS,))
    if alone := {"browser": pages, "benchmarks": benchmarks}.get(room or ""):
        return (alone,)
    if room is not None:
        return (Part(room, (target_of(room),), (*SIDE_BY_SIDE, "-m", "not browser")),)
    others = (*SIDE_BY_SIDE, "--ignore", BENCHMARKS, "-m", "not browser")
    return Part("tests", ("tests", "notebooks"), others), pages, benchmarks


def rooms() -> dict[str, str]:
    """Return the rooms by name: folders of tests, single files of tests, and the notebooks."""
    tests = sorted((ROOT / "tests").glob("**/test_*.py"))
    within = [path.relative_to(ROOT / "tests").parts for path in tests]
    folders = {parts[0]: f"tests/{parts[0]}" for parts in within if len(parts) > 1}
    files = {
        parts[0].removeprefix("test_").removesuffix(".py"): f"tests/{parts[0]}"
        for parts in within
        if len(parts) == 1
    }
    return {**folders, **files, "notebooks": "notebooks"}


def target_of(room: str) -> str:
    """Return the folder or file of a room.

    Raises:
        ValueError: the room does not exist.
    """
    if (target := rooms().get(room)) is None:
        known = ", ".join(rooms())
        raise ValueError(f"A room is one of {known}; got {room!r}. Name one of these, or none.")
    return target
