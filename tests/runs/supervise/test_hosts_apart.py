"""Real workers on two hosts with their own addresses; their slow link is then cut.

The hosts are network namespaces. The test restarts the pods in place of Kubernetes.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.launchers.hosts import ADDRESSES, Hosts, missing, two_hosts
from tests.launchers.pods import begin_pod
from tests.waiting import LIMIT_SECONDS, until
from workbench.config import RunConfig
from workbench.runs import start_run
from workbench.runs.folder.state import supervisor_events, tf_configs

DELAY_SECONDS = 0.005
CONFIG = RunConfig(
    launcher="kubernetes",
    container="image",
    volume_claim="runs",
    strategy="multi_worker_mirrored",
    workers=2,
    steps_per_call=10,
    steps_per_epoch=50,
    epochs=3,
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(missing()), reason=f"network namespaces need: {missing()}"),
]


@pytest.fixture
def hosts() -> Iterator[Hosts]:
    with two_hosts(DELAY_SECONDS) as made:
        yield made


def test_a_cut_of_a_slow_link_is_logged_and_no_steps_are_lost(tmp_path: Path, hosts: Hosts) -> None:
    run = start_run(CONFIG, tmp_path)
    with ExitStack() as ended:
        pods = [begin_pod(run, hosts, host) for host in (0, 1)]
        for pod in pods:
            ended.callback(pod.kill)
        until(lambda: run.progress.step >= 60)
        workers = tf_configs(supervisor_events(run.dir))["worker-0"]["cluster"]["worker"]
        assert [worker.rpartition(":")[0] for worker in workers] == list(ADDRESSES)
        hosts.link.is_cut.set()
        assert pods[0].wait(LIMIT_SECONDS) != 0
        log = run.logs(200)["worker-0"]
        assert "stopped sending heartbeats" in log
        hosts.link.is_cut.clear()
        pods[1].wait(LIMIT_SECONDS)
        for host in (0, 1):
            ended.callback(begin_pod(run, hosts, host).kill)
        assert run.wait(LIMIT_SECONDS) == "finished"
    starts = [event for event in run.events() if event["event"] == "start"]
    begun = [event["step"] for event in starts if event["task"] == "worker-0"]
    assert begun[0] == 0
    assert begun[-1] >= 50
    assert run.missing == []
    assert len(run.replica_steps()) == 2 * 150
