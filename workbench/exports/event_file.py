"""One event file for TensorBoard, written with TensorBoard's own writer and protocol buffers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.types_pb2 import DT_STRING
from tensorboard.plugins.hparams.summary_v2 import hparams_pb
from tensorboard.plugins.text.metadata import create_summary_metadata
from tensorboard.summary.writer.record_writer import RecordWriter

FILE_VERSION = "brain.Event:2"


class EventFile:
    """A file of events in a folder, which this class makes; a context manager."""

    def __init__(self, folder: Path, created: float) -> None:
        """Make the folder and the file.

        `created` is the creation time of the run in seconds since 1970. The file's name has it.
        """
        self._created = created
        folder.mkdir(parents=True, exist_ok=True)
        # TensorBoard knows event files by this part of their name, and sorts them by the number.
        path = folder / f"events.out.tfevents.{int(created):010d}.workbench"
        self._writer = RecordWriter(path.open("wb"))
        self._write(Event(wall_time=created, file_version=FILE_VERSION))

    def __enter__(self) -> EventFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._writer.close()

    def scalars(self, step: int, time: float, values: Mapping[str, float]) -> None:
        """Add the numbers of a step by their tags; `time` is in seconds since 1970."""
        if values:
            pairs = [Summary.Value(tag=tag, simple_value=value) for tag, value in values.items()]
            self._write(Event(wall_time=time, step=step, summary=Summary(value=pairs)))

    def text(self, tag: str, markdown: str) -> None:
        """Add a text."""
        content = TensorProto(dtype=DT_STRING, string_val=[markdown.encode("utf-8", "replace")])
        value = Summary.Value(tag=tag, tensor=content, metadata=create_summary_metadata(tag, ""))
        self._write(Event(wall_time=self._created, summary=Summary(value=[value])))

    def hyperparameters(self, trial: str, values: Mapping[str, bool | int | float | str]) -> None:
        """Add the values by which the HParams page compares runs."""
        summary = hparams_pb(dict(values), trial_id=trial, start_time_secs=self._created)
        self._write(Event(wall_time=self._created, summary=summary))

    def _write(self, event: Event) -> None:
        self._writer.write(event.SerializeToString())
