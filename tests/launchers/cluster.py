"""A real Slurm cluster of two nodes on this machine: munged, slurmctld and two slurmd."""

import os
import secrets
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.ports import free_ports
from tests.waiting import until

COMMANDS = ("munged", "slurmctld", "slurmd", "sbatch")
CONF = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
SlurmctldPort={ports[0]}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
MpiDefault=none
MailProg=/bin/true
KillWait=5
EnforcePartLimits=ALL
MinJobAge=600
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0,sched_interval=1
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=2 State=UNKNOWN
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=2 State=UNKNOWN
PartitionName=debug Nodes=ALL Default=YES MaxTime=60 State=UP
"""


def missing() -> list[str]:
    """Return the programs of Slurm that are missing on this machine."""
    sbin = os.pathsep.join([os.environ["PATH"], "/usr/sbin"])
    return [name for name in COMMANDS if shutil.which(name, path=sbin) is None]


@contextmanager
def slurm_cluster(folder: Path, hidden: Path | None = None) -> Iterator[Path]:
    """Run the cluster and yield its slurm.conf, which SLURM_CONF must name.

    The second node does not see the folder `hidden`; see `hiding`.
    """
    (folder / "state").mkdir(parents=True)
    for node in ("n1", "n2"):
        (folder / f"spool-{node}").mkdir()
    key = folder / "munge.key"
    key.write_bytes(secrets.token_bytes(1024))
    key.chmod(0o600)
    conf = folder / "slurm.conf"
    host = socket.gethostname()
    conf.write_text(CONF.format(folder=folder, host=host, ports=free_ports(3)))
    named = {"key": key, **{name: folder / f"munge.{name}" for name in ("socket", "pid", "seed")}}
    munge = [f"--{name}{'-file' * (name != 'socket')}={path}" for name, path in named.items()]
    munge.append(f"--log-file={folder / 'munge.log'}")
    environment = {**os.environ, "SLURM_CONF": str(conf)}
    with ExitStack() as daemons:
        for command in (
            ["munged", "--force", "--foreground", *munge],
            ["slurmctld", "-D"],
            ["slurmd", "-D", "-N", "n1"],
            ["slurmd", "-D", "-N", "n2"],
        ):
            before = hiding(hidden) if hidden and command[-1] == "n2" else []
            daemons.enter_context(daemon(command, environment, folder, before))
            if command[0] == "munged":
                until((folder / "munge.socket").exists)
        until(lambda: idle(environment) == {"n1", "n2"})
        yield conf


@contextmanager
def daemon(
    command: list[str], environment: dict[str, str], folder: Path, before: Sequence[str] = ()
) -> Iterator[None]:
    """Run a daemon in the foreground, after the words `before`, and end it at the exit."""
    name = f"{command[0]}-{command[-1]}" if command[0] == "slurmd" else command[0]
    with (folder / f"{name}.out").open("wb") as output:
        process = subprocess.Popen(
            [*before, f"/usr/sbin/{command[0]}", *command[1:]],
            env=environment,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def hiding(folder: Path) -> list[str]:
    """Return the words before a command that give it a mount namespace with this folder empty."""
    return ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none "$0" && exec "$@"', str(folder)]


def can_hide(folder: Path) -> bool:
    """Return whether this machine allows a mount namespace."""
    return subprocess.run([*hiding(folder), "true"], check=False).returncode == 0


def idle(environment: dict[str, str]) -> set[str]:
    """Return the nodes that wait for work."""
    command = ["sinfo", "--Node", "--noheader", "--states=idle", "--format=%N"]
    answer = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return set(answer.stdout.split())
