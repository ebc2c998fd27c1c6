"""`workbench explain`: a field, a name, a text and a log."""

import re

from tests.cli.terminal import Terminal
from workbench.fields import FIELDS


def test_a_field_is_explained_with_its_help_and_its_problems(terminal: Terminal) -> None:
    shown = terminal.type("explain", "seed", "epochs").stdout
    assert " ".join(shown.split()).startswith(f"seed: {FIELDS['seed'].help}")
    assert "seed must be from 0 to 2147483647\n  fix  Set it to 42, for example.\n" in shown
    assert "epochs: " in shown


def test_the_terminal_names_the_command_that_tells_more(terminal: Terminal) -> None:
    done = terminal.type("run", "--seed", "-1", "--replicas", "2", "--global-batch-size", "65")
    command = re.search("More about them: workbench (.*)", done.stderr)
    assert command is not None
    more = terminal.type(*command[1].split())
    assert more.returncode == 0
    assert "seed must be from 0" in more.stdout
    assert "global_batch_size must be a multiple of the … replicas" in more.stdout


def test_an_error_and_a_log_are_explained(terminal: Terminal) -> None:
    text = "ResourceExhaustedError: OOM when allocating tensor"
    shown = terminal.type("explain", *text.split()).stdout
    assert shown.startswith("The memory of a device or of the machine was used up.\n  fix  Make")
    assert terminal.type("explain", answer=f"line\n{text}\n").stdout == shown
    assert terminal.type("explain", "out-of-memory").stdout == shown


def test_an_unknown_error_says_what_to_give(terminal: Terminal) -> None:
    done = terminal.type("explain", "the", "weather")
    assert done.returncode == 1
    assert done.stderr == (
        "No error of the workbench is like this: the weather. Give the whole first line of the "
        "error, or for failed training the last lines of its log.\n"
    )
    assert "an empty text" in terminal.type("explain").stderr
