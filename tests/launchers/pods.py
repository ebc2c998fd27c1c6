"""What Kubernetes does with the pods of a run, done here in its stead: a process for each."""

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
    """Begin the pod of a host's worker, by the manifest that the run tells of."""
    folder = until(lambda: JobFolder.newest(run.dir))
    *_, job = yaml.safe_load_all((folder.path / "manifest.yaml").read_text())
    words = job["spec"]["template"]["spec"]["containers"][0]["command"]
    command = [str(host) if word == "$(TASK)" else word for word in words]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.Popen(hosts.command(host, command), env={**os.environ, "PATH": path})
