"""The parser of the command line: every command has a help, and loads only what it needs."""

import subprocess
import sys

import pytest

from workbench.cli.parser import COMMANDS, make_parser

LISTED = """
import sys
from workbench.cli import main
status = main(sys.argv[1:])
print(*sys.modules, file=sys.stderr)
sys.exit(status)
"""


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_a_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        make_parser().parse_args([command, "--help"])
    assert ended.value.code == 0
    assert f"usage: workbench {command}" in capsys.readouterr().out


def test_a_command_loads_only_what_it_needs() -> None:
    typed = [sys.executable, "-c", LISTED, "tf-config", "make", "--worker", "a:1", "b:1"]
    done = subprocess.run(typed, capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stderr.split()}
    assert "workbench" in loaded
    assert not loaded & {"numpy", "pandas", "plotly", "psutil", "tensorflow"}
