"""Requests of pages over HTTP: runs, their scripts, curves and actions, and devices."""

from __future__ import annotations

import json
import shutil
import struct
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tornado.httpclient import HTTPClientError, HTTPResponse

from tests.machines import LAPTOP
from tests.waiting import LIMIT_SECONDS, until
from tests.widgets.folders import write_run
from workbench.config import RunConfig
from workbench.runs import Run, start_run
from workbench.runs.folder.files import json_text, sha256
from workbench.server import series
from workbench.server.folder import RunsFolder

Fetch = Callable[..., Awaitable[HTTPResponse]]
LONG = RunConfig(strategy="one_device", epochs=1, steps_per_epoch=200_000)


async def ask(fetch: Fetch, *path: str, **options: Any) -> Any:
    """Return the JSON of the answer to a request."""
    reply = await fetch("workbench", *path, request_timeout=LIMIT_SECONDS, **options)
    return json.loads(reply.body) if reply.body else None


async def post(fetch: Fetch, *path: str, **values: Any) -> Any:
    return await ask(fetch, *path, method="POST", body=json.dumps(values))


async def refused(answer: Awaitable[Any]) -> tuple[int, dict[str, Any]]:
    """Return the status and the JSON of an answer that must be a refusal."""
    with pytest.raises(HTTPClientError) as caught:
        await answer
    assert caught.value.response is not None
    return caught.value.code, json.loads(caught.value.response.body)


async def test_all_runs_are_returned_with_the_fields_of_a_list(jp_fetch: Fetch, run: Run) -> None:
    listed = await ask(jp_fetch, "runs")
    assert listed["path"] == str(run.dir.parent)
    (row,) = listed["runs"]
    assert (row["id"], row["status"], row["alive"]) == (run.id, "finished", False)
    assert (row["step"], row["totalSteps"]) == (20, 156)
    assert row["actions"] == ["train_on", "delete"]
    assert "Mirrored" in row["about"]
    assert await ask(jp_fetch, "runs", run.id) == row


async def test_another_folder_within_the_root_can_hold_runs(
    jp_fetch: Fetch, run: Run, jp_root_dir: Path
) -> None:
    shutil.copytree(run.dir, jp_root_dir / "elsewhere/old/copied")
    listed = await ask(jp_fetch, "runs", params={"folder": "elsewhere/old"})
    assert [row["id"] for row in listed["runs"]] == ["copied"]


async def test_a_failed_run_is_a_row_with_its_cause(jp_fetch: Fetch, runs_dir: Path) -> None:
    write_run(runs_dir, "failed", 20, cause="Out of memory.", task="worker-0", fix="", log="")
    (row,) = (await ask(jp_fetch, "runs"))["runs"]
    assert (row["status"], row["note"]) == ("failed", "Out of memory.")


async def test_an_unreadable_run_is_a_row_with_its_problem(jp_fetch: Fetch, run: Run) -> None:
    (run.dir / "plan.json").write_text("{")
    (row,) = (await ask(jp_fetch, "runs"))["runs"]
    assert (row["status"], row["actions"]) == ("unreadable", ["delete"])
    assert "plan.json" in row["error"]


async def test_a_script_is_returned_as_a_file_as_a_notebook_and_as_a_cell(
    jp_fetch: Fetch, run: Run
) -> None:
    file = await ask(jp_fetch, "runs", run.id, "script")
    assert file == {"name": f"{run.id}.py", "text": run.script, "sha256": sha256(run.script)}
    cells = await ask(jp_fetch, "runs", run.id, "script", params={"form": "ipynb"})
    assert json.loads(cells["text"])["nbformat"] == 4
    cell = await ask(jp_fetch, "runs", run.id, "script", params={"form": "cell"})
    names: dict[str, Any] = {}
    exec(cell["text"].replace("run.figure()", ""), names)
    assert names["run"].id == run.id


async def test_an_edited_script_is_not_made_into_a_notebook(jp_fetch: Fetch, run: Run) -> None:
    (run.dir / "train.py").write_text(run.script + "# mine\n")
    answer = ask(jp_fetch, "runs", run.id, "script", params={"form": "ipynb"})
    status, body = await refused(answer)
    assert status == 409
    assert "was edited" in body["message"]


async def test_curves_are_returned_over_all_replicas(jp_fetch: Fetch, run: Run) -> None:
    frame = (await jp_fetch("workbench", "series", params={"runs": run.id})).body
    rows = np.frombuffer(frame[-6 * 20 * 8 :], "<f8").reshape(6, 20)
    assert rows[0].tolist() == list(range(1, 21))
    assert rows[3] == pytest.approx(run.steps()["loss"], rel=1e-6)


async def test_curves_of_several_runs_come_together_each_with_its_trouble(
    jp_fetch: Fetch, run: Run
) -> None:
    asked = f"{run.id},..,{run.id}"
    frame = (await jp_fetch("workbench", "series", params={"runs": asked})).body
    (header_bytes,) = struct.unpack("<I", frame[:4])
    header = json.loads(frame[4 : 4 + header_bytes])
    assert header["bufferBytes"] == [960, 0, 960]
    assert [list(head) for head in header["runs"]] == [
        *(["steps_a_point"], ["error"], ["steps_a_point"]),
    ]
    assert "is not the id of a run in" in header["runs"][1]["error"]


def test_a_frame_has_only_the_runs_that_are_read_in_a_moment(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(series, "MOST_SECONDS", -1.0)
    frame = series.series_of(RunsFolder(run.dir.parent.resolve()), [run.id, run.id])
    assert frame.count(b"steps_a_point") == 1


async def test_the_errors_are_a_page_that_begins_with_what_was_asked(jp_fetch: Fetch) -> None:
    answer = await jp_fetch("workbench", "errors", params={"about": "epochs"})
    assert answer.headers["Content-Type"].startswith("text/html")
    assert "style-src 'unsafe-inline'" in answer.headers["Content-Security-Policy"]
    assert "<h2>epochs</h2>" in answer.body.decode()


async def test_devices_are_measured(jp_fetch: Fetch, runs_dir: Path) -> None:
    names = [meter["name"] for meter in (await ask(jp_fetch, "devices"))["meters"]]
    assert names[:2] == ["Memory in use", "CPU in use"]


@pytest.mark.slow
async def test_a_run_is_stopped_resumed_trained_on_and_deleted(
    jp_fetch: Fetch, runs_dir: Path
) -> None:
    run = start_run(LONG, runs_dir)
    until(lambda: run.progress.step > 0)
    stopping = await post(jp_fetch, "runs", run.id, "stop")
    assert stopping["id"] == run.id
    assert run.wait(LIMIT_SECONDS) == "stopped"
    await post(jp_fetch, "runs", run.id, "train_on", epochs=2)
    run.stop()
    assert run.wait(LIMIT_SECONDS) == "stopped"
    await post(jp_fetch, "runs", run.id, "resume")
    assert run.alive
    status, body = await refused(ask(jp_fetch, "runs", run.id, method="DELETE"))
    assert status == 409
    assert "Stop it first" in body["message"]
    run.stop()
    assert run.wait(LIMIT_SECONDS) == "stopped"
    until(lambda: not run.alive)
    assert await ask(jp_fetch, "runs", run.id, method="DELETE") is None
    assert not run.dir.exists()


@pytest.mark.slow
async def test_a_run_continues_when_the_server_stops(
    jp_fetch: Fetch, jp_serverapp: Any, runs_dir: Path
) -> None:
    run = start_run(LONG, runs_dir)
    until(lambda: run.progress.step > 0)
    run.stop()
    assert run.wait(LIMIT_SECONDS) == "stopped"
    until(lambda: not run.alive)
    await post(jp_fetch, "runs", run.id, "resume")
    await jp_serverapp._cleanup()
    step = run.progress.step
    until(lambda: run.progress.step > step)
    run.stop()
    assert run.wait(LIMIT_SECONDS) == "stopped"


async def test_the_code_of_a_run_from_elsewhere_is_executed_only_with_its_digest(
    jp_fetch: Fetch, run: Run
) -> None:
    status, body = await refused(post(jp_fetch, "runs", run.id, "resume"))
    assert (status, body["reason"]) == (409, "foreign_code")
    code = body["code"]
    assert code["script"] == run.script
    assert code["interpreter"] in body["message"]
    assert code["working_dir"] == str(run.dir)
    status, body = await refused(post(jp_fetch, "runs", run.id, "resume", agreed="0" * 64))
    assert body["reason"] == "foreign_code"
    agreed = code["digest"]
    status, body = await refused(post(jp_fetch, "runs", run.id, "resume", agreed=agreed))
    assert "has finished all its epochs" in body["message"]
    card = json.loads((run.dir / "run.json").read_text())
    (run.dir / "run.json").write_text(json.dumps({**card, "interpreter": "/evil"}))
    status, body = await refused(post(jp_fetch, "runs", run.id, "resume", agreed=agreed))
    assert (body["reason"], body["code"]["interpreter"]) == ("foreign_code", "/evil")


async def test_more_epochs_of_a_run_from_elsewhere_show_the_script_that_they_write(
    jp_fetch: Fetch, run: Run
) -> None:
    (run.dir / "devices.json").write_text(json_text(LAPTOP.to_json()))
    _, body = await refused(post(jp_fetch, "runs", run.id, "train_on", epochs=5))
    assert body["reason"] == "foreign_code"
    assert "EPOCHS = 5" in body["code"]["script"]
    assert "EPOCHS = 5" not in run.script
