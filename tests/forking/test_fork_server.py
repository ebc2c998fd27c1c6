"""A fork server: shared by all processes that can share it, and ended when it is of no use."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.forking.conftest import Place, Serve
from tests.forking.processes import processes_of, server_process
from tests.waiting import until
from workbench import flock
from workbench.forking import ColdError, ForkServer, fork_server
from workbench.forking.program import proofs, server

WAITS = "import os, time\nwhile not os.path.exists('go'): time.sleep(0.01)"
HAS_THREADS = (
    "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()"
)


def order_of(arguments: list[str]) -> bytes:
    order = {"arguments": arguments, "working_dir": "/", "environment": {}, "umask": 0}
    return json.dumps({**order, "limits": {}, "ignored": [], "named": {}}).encode() + b"\n"


def gone(server: ForkServer) -> bool:
    return server.state == "absent" and not processes_of(server)


def test_a_server_that_was_not_started_forks_nothing(tmp_path: Path, place: Place) -> None:
    absent = ForkServer(sys.executable, os.environ, tmp_path / "state", ["json"])
    assert absent.state == "absent"
    with pytest.raises(ColdError, match="TensorFlow was not loaded ahead"):
        place.fork(absent, "")


def test_all_processes_that_can_share_a_server_get_the_same_one(serve: Serve) -> None:
    first, second = serve(), serve()
    assert first.name == second.name
    assert len(processes_of(first)) == 1
    first.release()
    process = server_process(second)
    polls = process.num_ctx_switches().voluntary
    until(lambda: process.num_ctx_switches().voluntary > polls + 2)
    assert second.state == "ready"
    other = serve(TF_XLA_FLAGS="--tf_xla_auto_jit=2")
    assert other.name != first.name
    assert serve(TF_CONFIG="{}", PAGER="cat").name == first.name


def test_simultaneous_starts_give_one_server(tmp_path: Path, serve: Serve) -> None:
    code = (
        "import os, sys, pathlib\nfrom workbench.forking import ForkServer\n"
        "server = ForkServer(sys.executable, os.environ, pathlib.Path(sys.argv[1]), ['json'])\n"
        "server.start(); print(server.name, flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "state")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    askers = [subprocess.Popen(command, **pipes) for _ in range(4)]
    for asker in askers:
        asker.stdout.readline()
    assert len(processes_of(serve())) == 1
    for asker in askers:
        asker.communicate()


def test_a_server_ends_when_nobody_holds_it(serve: Serve) -> None:
    held = serve()
    held.release()
    until(lambda: gone(held))
    assert [path.suffix for path in held.folder.glob("*.socket")] == []


BECOMES_ANOTHER = """
import os, pathlib, sys
from workbench.forking import ForkServer
server = ForkServer(sys.executable, os.environ, pathlib.Path(sys.argv[1]), ["json"])
server.start()
server.hand_on()
os.execv(sys.executable, [sys.executable, "-c", "print(flush=True); input()"])
"""


def test_the_next_program_of_a_process_holds_a_server_that_is_handed_on(tmp_path: Path) -> None:
    handed_on = ForkServer(sys.executable, os.environ, tmp_path / "state", ["json"])
    command = [sys.executable, "-c", BECOMES_ANOTHER, str(tmp_path / "state")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as process:
        assert process.stdout.readline() == b"\n"  # of the next program
        until(lambda: handed_on.state == "ready")
        polls = server_process(handed_on).num_ctx_switches().voluntary
        until(lambda: server_process(handed_on).num_ctx_switches().voluntary > polls + 1)
        assert handed_on.state == "ready"
        process.communicate(b"\n")
    until(lambda: gone(handed_on))


def test_the_files_of_a_server_that_was_last_started_long_ago_are_removed(
    tmp_path: Path, serve: Serve
) -> None:
    folder = tmp_path / "state" / "forks"
    folder.mkdir(mode=0o700, parents=True)
    names = [f"{name}.{kind}" for name in ("old", "held", "new") for kind in ("lock", "log", "why")]
    for name in names:
        (folder / name).touch()
        if not name.startswith("new"):
            os.utime(folder / name, (0, 0))
    held = flock.take(folder / "held.lock")
    assert held is not None
    started = serve()
    os.close(held)
    left = {path.name for path in folder.iterdir() if not path.name.startswith(started.name)}
    assert left == {name for name in names if not name.startswith("old")}


def test_a_server_whose_import_takes_too_long_ends(
    tmp_path: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own.py").write_text("import threading; threading.Event().wait()")
    program = shutil.copytree(fork_server.PROGRAM, tmp_path / "program")
    text = (program / "begin.py").read_text()
    (program / "begin.py").write_text(text.replace("LOAD_SECONDS = 300", "LOAD_SECONDS = 1"))
    monkeypatch.setattr(fork_server, "PROGRAM", program)
    late = serve("own", PYTHONPATH=str(tmp_path))
    assert late.state == "absent"
    assert late.why_not == f"its server has ended; see {late.folder / late.name}.log"


def test_nothing_is_forked_on_a_machine_with_tpus(
    place: Place, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fork_server, "TPU_DEVICES", "null")
    refused = serve()
    assert refused.state == "refused"
    assert not processes_of(refused)
    with pytest.raises(ColdError, match="not proven to be safe on a machine with TPUs"):
        place.fork(refused, "")


def test_an_idle_server_ends(serve: Serve) -> None:
    held = serve()
    os.utime(held.folder / f"{held.name}.users", (0, 0))
    until(lambda: gone(held))


def test_a_server_stays_while_its_forked_process_runs(place: Place, serve: Serve) -> None:
    held = serve()
    forked = place.fork(held, WAITS)
    users, process = held.folder / f"{held.name}.users", server_process(held)
    os.utime(users, (0, 0))
    polls = process.num_ctx_switches().voluntary
    until(lambda: process.num_ctx_switches().voluntary > polls + 1)
    assert held.state == "ready"
    (place.folder / "go").touch()
    assert forked.wait() == 0
    until(lambda: users.stat().st_mtime > 0)  # it has noticed the end
    os.utime(users, (0, 0))
    until(lambda: gone(held))


def test_a_forked_process_continues_when_its_server_is_killed(place: Place, serve: Serve) -> None:
    killed = serve()
    forked = place.fork(killed, WAITS)
    server_process(killed).kill()
    until(lambda: killed.state == "absent")
    assert forked.poll() is None
    (place.folder / "go").touch()
    assert forked.wait() == 0
    with pytest.raises(ColdError):
        place.fork(killed, "")
    killed.start()
    until(lambda: killed.state == "ready")
    assert place.fork(killed, "").wait() == 0


def test_a_process_killed_with_its_keeper_is_reported_as_killed(place: Place, serve: Serve) -> None:
    forked = place.fork(serve(), WAITS)
    psutil.Process(forked.pid).parent().kill()
    assert forked.wait() == -signal.SIGKILL
    until(lambda: not psutil.pid_exists(forked.pid))


def test_a_server_that_does_not_answer_in_time_runs_nothing_later(
    place: Place, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    asleep = serve()
    monkeypatch.setattr(fork_server, "ALIVE_SECONDS", 0.2)
    process = server_process(asleep)
    process.suspend()
    read_end, write_end = os.pipe()
    with pytest.raises(ColdError, match=r"did not report itself within 0\.2 s"):
        place.fork(asleep, "open('ran', 'w')", kept_fds=[write_end])
    os.close(write_end)
    assert os.read(read_end, 1) == b""  # no other process holds the descriptor of the order
    os.close(read_end)
    process.resume()
    monkeypatch.undo()
    assert place.fork(asleep, "").wait() == 0
    until(lambda: not server_process(asleep).children())
    assert not (place.folder / "ran").exists()


def test_a_server_without_its_socket_ends(place: Place, serve: Serve) -> None:
    hidden = serve()
    (hidden.folder / f"{hidden.name}.socket").unlink()
    with pytest.raises(ColdError):
        place.fork(hidden, "")
    until(lambda: gone(hidden))


def test_a_server_whose_files_changed_refuses_and_ends(
    tmp_path: Path, place: Place, serve: Serve
) -> None:
    module = tmp_path / "changing.py"
    module.write_text("")
    old = serve("changing", PYTHONPATH=str(tmp_path))
    module.write_text("x = 1")
    with pytest.raises(ColdError, match=f"{module} changed since it was imported"):
        place.fork(old, "")
    until(lambda: gone(old))


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("raise ImportError('no such library')", "ImportError: no such library"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        (HAS_THREADS, "its import left threads running, which a forked process would lack: python"),
    ],
)
def test_a_module_that_cannot_be_forked_is_refused(
    code: str, why: str, tmp_path: Path, place: Place, serve: Serve
) -> None:
    (tmp_path / "own.py").write_text(code)
    refused = serve("own", PYTHONPATH=str(tmp_path))
    assert refused.state == "refused"
    assert refused.why_not.startswith(why)
    with pytest.raises(ColdError, match=why):
        place.fork(refused, "")


def test_a_module_that_prints_during_its_import_is_no_problem(
    tmp_path: Path, place: Place, serve: Serve
) -> None:
    (tmp_path / "own.py").write_text("print('hello', flush=True)")
    assert place.fork(serve("own", PYTHONPATH=str(tmp_path)), "print('ran')").wait() == 0
    assert place.output() == "ran\n"


def test_an_open_device_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert proofs.open_devices() == []
    monkeypatch.setattr(proofs, "HANDLES", ("/dev/zero",))
    with Path("/dev/zero").open():
        assert proofs.open_devices() == ["/dev/zero"]


def test_only_its_owner_can_use_a_server(serve: Serve) -> None:
    path = serve().folder / f"{serve().name}.socket"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_an_order_without_its_start_byte_runs_nothing(place: Place, serve: Serve) -> None:
    held = serve()
    valid = order_of(place.script("open('ran', 'w')"))
    for order in (valid, b"", b"{}\n", b"no order\n", valid[:-1]):
        with socket.socket(socket.AF_UNIX) as connection:
            held._connect(connection)
            connection.sendall(order)
            if order == valid:
                assert json.loads(connection.recv(100))["pid"] > 0
    until(lambda: not server_process(held).children())
    assert not (place.folder / "ran").exists()
    assert place.fork(held, "").wait() == 0


def test_short_memory_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not server.memory_is_short()
    monkeypatch.setattr(server, "MEMORY", tmp_path / "meminfo")
    assert not server.memory_is_short()
    server.MEMORY.write_text("MemTotal: 8000000 kB\nMemAvailable: 900000 kB\n")
    assert server.memory_is_short()
