"""The devices of this machine: first a quick detection, later TensorFlow's own answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import ipywidgets as ipw

from workbench import devices as machine
from workbench import units
from workbench.devices.text import tpu_line
from workbench.runs.programs.detection import detect_devices
from workbench.widgets.kernel.background import ONE_TENSORFLOW, Latest, waiting
from workbench.widgets.parts import markup
from workbench.widgets.parts.fold import Fold
from workbench.widgets.parts.page_parts import html, styled

from .environment_view import EnvironmentView
from .gauge import Gauge

if TYPE_CHECKING:
    from workbench.devices import Devices


TIMEOUT_SECONDS = 300.0


class Hardware:
    """A view that shows the devices of the run's interpreter and passes each newer answer on.

    `host` is the host of the notebook in a line.
    """

    def __init__(self, interpreter: str | None = None, host: str = "") -> None:
        self._host = [("Host", host)] if host else []
        self._found: Callable[[Devices], None] = lambda devices: None
        self._interpreter = interpreter
        self._asking: Latest[Devices] = Latest()
        self._facts = html(description="Hardware")
        self._state = html(description="State of the detection")
        self._refresh = styled(
            ipw.Button, "wb-small", description="Refresh", icon="refresh",
            tooltip="Detect the hardware again",
        )  # fmt: skip
        self._refresh.on_click(self._on_refresh)
        self._message = html(description="Messages of the detection")
        self._gauge = Gauge(lambda: self.devices)
        self.environment = EnvironmentView()
        row = styled(ipw.Box, "wb-row", children=[self._refresh, self._state])
        self._fold = Fold("Hardware", self._facts, self._gauge, row)
        self._problems = html(description="Problems of the machine")
        parts = [self._fold.box, self._problems, self._message, self.environment.box]
        self.box = styled(ipw.VBox, "wb-hardware", children=parts)
        self.devices = machine.detect(interpreter, import_tensorflow=False)
        self._show(self.devices)

    def on_found(self, found: Callable[[Devices], None]) -> None:
        """Call `found`, in a background thread, with each answer of TensorFlow."""
        self._found = found

    def close(self) -> None:
        """Stop measuring the use of the devices."""
        self._gauge.end()

    def ask(self, interpreter: str | None) -> None:
        """Ask TensorFlow in this interpreter, in the background; the answer takes seconds."""
        self._interpreter = interpreter
        self._refresh.disabled = True
        self._message.value = ""
        self._state.value = markup.quiet("Asking TensorFlow which devices it can use ...")
        self._asking.ask(lambda: _detect(interpreter), self._answered, self._failed)

    def _on_refresh(self, _: Any) -> None:
        self.ask(self._interpreter)

    def _answered(self, devices: Devices) -> None:
        self.devices = devices
        self._show(devices)
        asked = devices.tensorflow_version is not None
        state = "As TensorFlow sees it." if asked else "Found without TensorFlow."
        self._state.value = markup.quiet(state)
        self._refresh.disabled = False
        self._found(devices)

    def _failed(self, error: Exception) -> None:
        self._state.value = markup.quiet("Found without TensorFlow.")
        self._message.value = markup.notice("error", str(error))
        self._refresh.disabled = False

    def _show(self, devices: Devices) -> None:
        problems = "".join(markup.notice("warning", problem) for problem in devices.problems)
        self._fold.title = one_line(devices)
        self._problems.value = problems
        self._facts.value = markup.facts([*_rows(devices), *self._host], "wb-inline")
        self.environment.offer(devices)


def _detect(interpreter: str | None) -> Devices:
    with waiting(), ONE_TENSORFLOW:
        return detect_devices(interpreter, TIMEOUT_SECONDS)


def one_line(devices: Devices) -> str:
    """Return the machine in one line: accelerators, processor, memory, TensorFlow."""
    version = devices.tensorflow_version
    parts = [
        *_accelerators(devices),
        f"{devices.cpu_model or 'CPU of unknown model'}, {_cores(devices)}",
        units.byte_size(devices.memory_bytes),
        f"TensorFlow {version}" if version else "no TensorFlow",
    ]
    return " \u00b7 ".join(parts)


def _accelerators(devices: Devices) -> list[str]:
    """Return one text for each model of GPU with their number, and one for the TPU."""
    models = Counter(gpu.model or "GPU of unknown model" for gpu in devices.gpus)
    gpus = [f"{count} x {model}" if count > 1 else model for model, count in models.items()]
    tpu = [tpu_line(devices)] if devices.tpu_chips else []
    return [*gpus, *tpu] or ["no GPU"]


def _cores(devices: Devices) -> str:
    return "1 core" if devices.cpu_cores == 1 else f"{devices.cpu_cores} cores"


def _rows(devices: Devices) -> list[tuple[str, str]]:
    rows = [
        ("CPU", f"{devices.cpu_model or 'model unknown'}, {_cores(devices)}"),
        ("Memory", units.byte_size(devices.memory_bytes)),
        ("GPUs", "none" if not devices.gpus else ""),
    ]
    if devices.gpus:
        rows.pop()
    for gpu in devices.gpus:
        parts = [gpu.model or "model unknown", units.byte_size(gpu.memory_bytes)]
        if gpu.compute_capability:
            parts.append(f"compute capability {gpu.compute_capability}")
        rows.append((gpu.name, ", ".join(parts)))
    if devices.tpu_chips:
        rows.append(("TPU", tpu_line(devices)))
    keras = [f"Keras {devices.keras_version}" if devices.keras_version else ""]
    keras += [f"tf-keras {devices.tf_keras_version}" if devices.tf_keras_version else ""]
    versions = [devices.tensorflow_version or "not installed", *filter(None, keras)]
    rows.append(("TensorFlow", ", ".join(versions)))
    rows.append(("Python", f"{devices.python_version}, {devices.interpreter}"))
    return rows
