"""The chief of ParameterServer before it connects, and the servers after it has ended."""

import json
from pathlib import Path

from tests.forked import run_program
from tests.machines import LAPTOP
from workbench import RunConfig, make_plan, render_script

HERE = Path(__file__).parent


def test_the_chief_waits_until_a_server_listens_or_the_run_is_stopped(tmp_path: Path) -> None:
    config = RunConfig(strategy="parameter_server", workers=2)
    script = tmp_path / "train.py"
    script.write_text(render_script(make_plan(config, LAPTOP)), encoding="utf-8")
    done = run_program([HERE / "wait_for_servers.py", script])
    assert json.loads(done.stdout) == [True, True]


def test_a_server_ends_with_its_own_chief_whatever_the_time_on_the_chiefs_host(
    tmp_path: Path,
) -> None:
    config = RunConfig(strategy="parameter_server", workers=2)
    script = tmp_path / "train.py"
    script.write_text(render_script(make_plan(config, LAPTOP)), encoding="utf-8")
    done = run_program([HERE / "end_with_chief.py", script, tmp_path])
    assert done.stdout.splitlines() == ["waits"]
