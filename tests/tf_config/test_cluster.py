"""`TF_CONFIG`: all problems that make TensorFlow fail or wait are reported with their fixes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from workbench.tf_config import Identity, TFConfigError, make_cluster, read_tf_config, resolve

TWO = ["node1:2222", "node2:2222"]
FULL = {"chief": ["node0:2222"], "worker": TWO, "ps": ["node3:2222"]}


def problems(work: Callable[[], object]) -> str:
    with pytest.raises(TFConfigError) as raised:
        work()
    return "\n".join(map(str, raised.value.problems))


def text(cluster: Any, kind: str = "worker", index: Any = 0) -> str:
    return json.dumps({"cluster": cluster, "task": {"type": kind, "index": index}})


def test_each_task_gets_the_cluster_and_its_own_identity() -> None:
    cluster = make_cluster(FULL, evaluators=1)
    names = ["chief-0", "worker-0", "worker-1", "ps-0", "evaluator-0"]
    assert [str(task) for task in cluster.tasks] == names
    assert json.loads(cluster.tf_config(cluster.tasks[2])) == {
        "cluster": FULL,
        "task": {"type": "worker", "index": 1},
    }
    for task in cluster.tasks:
        read, identity = read_tf_config(cluster.tf_config(task))
        assert (dict(read.addresses), identity) == (dict(cluster.addresses), task)
        assert read.sha256 == cluster.sha256


def test_an_index_may_be_text_as_tensorflow_allows() -> None:
    assert read_tf_config(text({"worker": TWO}, index="1"))[1] == Identity("worker", 1)


@pytest.mark.parametrize(
    ("cluster", "problem"),
    [
        ({"worker": ["node1:2222", "node1:2222"]}, "got node1:2222 2 times. Give each task"),
        ({"worker": ["node1"]}, 'cluster.worker[0] must be host:port, with a port from 1 to 65,53'),
        ({"worker": ["node1:70000"]}, 'got "node1:70000"'),
        ({"worker": ["::1:2222"]}, "an IPv6 address as [2001:db8::1]:2222"),
        ({"worker": TWO, "ps": ["node3:1"]}, "cluster.chief must be present if the clust"),
        ({"chief": ["a:1", "b:1"], "worker": TWO}, "cluster.chief must be one address at most"),
        ({"chief": ["a:1"], "ps": ["b:1"]}, "cluster.worker must be present if the cluster has"),
        ({}, "cluster.worker must be at least one address; got none"),
        ({"worker": TWO, "evaluator": ["c:1"]}, "an evaluator knows the cluster but is not"),
        ({"workers": TWO, "chief": ["c:1"]}, "Did you mean worker?"),
        ({"worker": ["localhost:1", "node2:2"]}, "localhost:1, which means another machine on ea"),
        ({"worker": "node1:2222"}, "cluster must be lists of addresses by type of task"),
    ],
)  # fmt: skip
def test_a_problem_of_a_cluster_is_named(cluster: dict[str, Any], problem: str) -> None:
    assert problem in problems(lambda: read_tf_config(text(cluster)))


def test_several_loopback_addresses_are_valid() -> None:
    make_cluster({"worker": ["localhost:1", "127.0.0.1:2", "[::1]:3"]})


@pytest.mark.parametrize(
    ("kind", "index", "problem"),
    [
        ("worker", 2, "task.index must be from 0 to 1, as the cluster has 2 of type worker; got 2"),
        ("worker", -1, "task must be a type and an index from 0"),
        ("worker", True, "task must be a type and an index from 0"),
        ("ps", 0, "task.type must be one of worker, evaluator"),
        ("wroker", 0, "Did you mean worker?"),
    ],
)
def test_a_task_missing_in_the_cluster_is_named(kind: str, index: Any, problem: str) -> None:
    assert problem in problems(lambda: read_tf_config(text({"worker": TWO}, kind, index)))


@pytest.mark.parametrize("wrong", ["{", "[]", "3"])
def test_text_that_is_not_an_object_is_refused(wrong: str) -> None:
    assert "TF_CONFIG must be a JSON object" in problems(lambda: read_tf_config(wrong))


def test_all_problems_are_reported_together() -> None:
    wrong = {"worker": ["node1", "a:1", "a:1"], "ps": ["b:1"]}
    assert len(problems(lambda: make_cluster(wrong)).splitlines()) == 3


def test_hosts_that_cannot_be_looked_up_are_named() -> None:
    cluster = make_cluster({"worker": ["no.such.host.invalid:2222", "192.0.2.1:2222"]})
    found = problems(lambda: resolve(cluster))
    assert "the address of worker-0 must be one that this machine can look up" in found
    assert "worker-1" not in found
