"""`workbench tf-config`: made, pasted into shells, checked, and tried over real sockets."""

from __future__ import annotations

import json
import subprocess

from tests.cli.terminal import Terminal, last_json
from tests.ports import free_ports

HOSTS = ("node1.example:2222", "node2.example:2222")


def test_the_printed_lines_set_the_variable_of_each_task(terminal: Terminal) -> None:
    made = terminal.type("tf-config", "make", "--worker", *HOSTS, "--chief", "node0.example:1")
    assert made.returncode == 0, made.stderr
    lines = made.stdout.splitlines()
    assert lines[::2] == ["# chief-0", "# worker-0", "# worker-1"]
    shell = subprocess.check_output(["sh", "-c", f"{lines[5]}; printenv TF_CONFIG"], text=True)
    tf_config = json.loads(shell)
    assert tf_config["task"] == {"type": "worker", "index": 1}
    assert tf_config["cluster"] == {"chief": ["node0.example:1"], "worker": list(HOSTS)}


def test_the_tf_configs_are_printed_as_json(terminal: Terminal) -> None:
    made = terminal.type("tf-config", "make", "--worker", *HOSTS, "--evaluators", 1, "--json")
    assert list(last_json(made)) == ["worker-0", "worker-1", "evaluator-0"]


def test_only_one_task_is_printed(terminal: Terminal) -> None:
    made = terminal.type("tf-config", "make", "--worker", *HOSTS, "--task", "worker-1")
    assert made.stdout.startswith("# worker-1\nexport TF_CONFIG=")
    assert len(made.stdout.splitlines()) == 2
    wrong = terminal.type("tf-config", "make", "--worker", *HOSTS, "--task", "worker-2")
    assert wrong.returncode == 2
    assert "--task must be one of worker-0, worker-1; got worker-2." in wrong.stderr


def test_all_problems_are_reported_together(terminal: Terminal) -> None:
    made = terminal.type("tf-config", "make", "--worker", "node1", "node2:1", "--ps", "node2:1")
    assert made.returncode == 2
    assert len(made.stderr.splitlines()) == 4
    assert "node2:1 2 times. Give each task of a host its own port." in made.stderr


def test_the_tf_config_of_the_environment_is_checked(terminal: Terminal) -> None:
    absent = terminal.type("tf-config", "check")
    assert absent.returncode == 1
    assert "workbench tf-config make" in absent.stderr
    configs = last_json(terminal.type("tf-config", "make", "--json", "--worker", "127.0.0.1:2222"))
    terminal.environment["TF_CONFIG"] = json.dumps(configs["worker-0"])
    checked = terminal.type("tf-config", "check")
    assert checked.returncode == 0, checked.stderr
    assert checked.stdout.startswith("This is worker-0 of a cluster of 1 worker.")


def test_two_tasks_meet_and_a_single_task_names_the_missing_one(terminal: Terminal) -> None:
    addresses = [f"127.0.0.1:{port}" for port in free_ports(2)]
    made = last_json(terminal.type("tf-config", "make", "--json", "--worker", *addresses))
    one, two = (json.dumps(each) for each in made.values())
    other = terminal.begin("tf-config", "meet", two)
    met = terminal.type("tf-config", "meet", one)
    assert met.returncode == 0, met.stderr
    assert "All tasks can reach each other." in met.stdout
    assert other.communicate()[0].count("All tasks can reach each other.") == 1

    alone = terminal.type("tf-config", "meet", one, "--seconds", "1", "--json")
    assert alone.returncode == 1
    answer = last_json(alone)["tasks"]["worker-1"]
    assert answer["address"] == addresses[1]
    assert "nothing listens there" in answer["problem"]
