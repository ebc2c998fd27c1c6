"""CPU, memory and the limits of control groups, read from real folders."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from workbench.devices import cgroups, machine

Tree = Callable[[dict[str, str]], Path]


def test_this_machine_has_cores_and_memory() -> None:
    assert 1 <= machine.cpu_cores() <= (os.cpu_count() or 1)
    assert 0 < machine.memory_bytes() <= psutil.virtual_memory().total * 1.01


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no CPU affinity here")
def test_the_cores_follow_the_cpu_affinity() -> None:
    code = (
        "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))});"
        "from workbench.devices.machine import cpu_cores; print(cpu_cores())"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert answer.stdout.strip() == b"1"


def test_a_quota_of_version_2_limits_the_cores_and_is_rounded_up(tree: Tree) -> None:
    root = tree({"proc/self/cgroup": "0::/job\n", "sys/fs/cgroup/job/cpu.max": "50000 100000\n"})
    assert cgroups.cpu_quota(root) == 0.5
    assert machine.cpu_cores(root) == 1


def test_a_quota_of_version_1_is_found_at_the_mount_of_a_container(tree: Tree) -> None:
    root = tree(
        {
            "proc/self/cgroup": "3:cpu,cpuacct:/docker/abc\n2:memory:/docker/abc\n",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "150000\n",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
        }
    )
    assert cgroups.cpu_quota(root) == 1.5


@pytest.mark.parametrize("text", ["max 100000", "", "-1"])
def test_no_quota_is_none(tree: Tree, text: str) -> None:
    root = tree({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": text})
    assert cgroups.cpu_quota(root) is None


def test_the_tightest_memory_limit_of_all_parents_holds(tree: Tree) -> None:
    root = tree(
        {
            "proc/self/cgroup": "0::/slice/job\n",
            "sys/fs/cgroup/slice/memory.max": "1000000\n",
            "sys/fs/cgroup/slice/memory.current": "700000\n",
            "sys/fs/cgroup/slice/memory.stat": "anon 400000\ninactive_file 200000\n",
            "sys/fs/cgroup/slice/job/memory.max": "max\n",
        }
    )
    assert cgroups.memory_limit(root) == cgroups.MemoryLimit(1_000_000, 500_000)
    assert machine.memory_bytes(root) == 1_000_000


def test_no_limit_of_version_1_leaves_the_installed_memory(tree: Tree) -> None:
    root = tree(
        {
            "proc/self/cgroup": "2:memory:/\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": str(2**63 - 4096),
            "sys/fs/cgroup/memory/memory.usage_in_bytes": "1000",
            "sys/fs/cgroup/memory/memory.stat": "inactive_file 1\ntotal_inactive_file 300\n",
        }
    )
    installed = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert machine.memory_bytes(root) == installed
    assert cgroups.memory_limit(root) == cgroups.MemoryLimit(2**63 - 4096, 700)


def test_without_control_groups_there_is_no_limit(tmp_path: Path) -> None:
    assert cgroups.cpu_quota(tmp_path) is None
    assert cgroups.memory_limit(tmp_path) is None


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS has no /proc/cpuinfo")
def test_the_cpu_model_is_read_or_unknown(tree: Tree, tmp_path: Path) -> None:
    root = tree({"proc/cpuinfo": "processor : 0\nmodel name\t: Some  CPU @ 2.0GHz\n"})
    assert machine.cpu_model(root) == "Some CPU @ 2.0GHz"
    assert machine.cpu_model(tmp_path / "nothing") is None


def test_available_memory_is_the_rest_of_the_system_or_of_the_control_group(tree: Tree) -> None:
    meminfo = {"proc/meminfo": "MemTotal: 900 kB\nMemAvailable:   500 kB\n"}
    assert machine.available_bytes(tree(meminfo)) == 500 * 1024
    group = {
        "proc/self/cgroup": "0::/\n",
        "sys/fs/cgroup/memory.max": "400000\n",
        "sys/fs/cgroup/memory.current": "150000\n",
    }
    assert machine.available_bytes(tree(meminfo | group)) == 250_000


def test_available_memory_is_unknown_if_the_system_reports_none(tmp_path: Path) -> None:
    assert machine.available_bytes(tmp_path) is None
