"""The operation of a step that XLA, mixed precision or determinism refused, from a run's log.

The supervisor imports this module, so it uses only the standard library.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

LINES = 400
"""Lines of a log's end; below the reason TensorFlow lists where the operation was made."""
_XLA_FIX = (
    "Turn xla off, or replace the operation in your model, step or metrics. Process text, and call "
    "Python, in the data pipeline."
)
_XLA: tuple[tuple[str, str], ...] = (
    (
        r"Detected unsupported operations when trying to compile graph .* on XLA_\w+: (?P<op>\w+)",
        "the operation {op} of this step: it has no XLA kernel here",
    ),
    (
        r"Input \d+ to node `[^`]*` with op (?P<op>\w+) must be a compile-time constant",
        "this step: the shape of {op} depends on values that are known only when the step runs",
    ),
    (
        r"can't deduce compile time constant \w+ shape for (?P<op>strided slice)",
        "this step: the shape of {op} depends on values that are known only when the step runs",
    ),
    (
        r"(?P<op>Const) op with type DT_STRING is not supported by XLA",
        "text, and this step has {op} of text",
    ),
    (
        r"Trying to access resource (?P<op>\S+) .*located in device \S+ from device",
        "this step: a replica reads {op} from another device",
    ),
)
_HALF_FIX = (
    'Cast with tf.cast(value, inputs.dtype), give that layer dtype="float32", or choose precision '
    "float32."
)
_HALF: tuple[tuple[str, str], ...] = (
    (
        r"Input '\w+' of '(?P<op>\w+)' Op has type (?P<given>\w+) that does not match type "
        r"(?P<half>b?float16)",
        "layers compute in {half}; {op} was given {given} too",
    ),
    (
        r"cannot compute (?P<op>\w+) as input #\d+\(zero-based\) was expected to be a "
        r"(?P<half>half|bfloat16) tensor but is a (?P<given>\w+) tensor",
        "layers compute in {half}; {op} was given {given} too",
    ),
    (
        r"\(of type (?P<op>\w+)\)(?:(?!\(of type)[\s\S])*"
        r"DataType (?P<half>b?float16) not in list of allowed",
        "layers compute in {half}; {op} has an operation that cannot",
    ),
)
_DETERMINISM_FIX = (
    "Turn deterministic off and unset TF_DETERMINISTIC_OPS, or replace the operation in your model "
    "or step."
)
_DETERMINISM = (
    r"[Dd]eterministic GPU implementation of (?P<op>[^.\n]+?),? (?:is )?not (currently )?available",
    r"GPU implementation of (?P<op>\w+) that would have been executed is not deterministic",
    r"(?P<op>\w+) cannot be called when determinism is enabled",
)


def explain_refused(log: str) -> dict[str, str]:
    """Return `cause` and `fix` if a step could not be built as asked; else an empty dict."""
    return next(_explanations(log), {})


def _explanations(log: str) -> Iterator[dict[str, str]]:
    for pattern, rule in _XLA:
        if found := re.search(pattern, log):
            cause = f"XLA cannot compile {rule.format(**found.groupdict())}."
            yield {"cause": cause, "fix": _XLA_FIX}
    for pattern, rule in _HALF:
        if found := re.search(pattern, log):
            cause = f"In mixed precision, {rule.format(**found.groupdict())}."
            yield {"cause": cause, "fix": _HALF_FIX}
    for pattern in _DETERMINISM:
        if found := re.search(pattern, log):
            cause = f"{found['op']} has no deterministic version on this device."
            yield {"cause": cause, "fix": _DETERMINISM_FIX}
