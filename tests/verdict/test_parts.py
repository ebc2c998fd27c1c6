"""The breakdown of a step made of known parts finds these parts."""

import pytest

from tests.verdict.steps import ROUNDS, broken_down, step_times
from workbench.verdict.parts import break_down, joined

KNOWN = {
    "input": 2e-3, "communication": 5e-4, "host": 3e-4, "recording": 1e-4, "fixed": 4e-4,
    "crowding": 3e-4,
}  # fmt: skip


@pytest.mark.parametrize("tasks", [1, 2, 3])
def test_the_parts_are_the_parts_that_the_step_was_made_of(tasks: int) -> None:
    known = KNOWN if tasks == 1 else {**KNOWN, "waiting": 1e-3}
    found = broken_down(known, tasks)
    step = sum(value for name, value in known.items() if name not in ("fixed", "crowding")) + 1e-3
    assert found.step.value == pytest.approx(step, rel=0.02)
    for part in (*found.parts, *found.within):
        expected = {"compute": 1e-3, **known}[part.name]
        assert part.seconds.value == pytest.approx(expected, abs=0.02 * step)
        assert part.seconds.low <= part.seconds.value <= part.seconds.high
        assert found.differs(part.name)
    assert found.sums_to_step


def test_one_replica_has_nothing_to_sum() -> None:
    found = broken_down({"input": 1e-3}, replicas=1)
    assert [part.name for part in found.parts] == ["input", "compute", "host", "recording"]
    assert [part.name for part in found.within] == ["fixed"]
    assert found.paces == ()


def test_an_absent_part_does_not_differ_from_zero() -> None:
    found = broken_down({"input": 3e-3}, tasks=2)
    assert found.differs("input")
    assert not any(map(found.differs, ("communication", "host", "waiting")))
    assert found.slowest is None


def test_the_slowest_worker_is_named() -> None:
    found = broken_down({"waiting": 5e-4}, tasks=3)
    assert found.slowest is not None
    assert found.slowest.task == "worker-2"
    assert found.share("waiting") == pytest.approx(1 / 3, abs=0.03)


def test_a_sum_that_hides_behind_the_slowest_workers_input_takes_no_time() -> None:
    times = step_times({"communication": 5e-4, "waiting": 1e-3}, tasks=2)
    slowest = times[1]["rounds"]  # it makes its batches during the sum of the gradients
    slowest["alone"] = [each - 1e-4 for each in slowest["step"]]
    found = break_down(times)
    assert found.share("communication") == pytest.approx(1e-4 / 2.5e-3, abs=0.01)
    assert found.sums_to_step


def test_a_negative_part_counts_as_unexplained() -> None:
    times = step_times({})
    times[0]["rounds"]["compute"] = [2 * each for each in times[0]["rounds"]["memory"]]
    found = break_down(times)
    (communication,) = [part for part in found.parts if part.name == "communication"]
    assert communication.seconds.value < 0
    assert communication.shown_seconds == found.share("communication") == 0
    assert found.unexplained_seconds == pytest.approx(communication.seconds.value, rel=0.02)
    assert not found.sums_to_step


def test_the_host_part_is_the_time_that_more_steps_a_call_would_save() -> None:
    times = step_times({"input": 1e-3, "host": 2e-3})
    times[0]["rounds"]["many"] = [2.5e-3] * ROUNDS  # 0.5 ms of the input is for each call
    found = break_down([{**times[0], "rounds": {**times[0]["rounds"]}}])
    assert found.share("host") == pytest.approx(1.5 / 4, abs=0.03)
    assert found.share("input") == pytest.approx(1.5 / 4, abs=0.03)


def test_the_host_part_does_not_suffer_if_the_speed_of_the_machine_varies() -> None:
    times = step_times({"input": 1e-3}, noise=0.0)
    slow = [1.0] * 7 + [2.0] * 8
    times[0]["rounds"]["step"] = [2e-3 * each for each in slow]
    slow[7] = 1.0  # the machine is fast again within this round
    times[0]["rounds"]["many"] = [2e-3 * each for each in slow]
    found = break_down(times)
    assert found.share("host") == 0
    assert found.sums_to_step


def test_two_measurements_are_joined() -> None:
    times, again = step_times({"input": 1e-3}), step_times({"input": 1e-3})
    del times[0]["rounds"]["solo"]
    found = break_down(joined(times, again))
    assert found.rounds == 2 * ROUNDS
    assert [part.name for part in found.within] == ["fixed"]
    assert found.share("input") == pytest.approx(0.5, abs=0.03)


def test_an_unmeasured_part_is_left_out_and_has_a_reason() -> None:
    times = step_times({"input": 1e-3})
    del times[0]["rounds"]["batch"], times[0]["rounds"]["solo"]
    times[0]["unmeasured"] = {"batch": "InvalidArgumentError: ..."}
    found = break_down(times)
    assert found.within == ()
    assert found.share("fixed") == 0
    assert found.unmeasured == {"batch": "InvalidArgumentError: ..."}
