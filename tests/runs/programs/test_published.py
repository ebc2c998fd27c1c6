"""The files of Fashion-MNIST: found, downloadable, or a problem with one remedy."""

import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from workbench import catalog
from workbench.config import Problem, RunConfig
from workbench.plan import PlanError
from workbench.runs.programs import published
from workbench.runs.programs.own_data import inspect_data
from workbench.runs.programs.published import is_unsure

ROW = catalog.DATA["fashion_mnist"]
CONFIG = RunConfig(data="fashion_mnist")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the system's package; Keras has no files, and the address does not answer."""
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))
    monkeypatch.setenv("no_proxy", "*")
    answer_at(monkeypatch, free_address(), tmp_path)
    return tmp_path


@pytest.fixture
def server() -> Iterator[str]:
    """The address of a server that has every file."""

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Write nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def answer_at(monkeypatch: pytest.MonkeyPatch, url: str, folder: Path) -> None:
    row = replace(ROW, url=url, packaged=str(folder))
    monkeypatch.setitem(catalog.DATA, "fashion_mnist", row)  # type: ignore[arg-type]


def free_address() -> str:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        return f"http://127.0.0.1:{taken.getsockname()[1]}/"


def put(folder: Path, names: tuple[str, ...]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).touch()


def problem() -> Problem:
    with pytest.raises(PlanError) as raised:
        inspect_data(CONFIG)
    (found,) = raised.value.problems
    return found


def test_files_that_cannot_be_downloaded_are_a_problem_of_the_data(folder: Path) -> None:
    put(folder, ROW.files[:2])
    found = problem()
    assert found.field == "data"
    assert ", ".join(ROW.files[2:]) in found.got
    assert ROW.files[0] not in found.got
    assert "Connection refused" in found.got
    assert found.fix == ROW.remedy


def test_files_in_keras_cache_need_no_download(folder: Path) -> None:
    put(folder / "keras" / ROW.cache, ROW.files)
    assert not is_unsure(CONFIG)
    assert inspect_data(CONFIG) is None


def test_files_of_a_package_are_linked_into_keras_cache(folder: Path) -> None:
    put(folder, ROW.files)
    cache = folder / "keras" / ROW.cache
    assert not is_unsure(CONFIG)
    assert not cache.exists()
    put(cache, ROW.files[:1])
    (cache / ROW.files[1]).symlink_to(folder / "removed")
    assert inspect_data(CONFIG) is None
    assert not (cache / ROW.files[0]).is_symlink()
    assert [(cache / name).resolve() for name in ROW.files[1:]] == [
        folder / name for name in ROW.files[1:]
    ]


def test_a_download_that_answers_is_asked_once(
    folder: Path, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer_at(monkeypatch, server, folder)
    assert is_unsure(CONFIG)
    assert inspect_data(CONFIG) is None
    assert not is_unsure(CONFIG)


def test_an_address_that_stays_silent_is_given_up(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(published, "ANSWER_SECONDS", 0.2)
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        answer_at(monkeypatch, f"http://127.0.0.1:{silent.getsockname()[1]}/", folder)
        assert "the download fails: " in problem().got


@pytest.mark.parametrize(
    "config",
    [
        RunConfig(),
        RunConfig(data="fashion_mnist", data_dir="/elsewhere"),
        RunConfig(data="fashion_mnist", launcher="slurm"),
    ],
)
def test_a_run_that_looks_elsewhere_is_not_asked(folder: Path, config: RunConfig) -> None:
    assert inspect_data(config) is None


def test_a_script_for_another_machine_needs_no_files_here(folder: Path) -> None:
    assert inspect_data(CONFIG, trains_here=False) is None
