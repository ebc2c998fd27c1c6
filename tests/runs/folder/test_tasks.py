"""The tasks of a run, and the TF_CONFIG that names the others."""

import socket
from contextlib import ExitStack

import pytest

from workbench.runs.folder import tasks

LED = ("chief-0", "worker-0", "worker-1", "ps-0", "evaluator-0")


def test_the_type_of_a_task_is_a_part_of_its_name() -> None:
    assert [tasks.type_of(task) for task in LED] == ["chief", "worker", "worker", "ps", "evaluator"]


def test_each_task_gets_the_same_cluster_and_its_own_place_in_it() -> None:
    configs = tasks.tf_configs(LED, {task: f"host:{at}" for at, task in enumerate(LED)})
    cluster = {"chief": ["host:0"], "worker": ["host:1", "host:2"], "ps": ["host:3"]}
    assert all(config["cluster"] == cluster for config in configs.values())
    assert configs["worker-1"]["task"] == {"type": "worker", "index": 1}
    assert configs["ps-0"]["task"] == {"type": "ps", "index": 0}


def test_an_evaluator_gets_the_cluster_but_is_not_part_of_it() -> None:
    config = tasks.tf_configs(LED, dict.fromkeys(LED, "host:1"))["evaluator-0"]
    assert config["task"] == {"type": "evaluator", "index": 0}
    assert "evaluator" not in config["cluster"]


def test_a_single_task_gets_no_variables() -> None:
    with ExitStack() as held:
        assert tasks.environments(("worker-0",), held) == {"worker-0": {}}


def test_addresses_are_distinct_ports_of_this_machine_that_only_sharers_can_take() -> None:
    names = [f"worker-{number}" for number in range(20)]
    with ExitStack() as held:
        addresses = tasks.hold_addresses(names, held)
        assert list(addresses) == names
        ports = [int(address.removeprefix("localhost:")) for address in addresses.values()]
        assert len(set(ports)) == 20
        for port in ports:
            with pytest.raises(OSError, match="in use"):
                listen(port)
            listen(port, socket.SO_REUSEPORT)
    listen(ports[0])


def listen(port: int, *options: int) -> None:
    """Listen at a port for a moment.

    Raises:
        OSError: it is taken.
    """
    with socket.socket() as server:
        for option in options:
            server.setsockopt(socket.SOL_SOCKET, option, 1)
        server.bind(("", port))
        server.listen()
