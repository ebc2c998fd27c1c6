"""Should I scale? How far more replicas help a run, and the gain in examples per second."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from workbench.runs.folder.checkpoints import FOLDER, Saved
from workbench.runs.folder.files import RunError, json_text, write_text
from workbench.runs.made_of import made_of
from workbench.runs.programs.measurement import read_measurement
from workbench.runs.programs.noise import measure_gradients

from .noise_scale import NoiseScale, estimate, most_speedup, statistical_efficiency

if TYPE_CHECKING:
    from workbench.runs import Run

STEPS = 128
"""The steps that are taken by default."""
TIMES = (1, 2, 4, 8, 16)
NEARLY_FULL = 9
"""A batch of the noise scale divided by this number keeps nine tenths of an example's worth. Up to
this batch more replicas help nearly in full."""
RESULT = "noise.json"
SAME = ("data", "model", "precision")
"""What runs with one noise scale are made of alike; see `runs.made_of`."""


@dataclass(frozen=True)
class Larger:
    """The effect of a global batch of `times` times the run's batch. None is unknown.

    Low and high are the ends of 95 % intervals. A low end alone means at least this value.
    """

    times: int
    global_batch_size: int
    efficiency: float | None
    """An example's worth in steps of this batch, as a share of its worth in tiny steps."""
    efficiency_low: float | None
    efficiency_high: float | None
    most_speedup: float | None
    """How many times faster the same loss is reached, if a step takes no longer than now."""
    most_speedup_low: float | None
    most_speedup_high: float | None


@dataclass(frozen=True)
class Goodput:
    """Throughput times statistical efficiency; None is unknown."""

    name: str
    global_batch_size: int
    examples_per_second: float
    efficiency: float | None
    goodput: float | None
    """Examples per second that count in full."""
    goodput_low: float | None
    goodput_high: float | None


@dataclass(frozen=True)
class Scaling:
    """The answer for a run, at the weights of its newest checkpoint."""

    run: str
    global_batch_size: int
    replicas: int
    virtual: bool
    """Whether its replicas share a device, so that speeds mean little."""
    noise_scale: NoiseScale
    growth: tuple[NoiseScale, ...]
    """At the first weights and each kept checkpoint, in order; else only at the newest."""
    larger: tuple[Larger, ...]
    """The current batch, and batches 2, 4, 8 and 16 times as large."""
    goodput: tuple[Goodput, ...]
    """The goodput of this run and of the runs in `beside`, the best first."""
    best: str | None
    """The name of the best goodput at both ends of the interval; None if that is not settled."""

    @property
    def sentence(self) -> str:
        """The answer in a sentence or two."""
        return _sentence(self.noise_scale, self.larger[0], self.larger[1])

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {**asdict(self), "sentence": self.sentence}

    def figure(self) -> Any:
        """Return a plotly figure of efficiency against the global batch."""
        from workbench.charts.scaling import scaling_figure

        curves = [(each.step, each.examples, each.low, each.high) for each in self.growth]
        return scaling_figure(curves, self.global_batch_size)


def should_scale(
    run: Run,
    steps: int = STEPS,
    *,
    growth: bool = False,
    beside: Mapping[str, tuple[int, float]] | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> Scaling:
    """Measure a run's gradient noise scale and return how far more replicas help it.

    It takes some seconds plus the time of the steps; see `noise.measure_gradients`. The answer is
    kept in the run's folder, in noise.json.

    Args:
        run: a run that has saved a checkpoint, alive or over.
        steps: global batches of its data to take; fewer if a pass through the data has fewer.
        growth: also measure at the first weights and at each older checkpoint.
        beside: other runs of the same model and data: their global batch and examples per second.
        stopped: asked repeatedly; once it returns true, the measurement ends without a result.

    Raises:
        RunError: see `noise.measure_gradients`.
        StoppedError: `stopped` returned true.
    """
    measured = measure_gradients(run.dir, steps, growth=growth, stopped=stopped)
    found = tuple(map(estimate, measured))
    plan, speed = run.plan, run.result()["examples_per_second"]
    batch = int(plan.global_batch_size or 0)
    own = {} if speed is None else {_label(run): (batch, float(speed))}
    goodput = goodputs(found[-1], {**own, **(beside or {})})
    answer = Scaling(
        run=run.id,
        global_batch_size=batch,
        replicas=plan.num_replicas_in_sync,
        virtual=plan.virtual,
        noise_scale=found[-1],
        growth=found,
        larger=tuple(larger(found[-1], batch, times) for times in TIMES),
        goodput=goodput,
        best=best_of(goodput),
    )
    write_text(run.dir / RESULT, json_text(answer.to_json()))
    return answer


def saved_scaling(run: Run) -> Scaling | None:
    """Return the last answer for a run; None if there is none.

    Raises:
        RunError: the answer cannot be read.
    """
    return read_measurement(run.dir / RESULT, Scaling)


def expected_seconds(run: Run, steps: int = STEPS, *, growth: bool = False) -> float | None:
    """Return the seconds that `should_scale` may take, as long as the run took for the same work.

    None if the run has not recorded that.
    """
    rate, batch = run.result()["examples_per_second"], run.plan.global_batch_size
    start = sum(entry.seconds for entry in run.ledger.first_step if entry.name != "queue")
    if not (rate and batch and start):
        return None
    saved = Saved.read(run.dir / FOLDER) if growth else None
    places = 1 + (len(saved.whole()) if saved else 0)
    in_pass = run.plan.steps_of_a_pass
    return float(start + places * min(steps, in_pass) * batch / rate)


def speeds_of(run: Run, others: Sequence[Run]) -> dict[str, tuple[int, float]]:
    """Return global batch and examples per second of other runs, as the argument `beside`.

    Raises:
        RunError: another run trains another model or other data, its workers are asynchronous,
            or it has not run long enough for its speed to be known.
    """
    speeds = {}
    for other in others:
        own, its = (made_of(each.dir, each.plan) for each in (run, other))
        differ = [name for name in SAME if own[name] != its[name]]
        speed, batch = other.result()["examples_per_second"], other.plan.global_batch_size
        why = f"another {', '.join(differ)}" if differ else ""
        why = why or ("asynchronous workers" if batch is None else "")
        why = why or ("no speed yet" if speed is None else "")
        if why or batch is None:
            raise RunError(
                f"Goodput cannot compare {other.id} with {run.id}: it has {why}. Leave it out."
            )
        speeds[_label(other)] = batch, float(speed)
    return speeds


def _label(run: Run) -> str:
    return f"{run.id} {run.name}".rstrip()


def larger(noise: NoiseScale, batch: int, times: int) -> Larger:
    """Return the effect of a batch `times` as large as `batch`, at a noise scale."""
    ends = noise.examples, noise.low, noise.high
    shares = [None if end is None else statistical_efficiency(end, times * batch) for end in ends]
    speeds = [None if end is None else most_speedup(end, batch, times) for end in ends]
    return Larger(times, times * batch, *shares, *speeds)


def goodputs(noise: NoiseScale, speeds: Mapping[str, tuple[int, float]]) -> tuple[Goodput, ...]:
    """Return the goodput of each of several runs of one model and data, the best first.

    Qiao et al., section 3: throughput times efficiency. One noise scale serves all,
    because it depends on the model, the data and the point of training, not on the batch.

    Args:
        noise: measured in one of the runs.
        speeds: by name, the global batch and the examples per second.
    """
    found = []
    for name, (batch, rate) in speeds.items():
        each = larger(noise, batch, 1)
        shares = each.efficiency, each.efficiency_low, each.efficiency_high
        good = [None if share is None else rate * share for share in shares]
        found.append(Goodput(name, batch, rate, each.efficiency, *good))
    return tuple(sorted(found, key=lambda each: -(each.goodput or each.goodput_low or 0.0)))


def best_of(goodput: tuple[Goodput, ...]) -> str | None:
    """Return the name of the best goodput at both ends of the noise scale's interval.

    Without an upper end all examples may count in full, and throughput decides at that end.
    """
    if not goodput or any(each.goodput_low is None for each in goodput):
        return None
    low = max(goodput, key=lambda each: each.goodput_low or 0.0)
    high = max(goodput, key=lambda each: each.goodput_high or each.examples_per_second)
    return low.name if low is high else None


def about(examples: float) -> str:
    """Return a number of examples to two digits, at least 1."""
    return f"{max(1.0, float(f'{examples:.2g}')):,.0f}"


def _sentence(noise: NoiseScale, now: Larger, twice: Larger) -> str:
    batch = now.global_batch_size
    yours = f"per step; yours takes {batch:,}"
    if noise.low is None:
        return f"It is unknown how far more replicas help: {noise.reason}."
    if noise.high is None or noise.examples is None:
        lead = "Yes: more" if batch * NEARLY_FULL <= noise.low else "More"
        return (
            f"{lead} replicas help nearly in full up to at least {about(noise.low / NEARLY_FULL)} "
            f"examples {yours}. Where that ends is unknown: {noise.reason}."
        )
    part = "In part" if batch <= noise.examples else "Hardly"
    lead = "Yes" if batch * NEARLY_FULL <= noise.examples else part
    return (
        f"{lead}: more replicas help nearly in full up to about "
        f"{about(noise.examples / NEARLY_FULL)} examples {yours}. In batches of about "
        f"{about(noise.examples)} (the gradient noise scale), an example helps half as much as in "
        "small batches. With twice the replicas, training reaches the same loss at most "
        f"{twice.most_speedup:.2g} times as fast."
    )
