"""The order of runs that share a device."""

import os
import shlex
import signal
from pathlib import Path

from tests.runs.run_folders import Runs, event_of, pid_of, states
from tests.waiting import LIMIT_SECONDS, until
from workbench.runs import Run, open_run
from workbench.runs.supervise.queue import Ticket, holders, in_line


def waits_for(run: Run, *others: Run) -> bool:
    return (event_of(run, "queued") or {}).get("behind") == [str(other.dir) for other in others]


def test_tickets_wait_in_order_and_only_for_shared_devices(tmp_path: Path) -> None:
    def draw(run: str, *devices: str, start_now: bool = False) -> Ticket:
        return Ticket.draw(tmp_path, Path(run), devices, start_now=start_now)

    a, b = draw("a", "GPU:0"), draw("b", "GPU:0", "GPU:1")
    c, d = draw("c", "GPU:1"), draw("d", "GPU:2")
    assert (a.ahead(), b.ahead(), c.ahead(), d.ahead()) == ([], [Path("a")], [Path("b")], [])
    hasty = draw("hasty", "GPU:0", start_now=True)
    a.give_back()
    assert b.ahead() == [Path("hasty")]
    os.close(hasty.fd)  # like a killed process
    assert b.ahead() == []
    assert not hasty.path.exists()
    assert c.ahead() == [Path("b")]
    b.give_back()
    assert c.ahead() == []


def test_a_file_that_is_not_a_ticket_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "queue").mkdir()
    (tmp_path / "queue" / "abc.ticket").write_text("?")
    assert Ticket.draw(tmp_path, Path("a"), ("GPU:0",), start_now=False).ahead() == []


def test_runs_of_one_device_train_in_order(runs: Runs) -> None:
    first = runs.start(pauses={"20": "go"})
    until(lambda: first.progress.step == 20)
    second = runs.start(pauses={"20": "go"})
    until(lambda: waits_for(second, first))
    third = runs.start()
    until(lambda: waits_for(third, first, second))
    assert second.status == third.status == "queued"
    assert second.progress.note == f"Waits for CPU:0 behind {first.id}."
    (first.dir / "go").touch()
    assert first.wait(LIMIT_SECONDS) == "finished"
    until(lambda: second.progress.step == 20)
    until(lambda: waits_for(third, second))
    (second.dir / "go").touch()
    assert third.wait(LIMIT_SECONDS) == "finished"
    assert second.status == "finished"


def test_the_run_ahead_in_another_folder_is_named_by_a_command_that_finds_it(
    runs: Runs, tmp_path: Path
) -> None:
    other = Runs(tmp_path / "other runs")
    other.root.mkdir()
    first = other.start(pauses={"20": "go"})
    until(lambda: first.progress.step == 20)
    second = runs.start()
    until(lambda: waits_for(second, first))
    command = f"workbench runs show '{first.dir}'"
    about = f"{first.id} of another folder (see: {command})"
    assert second.progress.note == f"Waits for CPU:0 behind {about}."
    assert second.progress.waits_for == ()
    assert open_run(shlex.split(command)[-1], runs.root).id == first.id
    first.stop()
    assert second.wait(LIMIT_SECONDS) == "finished"


def test_runs_of_different_devices_train_simultaneously(runs: Runs) -> None:
    first = runs.start(pauses={"20": "go"}, devices=["GPU:0", "GPU:1"])
    second = runs.start(devices=["GPU:2"])
    assert second.wait(LIMIT_SECONDS) == "finished"
    third = runs.start(devices=["GPU:1"])
    until(lambda: waits_for(third, first))
    first.stop()
    assert third.wait(LIMIT_SECONDS) == "finished"


def test_start_now_starts_immediately_and_later_runs_wait_for_it(runs: Runs) -> None:
    first = runs.start(pauses={"20": "go"})
    pid_of(first, "trainer")
    waiting = runs.start()
    until(lambda: waits_for(waiting, first))
    hasty = runs.start(pauses={"20": "go"}, start_now=True)
    until(lambda: hasty.progress.step == 20)
    first.stop()
    assert first.wait(LIMIT_SECONDS) == "stopped"
    until(lambda: waits_for(waiting, hasty))
    hasty.stop()
    assert waiting.wait(LIMIT_SECONDS) == "finished"


def test_holders_of_a_device_are_returned_without_waiting_runs(runs: Runs) -> None:
    assert holders(["GPU:0"]) == []
    first = runs.start(pauses={"20": "go"}, devices=["GPU:0", "GPU:1"])
    until(lambda: first.progress.step == 20)
    second = runs.start(devices=["GPU:1"])
    until(lambda: waits_for(second, first))
    assert holders(["GPU:1", "GPU:2"]) == [first.dir]
    assert in_line(["GPU:1", "GPU:2"]) == [first.dir, second.dir]
    assert holders(["GPU:2"]) == in_line(["GPU:2"]) == []
    first.stop()
    assert second.wait(LIMIT_SECONDS) == "finished"
    until(lambda: not holders(["GPU:0", "GPU:1"]))


def test_a_run_in_the_queue_can_be_stopped(runs: Runs) -> None:
    first = runs.start(pauses={"20": "go"})
    second = runs.start()
    until(lambda: waits_for(second, first))
    second.stop()
    assert second.wait(LIMIT_SECONDS) == "stopped"
    assert states(second)[-1] == "stopped"
    assert "waited" in second.progress.note
    assert first.alive
    (first.dir / "go").touch()
    assert first.wait(LIMIT_SECONDS) == "finished"
    assert second.resume().wait(LIMIT_SECONDS) == "finished"


def test_a_killed_waiting_run_and_a_killed_holder_do_not_block(runs: Runs) -> None:
    holder = runs.start(pauses={"20": "never"})
    until(lambda: holder.progress.step == 20)
    dead = runs.start()
    until(lambda: waits_for(dead, holder))
    last = runs.start()
    until(lambda: waits_for(last, holder, dead))
    os.kill(pid_of(dead, "supervisor"), signal.SIGKILL)
    assert dead.wait(LIMIT_SECONDS) == "lost"
    os.kill(pid_of(holder, "supervisor"), signal.SIGKILL)
    assert last.wait(LIMIT_SECONDS) == "finished"
    assert holder.status == "lost"
