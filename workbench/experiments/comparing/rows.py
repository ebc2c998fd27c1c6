"""The rows of a comparison: groups of runs, their numbers, and the table of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from workbench.interval import Interval
from workbench.runs.made_of import WORK

if TYPE_CHECKING:
    import pandas as pd

    from workbench.runs import Run


@dataclass(frozen=True)
class Group:
    """Runs that differ only in the time at which they ran."""

    label: str
    runs: tuple[Run, ...] = ()
    reason: str = ""
    """Why there are no runs, or fewer than requested."""
    rounds: tuple[int, ...] = ()
    """The round of each run; empty if the runs were not run in turn with other groups."""
    runs_left: int = 0
    """How many requested runs are not over; a comparison that goes on, or is resumed, runs them."""


@dataclass(frozen=True)
class Row:
    """A group's numbers: the medians of its finished runs, unless stated otherwise. None: unknown.

    A speed-up compares with the baseline: how many times as many examples per second. It is unknown
    if model or data differ from those of the baseline, because their examples are not alike.
    """

    label: str
    runs: tuple[str, ...]
    statuses: tuple[str, ...]
    model: str = ""
    data: str = ""
    batch: str = ""
    """The examples of a step, in words: of all replicas, or of each worker by itself."""
    replicas: int | None = None
    """The replicas that train simultaneously; for ParameterServer, its workers."""
    global_batch_size: int | None = None
    examples_per_second: float | None = None
    """The geometric mean."""
    examples_per_second_interval: Interval | None = None
    goodput: float | None = None
    """Examples per second that count in full. It and its ends are unknown if no run that trains the
    same has a measured noise scale. Low without high: it is at least `goodput_low`."""
    goodput_low: float | None = None
    goodput_high: float | None = None
    speed_up: float | None = None
    speed_up_interval: Interval | None = None
    scaling_efficiency: float | None = None
    """The speed-up divided by the ratio of replicas to the baseline's replicas."""
    step_seconds_median: float | None = None
    step_seconds_p95: float | None = None
    peak_host_bytes: float | None = None
    peak_device_bytes: float | None = None
    """The peak of the GPU or TPU that held most."""
    loss: float | None = None
    accuracy: float | None = None
    test_loss: float | None = None
    test_accuracy: float | None = None
    target_seconds: float | None = None
    """The median; a run that missed the target counts as slower than all runs that reached it. So
    it is unknown unless more than half of the runs reached the target."""
    training_seconds: float | None = None
    max_loss_difference: float | None = None
    """The largest difference in any step, between the first run and the baseline's first run."""
    notes: tuple[str, ...] = ()

    @property
    def work(self) -> tuple[str, ...]:
        """The work of a step. Only rows with the same work are ranked."""
        return tuple(getattr(self, name) for name in WORK)

    @property
    def last_accuracy(self) -> float | None:
        """The test accuracy, or the training accuracy if nothing is tested."""
        return self.accuracy if self.test_accuracy is None else self.test_accuracy

    @property
    def differs(self) -> bool | None:
        """Whether its speed differs significantly from the baseline's; None if that is unknown."""
        interval = self.speed_up_interval
        return None if interval is None else interval.differs_from(1.0)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {**asdict(self), "differs": self.differs}


@dataclass(frozen=True)
class Table:
    """All rows, and the facts that concern all of them."""

    rows: tuple[Row, ...]
    baseline: int | None
    """The number of the row that the others are compared with; None: no row has a speed."""
    notes: tuple[str, ...]
    target_accuracy: float | None = None

    def frame(self) -> pd.DataFrame:
        """Return a row for each label, with the fields of `Row` as columns.

        An interval becomes two columns, such as `speed_up_low` and `speed_up_high`.
        """
        import pandas as pd

        rows = []
        for row in self.rows:
            values = row.to_json()
            for name in ("examples_per_second", "speed_up"):
                interval = values.pop(f"{name}_interval") or {}
                values |= {f"{name}_{end}": interval.get(end) for end in ("low", "high")}
            rows.append(values)
        return pd.DataFrame(rows).set_index("label")

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "rows": [row.to_json() for row in self.rows],
            "baseline": self.baseline,
            "notes": self.notes,
            "target_accuracy": self.target_accuracy,
        }
