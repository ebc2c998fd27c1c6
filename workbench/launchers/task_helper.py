"""The program that starts a run's train.py on a cluster's host and obeys the run's supervisor.

`python task_helper.py JOB_DIR TASK [ATTEMPT] [--held]` is one task of the job. TASK is the task's
name or number. ATTEMPT counts from 0 how often the engine has restarted the job.

ATTEMPT `auto` is for engines that restart tasks one by one. It stands for the newest attempt, or
for a new attempt if the task has already been in the newest one. A new attempt takes the other
tasks along. With --held the task is killed when standard input ends; the process that starts the
helper holds standard input open. WORKBENCH_DOMAIN is added to the host's name, so that other
hosts find it.

The program is copied to the run's folder and needs the standard library only. So no part of the
workbench must be installed on the hosts. All messages and requests are files in the job's folder,
which all hosts share:

    job.json               tasks, command and environment; written before the job is submitted
    cancel                 request: end immediately, and start nothing more
    ATTEMPT/TASK.clock     the time on its host's clock when it started
    ATTEMPT/TASK.versions  JSON, its host and the versions in its Python; before the address
    ATTEMPT/TASK.address   the address of the task
    ATTEMPT/TASK.met       message: the task has reached all others
    ATTEMPT/TASK.again     request: start it again; the file holds how often it has been started
    ATTEMPT/TASK.stop, ATTEMPT/TASK.end   requests: stop after this call; end immediately
    ATTEMPT/TASK.exit      JSON, how it ended: times started, exit status, most bytes held, and
                           whether it was ended from outside
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from typing import Any

POLL_SECONDS = 0.2
CALL_SECONDS = 3.0
VERSION_SECONDS = 60.0
NOTICE_SECONDS = 3.0
"""The wait after a task's failure: meanwhile the other tasks notice it and write it to their logs.
"""
AUTO, CANCEL = "auto", "cancel"
OVER = ("finished", "stopped")
"""The events that record that a task's work is over."""
SIGNALS = (signal.SIGTERM, signal.SIGINT)
VERSIONS = """
import importlib.metadata, json, os, sys

def version(*names):
    for name in names:
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            pass
    return "none"

legacy = os.environ.get("TF_USE_LEGACY_KERAS") in ("1", "true", "True")
print(json.dumps({
    "Python": "%d.%d" % sys.version_info[:2],
    "TensorFlow": version("tensorflow", "tensorflow-cpu", "tensorflow-tpu", "tf-nightly"),
    "Keras": version("tf_keras" if legacy else "keras"),
}))
"""
"""A program that prints the versions that train.py will find, without an import of TensorFlow."""
UNSHARED = 97
"""The exit status if the run's folder is missing."""


class MeetingError(Exception):
    """The tasks do not find each other. The message names the task, the reason and the fix."""


class TaskHelper:
    """One task of a job on its host."""

    def __init__(self, folder: pathlib.Path, task: str, attempt: str) -> None:
        job = json.loads((folder / "job.json").read_text(encoding="utf-8"))
        self.tasks: list[str] = job["tasks"]
        self.task = self.tasks[int(task)] if task.isdecimal() else task
        self.kind = self.task.rpartition("-")[0]
        self.job = job
        self.alone = attempt == AUTO
        self.dir = folder / (newest_attempt(folder, self.task) if self.alone else attempt)
        self.dir.mkdir(exist_ok=True)
        self.run_dir = pathlib.Path(job["run_dir"])
        self.log = self.run_dir / self.task / "log.txt"
        self.log.parent.mkdir(exist_ok=True)
        self.stop_requested = threading.Event()
        self.let_go = threading.Event()
        self.catch_signals()

    def run(self) -> int:
        """Meet the other tasks and train; return the exit status."""
        started = 0
        self.say("clock", repr(time.time()))
        try:
            environment = self.meet()
        except MeetingError as error:
            with self.log.open("a", encoding="utf-8") as log:
                log.write(f"MeetingError: {error}\n")
            return self.note_exit(started, 1, 0)
        while True:
            status, held = self.train(environment)
            self.note_exit(started, status, held)
            started += 1
            if not self.wanted_again(started):
                break
        if self.leader_ended():
            return 0  # it only served a chief, whose exit status gives the result
        if status:
            time.sleep(NOTICE_SECONDS)
        return status if status >= 0 else 128 - status

    def end_with_the_holder(self) -> None:
        """Notice the end of the process that started this helper, and end too."""

        def wait_for_the_end() -> None:
            while os.read(sys.stdin.fileno(), 1):
                pass
            self.let_go.set()

        threading.Thread(target=wait_for_the_end, daemon=True).start()

    def catch_signals(self) -> None:
        """Treat a signal to end as a request to stop, as it comes before a limit or a requeue."""
        for each in SIGNALS:
            signal.signal(each, lambda *_: self.stop_requested.set())

    def meet(self) -> dict[str, str]:
        """Find a port, reach all other tasks at their ports, and return TF_CONFIG, if needed.

        Raises:
            MeetingError: some tasks did not come, cannot be reached, or have other versions.
        """
        if len(self.tasks) == 1:
            return {}
        serving = [task for task in self.tasks if not task.startswith("evaluator")]
        self.say("versions", json.dumps([socket.gethostname(), self.versions()]))
        until = time.monotonic() + self.job["meet_seconds"]
        with socket.create_server(("", 0)) as server:
            threading.Thread(target=_answer, args=(server,), daemon=True).start()
            port = server.getsockname()[1]
            self.say("address", f"{_own_name()}:{port}")
            addresses = self.hear("address", serving, until)
            for task, address in addresses.items():
                self.reach(task, address, until)
            all_tasks = list(dict.fromkeys([*serving, self.task]))  # an evaluator serves nobody
            self.compare_versions(self.hear("versions", all_tasks, until))
            self.say("met", self.task)
            self.hear("met", serving, until)
            server.shutdown(socket.SHUT_RDWR)  # else the port stays taken while accept waits
        cluster: dict[str, list[str]] = {}
        for task in serving:  # in their order, which must be the same in all tasks
            cluster.setdefault(task.rpartition("-")[0], []).append(addresses[task])
        index = int(self.task.rpartition("-")[2])
        config = {"cluster": cluster, "task": {"type": self.kind, "index": index}}
        return {"TF_CONFIG": json.dumps(config)}

    def versions(self) -> dict[str, str]:
        """Return the versions that the task's Python has; none if that Python does not say."""
        with contextlib.suppress(OSError, ValueError, subprocess.SubprocessError):
            done = subprocess.run(
                [self.job["command"][0], "-c", VERSIONS],
                env=self.environment(),
                capture_output=True,
                check=True,
                timeout=VERSION_SECONDS,
            )
            found: dict[str, str] = json.loads(done.stdout)
            return found
        return {}

    def compare_versions(self, messages: dict[str, str]) -> None:
        """Compare the versions of all tasks, which TensorFlow does not.

        TensorFlow supports only one version in a cluster: https://www.tensorflow.org/guide/versions

        Raises:
            MeetingError: they differ.
        """
        has: dict[str, dict[str, list[str]]] = {}
        for task, message in messages.items():
            host, versions = json.loads(message)
            for name, version in versions.items():
                has.setdefault(name, {}).setdefault(version, []).append(f"{task} on {host}")
        differ = [
            f"{name} {version} ({', '.join(sorted(set(who)))})"
            for name, by_version in has.items()
            if len(by_version) > 1
            for version, who in by_version.items()
        ]
        if differ:
            raise MeetingError(
                f"The hosts have different versions: {', '.join(differ)}. All tasks of a run need "
                "the same Python, TensorFlow and Keras. Install the same versions for "
                f"{self.job['command'][0]} on all hosts, then resume the run."
            )

    def say(self, what: str, text: str) -> None:
        """Write a message completely, or not at all."""
        path = self.dir / f"{self.task}.{what}"
        part = path.with_name(f"{path.name}.part")
        part.write_text(text, encoding="utf-8")
        part.replace(path)

    def hear(self, what: str, tasks: list[str], until: float) -> dict[str, str]:
        """Wait until all tasks have written a message; return the messages.

        Raises:
            MeetingError: some tasks have not written it in time, or this task was stopped.
        """
        messages: dict[str, str] = {}
        while len(messages) < len(tasks):
            for task in tasks:
                with contextlib.suppress(FileNotFoundError):
                    message = (self.dir / f"{task}.{what}").read_text(encoding="utf-8")
                    messages[task] = message
            if time.monotonic() > until:
                late = ", ".join(task for task in tasks if task not in messages)
                raise MeetingError(
                    f"{late} did not connect through {self.dir}, which the hosts share, within "
                    f"{self.job['meet_seconds']:g} s. Read the job's log, or increase "
                    "rendezvous_seconds."
                )
            if self.stop_requested.is_set() or self.is_ended():
                raise MeetingError("The tasks were stopped before they met. Resume the run.")
            time.sleep(POLL_SECONDS / 2)
        return messages

    def reach(self, task: str, address: str, until: float) -> None:
        """Call another task at its address until it answers.

        Raises:
            MeetingError: the task cannot be reached.
        """
        host, _, port = address.rpartition(":")
        while True:
            try:
                socket.create_connection((host, int(port)), CALL_SECONDS).close()
                return
            except socket.gaierror as error:
                why = f"this host does not know the name {host}: {error.strerror}"
                fix = "Add the name to the hosts' DNS"
            except OSError as error:
                why, fix = str(error.strerror or error), "Open the hosts' ports to each other"
            if time.monotonic() > until:
                raise MeetingError(
                    f"{self.task} on {socket.gethostname()} cannot reach {task} at {address}: "
                    f"{why}. {fix}, then resume the run."
                )
            time.sleep(POLL_SECONDS)

    def train(self, environment: dict[str, str]) -> tuple[int, int]:
        """Run train.py to its end; return its exit status and the most bytes that it held.

        If it has recorded that its work is over, the status is 0, however its process ended. For
        example, TensorFlow may wait at the end for other tasks that have ended already. The reason
        is that engines restart a failed task.
        """
        events = self.log.with_name("events.jsonl")
        known = events.stat().st_size if events.exists() else 0
        read_end, write_end = os.pipe()
        for each in SIGNALS:  # Slurm sends them to train.py too, which would end without saving
            signal.signal(each, signal.SIG_IGN)
        with self.log.open("ab") as output:
            child = subprocess.Popen(
                self.job["command"],
                cwd=next(filter(os.path.isdir, (self.job["working_dir"], self.run_dir))),
                env={**self.environment(), **environment, "WORKBENCH_STOP_FD": str(read_end)},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=(read_end,),
                process_group=0,
            )
        self.catch_signals()
        os.close(read_end)
        stop_sent = False
        try:
            while child.poll() is None:
                if not stop_sent and (self.stop_requested.is_set() or self.asked("stop")):
                    os.write(write_end, b"s")
                    stop_sent = True
                if self.is_ended() or self.leader_ended():
                    break  # it has no more time
                time.sleep(POLL_SECONDS)
        finally:
            # Together with all processes that it left in its group.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            os.close(write_end)
            child.wait()
        status = 0 if _is_over(events, known) else child.returncode
        # In KiB on Linux: getrusage(2).
        return status, 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss

    def environment(self) -> dict[str, str]:
        """Return the variables of the task's processes, apart from TF_CONFIG."""
        inherited = {k: v for k, v in os.environ.items() if k not in self.job["unset"]}
        wanted = {**inherited, **self.job["environment"]}
        if self.job["module_dirs"]:
            paths = [*self.job["module_dirs"], inherited.get("PYTHONPATH", "")]
            wanted["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        return wanted

    def asked(self, what: str) -> bool:
        """Return whether the supervisor has made this request."""
        return (self.dir / f"{self.task}.{what}").exists()

    def is_ended(self) -> bool:
        """Return whether the task must end immediately."""
        asked = self.asked("end") or (self.dir.parent / CANCEL).exists()
        return self.let_go.is_set() or asked or self.is_superseded()

    def is_superseded(self) -> bool:
        """Return whether another task was restarted and waits for this one in a new attempt."""
        return self.alone and self.dir.with_name(str(int(self.dir.name) + 1)).exists()

    def leader_ended(self) -> bool:
        """Return whether the chief that this task serves has ended."""
        serves = self.tasks[0].startswith("chief") and self.kind in ("worker", "ps")
        return serves and (self.dir / f"{self.tasks[0]}.exit").exists()

    def note_exit(self, started: int, status: int, held: int) -> int:
        """Record how the task ended; return the status."""
        ended = self.is_ended()
        report = {"started": started, "status": status, "peak_bytes": held, "ended": ended}
        self.say("exit", json.dumps(report))
        return status

    def wanted_again(self, times: int) -> bool:
        """Wait for the request to start this worker again; return whether it came.

        Only a chief goes on without a worker: otherwise the result is False, without a wait.
        """
        if not (self.tasks[0].startswith("chief") and self.kind == "worker"):
            return False
        again = self.dir / f"{self.task}.again"
        while not (self.stop_requested.is_set() or self.is_ended() or self.leader_ended()):
            with contextlib.suppress(OSError, ValueError):
                if int(again.read_text(encoding="utf-8")) == times:
                    return True
            time.sleep(POLL_SECONDS)
        return False


def newest_attempt(folder: pathlib.Path, task: str) -> str:
    """Return the newest attempt, or a new attempt if this task has been in the newest one."""
    numbers = [int(path.name) for path in folder.iterdir() if path.name.isdecimal()]
    newest = max(numbers, default=0)
    return str(newest + (folder / str(newest) / f"{task}.clock").exists())


def _is_over(events: pathlib.Path, since: int) -> bool:
    """Return whether a task has recorded, from byte `since` on, that its work is over."""
    with contextlib.suppress(OSError), events.open("rb") as file:
        file.seek(since)
        for line in file:
            with contextlib.suppress(ValueError):  # a full disk leaves parts of lines
                if json.loads(line).get("event") in OVER:
                    return True
    return False


def _own_name() -> str:
    """Return this host's name, or its address on the route outside if the name is not known."""
    name = socket.gethostname()
    if domain := os.environ.get("WORKBENCH_DOMAIN"):
        return f"{name}.{domain}"
    try:
        socket.getaddrinfo(name, None)
    except socket.gaierror:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.connect(("192.0.2.1", 9))  # an example address of RFC 5737: nothing is sent
            except OSError:
                return "127.0.0.1"
            return str(probe.getsockname()[0])
    return name


def _answer(server: socket.socket) -> None:
    """Accept calls until the socket is shut. A caller only needs to know that the port answers.

    The caller hangs up first, so that TCP does not keep this port for a while afterwards.
    """
    with contextlib.suppress(OSError):
        while True:
            with server.accept()[0] as call:
                call.settimeout(CALL_SECONDS)
                with contextlib.suppress(OSError):
                    call.recv(1)


def main(arguments: list[str]) -> int:
    """Run a task of a job; return the exit status of its train.py."""
    folder, task = pathlib.Path(arguments[0]), arguments[1]
    if (folder / CANCEL).exists():
        return 0
    attempt = arguments[2] if len(arguments) > 2 else "0"
    held = "--held" in arguments
    try:
        helper = TaskHelper(folder, task, attempt)
    except OSError as error:
        host: Any = socket.gethostname()
        sys.stderr.write(
            f"All hosts must share the folder of a run; {host}: {error}. Put the folder of runs on "
            "a disk that all hosts share and can write to.\n"
        )
        return UNSHARED
    if held:
        helper.end_with_the_holder()
    return helper.run()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
