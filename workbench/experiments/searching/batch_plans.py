"""The plans of a config with other batch sizes."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from workbench.plan import PlanError, make_plan

if TYPE_CHECKING:
    from workbench.config import RunConfig
    from workbench.devices import Devices
    from workbench.plan import Plan
    from workbench.plan.plan import DataFacts

NEARBY = 4


def with_size(config: RunConfig, size: int) -> RunConfig:
    return dataclasses.replace(config, per_replica_batch_size=size, global_batch_size=None)


class Plans:
    """The plans of all sizes."""

    def __init__(self, config: RunConfig, devices: Devices, facts: DataFacts | None) -> None:
        self._config, self._devices, self._facts = config, devices, facts
        self.first = self.nearest(1, below=2 + NEARBY)
        """The plan of the smallest size."""
        whole = self.first.num_train_examples // self.first.num_replicas_in_sync
        self.refused = ""
        """Why a larger size than `most` cannot be planned; empty if the data is the limit."""
        self.most = self._most(max(1, whole))
        """The largest size that data and memory allow."""

    def _plan(self, size: int) -> Plan:
        return make_plan(with_size(self._config, size), self._devices, self._facts)

    def _most(self, whole: int) -> int:
        try:
            return self.nearest(whole).per_replica_batch_size
        except PlanError as error:
            self.refused = str(error.problems[0])
        most, end = self.first.per_replica_batch_size, whole
        while end - most > 1:
            size = (most + end) // 2
            try:
                most = self.nearest(size, most, end).per_replica_batch_size
            except PlanError:
                end = size
        return most

    def nearest(self, size: int, above: int = 0, below: int | None = None) -> Plan:
        """Return the plan of a size, or of the nearest size between two others that has a plan.

        The examples left at the end of an epoch may be too few for a last batch. With one example
        less in each batch they may be enough.

        Raises:
            PlanError: no size near this one has a plan.
        """
        end = size + 1 if below is None else below
        near = [*range(size, above, -1)][:NEARBY] + [*range(size + 1, end)][:NEARBY]
        refused = []
        for each in near:
            try:
                return self._plan(each)
            except PlanError as error:
                refused.append(error)
        raise refused[0]
