"""Questions to interpreters: real ones, hanging ones, ones that leave processes, no Pythons."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.waiting import LIMIT_SECONDS, until
from workbench.devices import DeviceError
from workbench.devices.child import MARK, PROBE, ask

Script = Callable[[str], str]
TENSORFLOW = """
import os, sys
from types import SimpleNamespace
os.write(1, b"noise on the file descriptor\\n")
print("noise on standard output without an end", end="")
print("Cannot dlopen some GPU libraries.", file=sys.stderr)
__version__ = "2.99.0"
details = {"device_name": "Tesla T4", "compute_capability": (7, 5)}
config = SimpleNamespace(
    list_physical_devices=lambda kind: ["/physical_device:GPU:0"],
    experimental=SimpleNamespace(get_device_details=lambda gpu: details),
)
test = SimpleNamespace(is_built_with_cuda=lambda: True)
sysconfig = SimpleNamespace(get_build_info=lambda: {"cuda_version": "12.5.1"})
"""


def site(folder: Path, source: str, distribution: str = "tensorflow") -> dict[str, str]:
    """Write a stand-in for TensorFlow, and return the environment variables that find it."""
    package = folder / "site" / "tensorflow"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(source)
    installed = package.parent / f"{distribution.replace('-', '_')}-2.99.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 2.99.0\n"
    )
    return {**os.environ, "PYTHONPATH": str(package.parent)}


def is_running(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_a_real_interpreter_without_tensorflow_reports_itself(bare_python: str) -> None:
    report = ask(bare_python, "import", LIMIT_SECONDS, os.environ)
    assert report.interpreter == bare_python
    assert report.python_version == ".".join(map(str, sys.version_info[:3]))
    assert (report.tensorflow_found, report.pip, report.imported) == (False, False, None)


def test_the_report_survives_noise_and_the_log_is_kept(bare_python: str, tmp_path: Path) -> None:
    report = ask(bare_python, "import", LIMIT_SECONDS, site(tmp_path, TENSORFLOW))
    assert report.imported is not None
    assert report.imported.version == "2.99.0"
    assert report.imported.gpus == (("Tesla T4", "7.5"),)
    assert report.imported.tpu_build is None
    assert "Cannot dlopen some GPU libraries" in report.log


def test_a_tensorflow_that_fails_to_import_is_reported_with_its_error(
    bare_python: str, tmp_path: Path
) -> None:
    source = "raise ImportError('libstdc++.so.6: version not found')"
    report = ask(bare_python, "import", LIMIT_SECONDS, site(tmp_path, source))
    assert report.imported is None
    assert report.import_error == "ImportError: libstdc++.so.6: version not found"


def test_the_quick_check_and_a_tpu_build_import_nothing(bare_python: str, tmp_path: Path) -> None:
    environment = site(tmp_path, "raise SystemExit('imported')", "tensorflow-tpu")
    for mode in ("metadata", "import-unless-tpu"):
        report = ask(bare_python, mode, 60, environment)
        assert report.distributions == {"tensorflow-tpu": "2.99.0"}
        assert (report.imported, report.import_error) == (None, None)


def test_a_folder_named_tensorflow_is_not_tensorflow(bare_python: str, tmp_path: Path) -> None:
    (tmp_path / "tensorflow").mkdir()
    report = ask(bare_python, "import", LIMIT_SECONDS, {**os.environ, "PYTHONPATH": str(tmp_path)})
    assert report.tensorflow_found is False


def test_modules_next_to_the_probe_do_not_shadow_others(bare_python: str, tmp_path: Path) -> None:
    source = TENSORFLOW + "\nimport importlib.util\nassert not importlib.util.find_spec('records')"
    assert ask(bare_python, "import", LIMIT_SECONDS, site(tmp_path, source)).import_error is None


def test_a_hanging_interpreter_is_killed_with_all_its_processes(
    script: Script, tmp_path: Path
) -> None:
    pids = tmp_path / "pids"
    program = script(f"sleep 600 & echo $! > '{pids}'; echo $$ >> '{pids}'; echo stuck >&2; wait")
    with pytest.raises(DeviceError, match=r"within 2 seconds.*no answer.*stuck.*timeout_seconds"):
        ask(program, "import", 2, os.environ)
    for pid in pids.read_text().split():
        until(lambda pid=int(pid): not is_running(pid))


def test_processes_that_an_interpreter_leaves_are_killed(script: Script, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    program = script(f"sleep 600 & echo $! > '{pid}'; exec '{sys.executable}' \"$@\"")
    report = ask(program, "metadata", LIMIT_SECONDS, os.environ)
    assert report.python_version.startswith("3.")
    until(lambda: not is_running(int(pid.read_text())))


def test_the_probe_ends_itself_when_nobody_waits_any_more(bare_python: str, tmp_path: Path) -> None:
    environment = site(tmp_path, "import time\nwhile True: time.sleep(1)")
    command = [bare_python, str(PROBE), "import", "1", MARK]
    answer = subprocess.run(command, env=environment, check=False, timeout=LIMIT_SECONDS)
    assert answer.returncode == -signal.SIGALRM


def test_a_crash_names_the_signal(script: Script) -> None:
    with pytest.raises(DeviceError, match=r"killed by SIGILL.*built for this processor"):
        ask(script("kill -ILL $$"), "import", LIMIT_SECONDS, os.environ)


@pytest.mark.parametrize(
    ("given", "got"),
    [
        ("/no/such/python", "no program of that name can be run"),
        ("no-such-python", "no program of that name can be run"),
        ("/bin/echo", "gave no report and ended with status 0"),
    ],
)
def test_a_program_that_is_not_a_python_is_an_error_in_three_parts(given: str, got: str) -> None:
    with pytest.raises(DeviceError) as caught:
        ask(given, "import", LIMIT_SECONDS, os.environ)
    assert caught.value.rule == "The interpreter must be a Python program on this machine"
    assert got in caught.value.got
    assert "Python" in caught.value.fix or "python" in caught.value.fix


def test_a_folder_or_a_plain_file_is_no_interpreter(bare_python: str, tmp_path: Path) -> None:
    folder = Path(bare_python).parent.parent
    with pytest.raises(DeviceError, match=f"Perhaps {bare_python}"):
        ask(str(folder), "import", LIMIT_SECONDS, os.environ)
    plain = tmp_path / "python"
    plain.write_text("not a program")
    with pytest.raises(DeviceError, match="is not executable"):
        ask(str(plain), "import", LIMIT_SECONDS, os.environ)
    plain.chmod(0o755)
    with pytest.raises(DeviceError, match="the system cannot run"):
        ask(str(plain), "import", LIMIT_SECONDS, os.environ)


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan"), float("inf")])
def test_a_time_limit_is_a_positive_number(seconds: float) -> None:
    with pytest.raises(DeviceError, match="positive number of seconds"):
        ask(sys.executable, "metadata", seconds, os.environ)
