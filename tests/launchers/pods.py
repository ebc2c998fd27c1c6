"""A stand-in for Kubernetes that runs each pod of a run as a process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import yaml

from tests.launchers.hosts import Hosts
from tests.waiting import until
from workbench.launchers.job import JobFolder
from workbench.runs import Run


def begin_pod(run: Run, hosts: Hosts, host: int) -> subprocess.Popen[bytes]:
    """Start the pod of a host's worker, with the manifest of the run's job."""
    folder = until(lambda: JobFolder.newest(run.dir))
    *_, job = yaml.safe_load_all((folder.path / "manifest.yaml").read_text())
    template = job["spec"]["template"]["spec"]["containers"][0]["command"]
    command = [str(host) if word == "$(TASK)" else word for word in template]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.Popen(hosts.command(host, command), env={**os.environ, "PATH": path})
