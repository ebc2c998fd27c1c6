"""The TF_CONFIG of each task of a run, and its record in the run folder."""

from __future__ import annotations

import json

from tests.runs.run_folders import Runs
from tests.waiting import LIMIT_SECONDS
from workbench.runs import start_script
from workbench.runs.folder.state import supervisor_events, tf_configs
from workbench.runs.records.progress import read_progress

PRINTS = """
import os  # not WORKBENCH_STOP_FD
print(os.environ.get("TF_CONFIG"))
OPTIONS: dict = {}
"""
TASKS = ["chief-0", "worker-0", "worker-1", "ps-0", "evaluator-0"]


def test_the_run_keeps_the_tf_config_of_each_task(runs: Runs) -> None:
    run = start_script(runs.make(PRINTS, tasks=TASKS).dir)
    run.wait(LIMIT_SECONDS)
    kept = tf_configs(supervisor_events(run.dir))
    assert list(kept) == TASKS
    log = (run.dir / "chief-0" / "log.txt").read_text()
    assert json.loads(log) == kept["chief-0"]
    cluster = kept["worker-1"]["cluster"]
    assert [len(cluster[kind]) for kind in ("chief", "worker", "ps")] == [1, 2, 1]
    assert len({address for each in cluster.values() for address in each}) == 4
    assert kept["worker-1"]["task"] == {"type": "worker", "index": 1}
    lanes = {lane.task: lane for lane in read_progress(run.dir).lanes}
    assert json.loads(lanes["ps-0"].tf_config) == kept["ps-0"]


def test_a_single_task_has_no_tf_config(runs: Runs) -> None:
    run = start_script(runs.make(PRINTS).dir)
    run.wait(LIMIT_SECONDS)
    assert run.log().strip() == "None"
    assert tf_configs(supervisor_events(run.dir)) == {}
    assert [lane.tf_config for lane in read_progress(run.dir).lanes] == [""]
