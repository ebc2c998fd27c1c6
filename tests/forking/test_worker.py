"""A script behaves the same in a forked process as after a cold start."""

import json
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.forking.conftest import Place, Serve

REPORTS = """
import json, os, pathlib, resource, signal, sys, tempfile, threading
report = {
    "arguments": sys.argv, "original": sys.orig_argv,
    "name": __name__, "file": __file__, "path": sys.path,
    "folder": os.getcwd(), "threads": threading.active_count(), "spec": __spec__,
    "main": sys.modules["__main__"].__dict__ is globals(),
    "environment": {k: v for k, v in os.environ.items() if k not in ("_", "LINES", "COLUMNS")},
    "umask": os.umask(0), "leads": os.getsid(0) == os.getpgid(0) == os.getpid(),
    "descriptors": len(list(pathlib.Path("/proc/self/fd").iterdir())),
    "signals": [str(signal.getsignal(number)) for number in sorted(signal.Signals)],
    "limits": [resource.getrlimit(number) for number in range(16)],
    "temporary": tempfile.gettempdir(),
    "listed": pathlib.Path("/proc/self/cmdline").read_text().rstrip(chr(0)).split(chr(0)),
    "input": sys.stdin.read(), "through": sys.stdout.write_through,
}
print(json.dumps(report))
"""
ENDS = {
    "with its last line": "print('done')",
    "with a status": "import sys; sys.exit(7)",
    "with a word": "raise SystemExit('I will not')",
    "by an error": "def fails():\n    raise ValueError('no such width')\n\nfails()\n",
    "by a signal": "import os; os.kill(os.getpid(), 9)",
    "by an exit handler": "import atexit; atexit.register(print, 'gone'); raise SystemExit(2)",
    "with a thread that outlives it": "import threading, time\n"
    "late = lambda: (time.sleep(0.1), print('late', __name__))\n"
    "threading.Thread(target=late).start()\n",
}


@contextmanager
def other_limit() -> Iterator[None]:
    """Set a soft limit that differs from the limit of a server started before."""
    kind = resource.RLIMIT_NOFILE
    soft, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (soft - 1, hard))
    yield
    resource.setrlimit(kind, (soft, hard))


def test_a_forked_process_finds_the_same_as_a_cold_one(
    place: Place, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve("json", "tempfile", "multiprocessing.process")
    monkeypatch.setenv("TMPDIR", str(place.folder))
    with other_limit():
        assert place.cold(REPORTS) == 0
        cold = json.loads(place.output())
        assert place.fork(server, REPORTS).wait() == 0
    assert json.loads(place.output()) == cold


def test_a_variable_set_by_an_import_stays(tmp_path: Path, place: Place, serve: Serve) -> None:
    (tmp_path / "own.py").write_text("import os; os.environ['OF_THE_IMPORT'] = '1'")
    server = serve("own", PYTHONPATH=str(tmp_path))
    assert place.fork(server, "import os; print(os.environ['OF_THE_IMPORT'])").wait() == 0


@pytest.mark.parametrize("code", ENDS.values(), ids=ENDS)
def test_a_forked_process_ends_like_a_cold_one(code: str, place: Place, serve: Serve) -> None:
    server = serve()
    status = place.cold(code)
    expected = place.output()
    forked = place.fork(server, code)
    assert forked.wait() == status
    assert forked.poll() == status
    assert place.output() == expected


def test_a_forked_process_has_the_environment_of_its_order(place: Place, serve: Serve) -> None:
    server = serve()
    environment = {
        **{"TF_CONFIG": "{}", "PYTHONPATH": f"{place.folder}/lib", "HOME": "/"},
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    code = (
        "import os, sys; print(sorted(os.environ.items()), sys.path[:2], sys.dont_write_bytecode)"
    )
    with place.log.open("wb") as output, Path(os.devnull).open("rb") as nothing:
        order = place.order(code, output, nothing)
        order = type(order)(order.arguments, place.folder, environment, order.streams)
        assert server.fork(order).wait() == 0
    paths = [str(place.folder), f"{place.folder}/lib"]
    assert place.output().strip() == f"{sorted(environment.items())} {paths} True"


def test_a_forked_process_holds_only_the_descriptors_of_its_order(
    place: Place, serve: Serve
) -> None:
    server = serve()
    read_end, write_end = os.pipe()
    code = (
        "import os, pathlib; fd = int(os.environ['STOP_FD'])\n"
        "links = [link for link in pathlib.Path('/proc/self/fd').iterdir() if link.exists()]\n"
        "print(sorted(str(link.readlink()) for link in links if int(link.name) > 2))\n"
        "print(os.read(fd, 9))"
    )
    forked = place.fork(server, code, kept_fds=[read_end], named_fds={"STOP_FD": read_end})
    os.close(read_end)
    os.write(write_end, b"stop")
    os.close(write_end)
    assert forked.wait() == 0
    held, read = place.output().splitlines()
    assert held == str([f"pipe:[{held.split('[')[2].split(']')[0]}]"])
    assert read == "b'stop'"


def test_each_forked_process_draws_different_random_numbers(place: Place, serve: Serve) -> None:
    server = serve("numpy", "random")
    drawn = set()
    for _ in range(2):
        place.fork(
            server, "import numpy, random; print(numpy.random.rand(), random.random())"
        ).wait()
        drawn |= set(place.output().split())
    assert len(drawn) == 4


def test_a_file_that_is_not_a_script_fails_with_the_same_message(
    place: Place, serve: Serve
) -> None:
    server = serve()
    assert place.cold("def f(:") == 1
    expected = place.output()
    assert place.fork(server, "def f(:").wait() == 1
    assert place.output() == expected
