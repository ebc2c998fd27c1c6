"""The breakdown of a step made of known parts finds these parts."""

import pytest

from tests.verdict.steps import ROUNDS, broken_down, step_times
from workbench.verdict.parts import Breakdown, break_down, joined

KNOWN = {
    "input": 2e-3, "communication": 5e-4, "host": 3e-4, "recording": 1e-4, "fixed": 4e-4,
    "crowding": 3e-4,
}  # fmt: skip


def assert_sums_to_step(found: Breakdown) -> None:
    """Check that the parts add up to the step, and that none within compute is larger than it."""
    shares = [found.share(part.name) for part in found.parts]
    assert min(shares) >= 0
    assert sum(shares) == pytest.approx(1)
    assert all(found.share(part.name) <= found.share("compute") for part in found.within)


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
    assert_sums_to_step(found)
    assert found.fits_step


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
    assert_sums_to_step(found)


def test_parts_that_exceed_the_step_are_scaled_down_to_it_but_not_their_upper_limits() -> None:
    times = step_times({"host": 1e-3, "fixed": 9e-4, "crowding": 9e-4})
    times[0]["rounds"]["step"] = [0.9 * each for each in times[0]["rounds"]["step"]]
    found = break_down(times)
    assert_sums_to_step(found)
    assert not found.fits_step
    assert found.overlap_share == pytest.approx(1 / 9, abs=0.02)
    assert found.share("input") == 0
    for name in ("compute", "host"):
        share, unscaled = found.shares(name), 1e-3 / found.step.value
        assert share.value == pytest.approx(0.5, abs=0.02)
        assert share.low <= share.value < unscaled <= share.high


def test_a_part_that_is_below_zero_counts_as_zero() -> None:
    times = step_times({})
    times[0]["rounds"]["compute"] = [2 * each for each in times[0]["rounds"]["memory"]]
    found = break_down(times)
    assert found.share("communication") == 0
    assert found.overlap_share == pytest.approx(1, abs=0.05)
    assert_sums_to_step(found)


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
    assert_sums_to_step(found)


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
