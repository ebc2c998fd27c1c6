"""The check of a Ray cluster before a run: whether it answers, and has places for the tasks."""

import os
import venv
from pathlib import Path

import pytest

from tests.launchers.cluster import free_ports
from workbench.config import RunConfig
from workbench.launchers import ray_driver
from workbench.launchers.job import JobFolder
from workbench.launchers.ray_cluster import Ray


def asked(**fields: object) -> RunConfig:
    return RunConfig(launcher="ray", **fields)


def test_a_new_cluster_on_this_machine_has_its_cpus() -> None:
    assert f"{os.cpu_count()} CPUs" in Ray().reach(asked()).summary
    assert Ray().problems(asked(), ["worker-0"]) == []


def test_more_tasks_than_places_are_refused_immediately() -> None:
    many = [f"worker-{at}" for at in range((os.cpu_count() or 1) + 1)]
    (problem,) = Ray().problems(asked(), many)
    assert problem.field == "workers"
    assert "add nodes" in problem.fix
    (problem,) = Ray().problems(asked(gpus_per_task=1), ["worker-0"])
    assert problem.rule == "at most 0, which is all that the cluster has room for"


def test_an_address_that_does_not_answer_is_refused_with_the_fix() -> None:
    nobody = f"127.0.0.1:{free_ports(1)[0]}"
    (problem,) = Ray().problems(asked(ray_address=nobody), ["worker-0"])
    assert (problem.field, problem.got) == ("ray_address", nobody)
    assert "ray start --head" in problem.fix
    assert not Ray().reach(asked(ray_address=nobody)).reachable


def test_a_node_without_the_jobs_folder_has_an_error_that_no_restart_helps(tmp_path: Path) -> None:
    ray_driver.check_shared(tmp_path, 1)
    with pytest.raises(RuntimeError) as caught:
        ray_driver.check_shared(tmp_path / "elsewhere", 1)
    found = ray_driver.UNSHARED.search(f"Training failed due to worker errors:\n{caught.value}\n")
    assert found is not None
    (tmp_path / "ray.log").write_text(f"Ray's own line\n{found[0]}\n")
    task, cause = JobFolder(tmp_path).last_words(("worker-0", "worker-1")) or ("", "")
    assert task == "worker-1"
    assert cause.startswith("All hosts must share the folder of a run; ")


def test_a_python_without_ray_is_refused_with_the_package_to_install(tmp_path: Path) -> None:
    venv.create(tmp_path, symlinks=True)
    bare = str(tmp_path / "bin" / "python")
    (problem,) = Ray().problems(asked(interpreter=bare), ["worker-0"])
    assert problem.field == "launcher"
    assert "tf-distribute-workbench[ray]" in problem.fix
