"""The choice of the Keras that runs a config, and the known faults of the installed Keras."""

from __future__ import annotations

import ast
import shlex
import tokenize
from typing import TYPE_CHECKING, NamedTuple

from .. import catalog
from .names import parse
from .own_function import module_file
from .plan import OwnFunction
from .problems import Findings

if TYPE_CHECKING:
    from ..catalog import Strategy
    from ..config import RunConfig
    from ..devices import Devices

LEGACY_NOTE = (
    "This run uses the tf-keras package as tf.keras, because Keras 3 does not "
    "support parameter servers in fit (keras issue 18624)."
)
LOST_COUNTS_NOTE = (
    "When workers train asynchronously, Keras 3's optimizers miss some steps in their own count, "
    "so Adam's bias correction lags. The recorded steps are counted separately and are exact."
)


class KnownFault(NamedTuple):
    """A release that, by report, trains wrongly or not at all with replicas in one process."""

    package: str
    version: str
    """The beginning of the release's version."""
    what: str


KNOWN_FAULTS = (
    KnownFault("keras", "3.7.0", "models with Dropout cannot be built (keras issue 20611)"),
    KnownFault("keras", "2.11", "fit ends without an error (keras issue 17397)"),
    KnownFault("keras", "2.12", "fit ends without an error (tensorflow issue 59091)"),
    KnownFault("tensorflow", "2.16", "apply_gradients may hang (tensorflow issue 72686)"),
    KnownFault("tensorflow", "2.17", "apply_gradients may hang (tensorflow issue 72686)"),
)


def uses_legacy_keras(config: RunConfig, strategy: Strategy) -> bool:
    """Return whether only the tf-keras package can run the config."""
    return config.loop == "fit" and not strategy.synchronous


def needs_legacy_keras(config: RunConfig) -> bool:
    """Return `uses_legacy_keras` before planning; False if the config's strategy is unknown."""
    strategy = catalog.STRATEGIES.get(config.strategy)
    return strategy is not None and uses_legacy_keras(config, strategy)


def check_keras(
    findings: Findings,
    config: RunConfig,
    strategy: Strategy,
    devices: Devices,
    own_model: OwnFunction | None,
) -> None:
    """Note that tf-keras is missing, or that the user's own model needs Keras 3 instead."""
    if not uses_legacy_keras(config, strategy):
        return
    if devices.tf_keras_version is None:
        rule = "custom with this strategy if the tf-keras package is not installed"
        fix = (
            f"Run {shlex.quote(devices.interpreter)} -m pip install tf-keras, or choose the loop "
            f"custom. {LEGACY_NOTE}"
        )
        findings.add("loop", rule, config.loop, fix)
    if own_model is not None and _imports_keras(own_model):
        rule = "one that uses tf.keras and does not import keras, which is Keras 3"
        fix = f"Write tf.keras instead, or choose the loop custom. {LEGACY_NOTE}"
        findings.add("model", rule, config.model, fix)


def keras_notes(config: RunConfig, strategy: Strategy, devices: Devices) -> tuple[str, ...]:
    """Return the notes about Keras that the user must know before the start."""
    if uses_legacy_keras(config, strategy):
        return (LEGACY_NOTE,)
    if not strategy.synchronous:
        return (LOST_COUNTS_NOTE,)
    if not (strategy.mirrors or strategy.workers):
        return ()
    versions = {"keras": devices.keras_version, "tensorflow": devices.tensorflow_version}
    return tuple(
        f"With {fault.package} {versions[fault.package]} under {strategy.label}, {fault.what}. "
        "If this happens in your run, install a newer release."
        for fault in KNOWN_FAULTS
        if (versions[fault.package] or "").startswith(fault.version)
    )


def _imports_keras(model: OwnFunction) -> bool:
    """Return whether the model's file imports keras.

    An unreadable file gives False; its error is reported when the model is tried.
    """
    try:
        nodes = list(ast.walk(parse(_source(model))))
    except (OSError, SyntaxError, ValueError):
        return False
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [
        node.module or "" for node in nodes if isinstance(node, ast.ImportFrom) if not node.level
    ]
    return any(name.split(".")[0] == "keras" for name in names)


def _source(model: OwnFunction) -> str:
    if model.source is not None:
        return model.source
    file = module_file(model.module or "")
    if file is None:
        return ""
    with tokenize.open(file) as text:
        return text.read()
