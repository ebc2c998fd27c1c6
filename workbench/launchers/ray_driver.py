"""The driver of a job on a Ray cluster, in a process of the run's Python that needs only Ray.

`python ray_driver.py JOB_DIR` makes Ray Train's TensorflowTrainer start a worker for each task,
with the requested resources. The worker runs the task's helper. `python ray_driver.py --reach
ADDRESS` prints the resources of a cluster as JSON. The address `local` stands for a new cluster on
this machine. The program is copied into the job's folder. Besides the files of the helpers (see
`task_helper`), it uses these files there:

    asked.json    address, CPUs and GPUs of each task, and how often all tasks are restarted after
                  Ray has lost a worker or a task was killed; written before the driver starts
    driver.lock   a lock held while the driver lives; the process that starts it takes the lock
    status.json   the state of the job
    cancel        request: end the job
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import threading
from typing import Any

LOCAL = "local"
LOCK, STATUS, CANCEL = "driver.lock", "status.json", "cancel"
POLL_SECONDS = 0.5
CALL_SECONDS = 5.0
CPUS_PER_TASK = 1
STARTS = 2
"""How often a new cluster on this machine is started before the job fails."""
PATIENCE = {
    "RAY_agent_register_timeout_ms": "600000",
    "RAY_worker_register_timeout_seconds": "600",
    "RAY_TRAIN_WORKER_GROUP_START_TIMEOUT_S": "600",
}
"""Ray's limits for its own processes on this machine: a busy machine takes longer than usual."""
GPUS = pathlib.Path("/proc/driver/nvidia/gpus")
"""A folder for each GPU that NVIDIA's driver on Linux has found."""
AGENT_PORT = re.compile(r"(--runtime.env.agent.port=)0\b")
DASHBOARD_PORTS = ("metrics_agent_port", "metrics_export_port", "dashboard_agent_listen_port")
"""Options of Ray's node. The number -1 means that nothing listens."""
UNSHARED = re.compile(r"\d+: All hosts must share the folder of a run; .*")
"""The error of a task, after its number, that no restart can help."""


class Driver:
    """One job on a cluster."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.dir = folder
        self.tasks: list[str] = json.loads((folder / "job.json").read_text(encoding="utf-8"))[
            "tasks"
        ]
        self.asked = json.loads((folder / "asked.json").read_text(encoding="utf-8"))
        self.attempt = 0
        self.why = ""
        self.over = False
        self._saying = threading.Lock()

    def run(self) -> int:
        """Train, and again after a loss while restarts are left; return the exit status."""
        self.say("waiting", "CONNECTING")
        try:
            connect(self.asked["address"])
        except (ConnectionError, RuntimeError, ValueError) as error:
            self.say("over", "FAILED", str(error).strip())
            return 1
        threading.Thread(target=self.watch, daemon=True).start()
        while (lost := self.fit()) and self.attempt < self.asked["restarts"]:
            if UNSHARED.match(lost):
                break
            self.attempt += 1
            self.why = lost
            self.say("waiting", "RESTARTING")
        self.over = True
        if UNSHARED.match(lost):
            sys.stderr.write(f"{lost}\n")  # the supervisor looks for causes in the job's log
            self.say("over", "FAILED", lost)
        else:
            self.say("over", "LOST" if lost else self.ended(), lost)
        return 0

    def fit(self) -> str:
        """Train once; return the loss of a worker or task as text, empty if all tasks ended."""
        from ray.train import RunConfig, ScalingConfig, TrainingFailedError
        from ray.train.tensorflow import TensorflowTrainer

        trainer = TensorflowTrainer(
            run_task,
            train_loop_config={
                "dir": str(self.dir),
                "attempt": str(self.attempt),
                "tasks": self.tasks,
            },
            scaling_config=ScalingConfig(
                num_workers=len(self.tasks),
                resources_per_worker=self.resources,
                use_gpu="GPU" in self.resources,
            ),
            run_config=RunConfig(
                name=f"attempt-{self.attempt}", storage_path=str(self.dir / "ray-results")
            ),
        )
        try:
            trainer.fit()
        except TrainingFailedError as error:  # an error of Ray itself: `run_task` raises nothing
            lost = UNSHARED.search(str(error))
            return lost[0] if lost else str(error).strip().splitlines()[-1]
        for task, report in self.exits().items():
            if report["status"] < 0 and not report["ended"]:
                return f"{task} was killed by signal {-report['status']}"
        return ""

    @property
    def resources(self) -> dict[str, float]:
        """The resources that Ray reserves for each task."""
        gpus = self.asked["gpus_per_task"]
        cpus = {"CPU": self.asked["cpus_per_task"] or CPUS_PER_TASK}
        return {**cpus, "GPU": gpus} if gpus else cpus

    def exits(self) -> dict[str, Any]:
        """Return the helpers' reports on the ends of the tasks."""
        paths = {task: self.dir / str(self.attempt) / f"{task}.exit" for task in self.tasks}
        return {
            task: json.loads(path.read_text(encoding="utf-8"))
            for task, path in paths.items()
            if path.exists()
        }

    def ended(self) -> str:
        """Return how the tasks ended, in one word."""
        statuses = [report["status"] for report in self.exits().values()]
        return "COMPLETED" if statuses == [0] * len(self.tasks) else "FAILED"

    def watch(self) -> None:
        """Report whether Ray has started the tasks or why it waits, and obey a cancel request."""
        import ray

        resting = threading.Event()
        while not self.over:
            if (self.dir / CANCEL).exists():
                self.over = True
                self.say("over", "CANCELLED")
                ray.shutdown()
                os._exit(1)  # the main thread waits for tasks that no longer exist
            if any((self.dir / str(self.attempt)).glob("*.clock")):
                self.say("running", "RUNNING")
            else:
                free = ray.available_resources()  # type: ignore[no-untyped-call]
                cpus, gpus = free.get("CPU", 0), free.get("GPU", 0)
                wanted = " and ".join(
                    f"{number:g} {kind}" for kind, number in self.resources.items()
                )
                self.say(
                    "waiting",
                    "PENDING",
                    f"{self.why + '; ' if self.why else ''}{len(self.tasks)} x {wanted} requested, "
                    f"{cpus:g} CPU and {gpus:g} GPU free",
                )
            resting.wait(POLL_SECONDS)

    def say(self, phase: str, state: str, why: str = "") -> None:
        """Write the state of the job completely, or not at all."""
        with self._saying:
            if self.over and phase != "over":
                return
            status = {"phase": phase, "state": state, "why": why, "attempt": self.attempt}
            part = self.dir / f"{STATUS}.part"
            part.write_text(json.dumps(status), encoding="utf-8")
            part.replace(self.dir / STATUS)


def run_task(asked: dict[str, Any]) -> None:
    """Run the helper of a task on the resources that Ray reserves for it, while Ray keeps them.

    A failed helper reports its failure itself. It must not be an error for Ray, because Ray would
    restart the task.

    Raises:
        RuntimeError: this node does not have the job's folder.
    """
    from ray import train

    folder = pathlib.Path(asked["dir"])
    rank = train.get_context().get_world_rank()
    check_shared(folder, rank)
    helper = [str(folder / "task_helper.py"), str(folder), str(rank), asked["attempt"], "--held"]
    with subprocess.Popen([sys.executable, *helper], stdin=subprocess.PIPE) as process:
        process.wait()
    if process.returncode:
        for task in asked["tasks"]:
            (folder / asked["attempt"] / f"{task}.end").touch()


def check_shared(folder: pathlib.Path, rank: int) -> None:
    """Check that this node has the job's folder.

    Raises:
        RuntimeError: it does not; the message begins with the number of the task, as in `UNSHARED`.
    """
    if not folder.exists():
        raise RuntimeError(
            f"{rank}: All hosts must share the folder of a run; {socket.gethostname()} has no "
            f"{folder}. Put the folder of runs on a disk that all hosts share and can write to."
        )


def connect(address: str) -> None:
    """Connect to a cluster, or start one on this machine.

    Raises:
        ConnectionError: no cluster answers at the address.
        RuntimeError: the cluster has another version of Ray or Python, or wants another token; or
            Ray does not start on this machine.
        ValueError: the address is not valid.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if has_token():  # Ray itself looks for a token only if it starts a cluster
        os.environ.setdefault("RAY_AUTH_MODE", "token")
    if address == LOCAL:
        start_here()
        return
    import ray  # only now, because it reads the environment only once

    ray.init(address=address, log_to_driver=False)


def start_here() -> None:
    """Start a cluster on this machine, and again if Ray gives up.

    The processes of a start that Ray has given up end with this process.

    Raises:
        RuntimeError: Ray has given up each start.
    """
    for name, limit in PATIENCE.items():
        os.environ.setdefault(name, limit)
    import ray  # only now, because it reads the environment only once

    for start in range(STARTS):
        try:
            if start > 0:
                await_no_agents()
            ray.init(address=LOCAL, log_to_driver=False, include_dashboard=False)
            return
        except Exception as error:  # Ray raises no narrower one
            sys.stderr.write(f"Ray did not start: {error}\n")
            why = str(error).strip().partition("\n")[0].partition(". ")[0].rstrip(".")
    raise RuntimeError(
        f"Ray could not start a cluster on this machine in {STARTS} attempts: {why}. "
        "Resume the run when the machine is less busy, or run `ray start --head` and enter the "
        "address that it prints. Ray's own reason is in raylet.err, in the folder "
        "session_latest/logs of Ray's temporary folder, usually /tmp/ray"
    )


def await_no_agents() -> None:
    """Make a node that Ray starts register before its agents report their ports.

    It waits 15 s for each port, and no option of Ray changes that. So it is given a free port for
    the agent that tasks need, and none for the agent of the dashboard.
    https://github.com/ray-project/ray/issues/65983
    """
    from ray._private import services

    with socket.create_server(("", 0)) as server:
        port = server.getsockname()[1]
    start = services.start_ray_process

    def start_with_ports(command: list[str], kind: str, *others: Any, **options: Any) -> Any:
        if kind == "raylet":
            command = [AGENT_PORT.sub(rf"\g<1>{port}", word) for word in command]
            command += [f"--{name}=-1" for name in DASHBOARD_PORTS]
        return start(command, kind, *others, **options)

    services.start_ray_process = start_with_ports  # type: ignore[assignment]


def has_token() -> bool:
    """Return whether there is a token that this user's clusters may want.

    https://docs.ray.io/en/latest/ray-security/token-auth.html
    """
    usual = pathlib.Path.home() / ".ray" / "auth_token"
    path = pathlib.Path(os.environ.get("RAY_AUTH_TOKEN_PATH", usual))
    return "RAY_AUTH_TOKEN" in os.environ or path.exists()


def reach(address: str) -> dict[str, Any]:
    """Return the cluster's nodes, or why it cannot be reached."""
    import importlib.metadata

    try:
        version = importlib.metadata.version("ray")
    except importlib.metadata.PackageNotFoundError:
        return {"error": f"Ray is not in the run's Python ({sys.executable})"}
    if address == LOCAL:
        gpus = len(list(GPUS.glob("*")))
        return {"ray": version, "nodes": [{"CPU": os.cpu_count() or 1, "GPU": gpus}]}
    try:
        call(address)
        nodes = nodes_of(address)
    except (OSError, RuntimeError, ValueError) as error:
        return {"error": f"{address}: {error}".strip()}
    return {"ray": version, "nodes": nodes}


def call(address: str) -> None:
    """Check that something answers at an address, because Ray itself would wait a minute for it.

    Raises:
        OSError: nothing answers.
        ValueError: the address is not valid.
    """
    host, _, port = address.rpartition(":")
    if not (host and port.isdecimal()):
        raise ValueError("a cluster's address must be host:port")
    socket.create_connection((host, int(port)), CALL_SECONDS).close()


def nodes_of(address: str) -> list[dict[str, float]]:
    """Return the CPUs and GPUs of each living node of a cluster.

    Raises:
        OSError: the address does not answer like Ray.
        RuntimeError: the cluster has another version of Ray or Python.
    """
    connect(address)
    import ray

    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]  # type: ignore[no-untyped-call]
    return [{kind: node[kind] for kind in ("CPU", "GPU") if kind in node} for node in nodes]


def main() -> int:
    """Drive a job, or inspect a cluster."""
    if sys.argv[1] == "--reach":
        sys.stdout.write(f"\n{json.dumps(reach(sys.argv[2]))}\n")
        return 0
    return Driver(pathlib.Path(sys.argv[1])).run()


if __name__ == "__main__":
    sys.exit(main())
