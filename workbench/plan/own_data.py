"""The user's own data: the function that returns it, and the facts found about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .. import catalog
from ..fields import is_own
from .own_function import read_own_function
from .problems import Findings

if TYPE_CHECKING:
    from ..config import RunConfig
    from .own_function import OwnFunction

ARRAYS, DATASET = "arrays", "dataset"
OWN_ORDER = (
    "The workbench does not shuffle your data set: shuffle it in your function. A resumed run "
    "first reads all examples up to the checkpoint again, which takes as long as the first time."
)


@dataclass(frozen=True)
class DataFacts:
    """The facts found about the data of a user's function. Sizes count examples."""

    kind: str
    """`arrays`, or `dataset` for a tf.data.Dataset."""
    train_examples: int
    test_examples: int
    example: str
    """An example in words: shapes and types."""
    example_bytes: int
    """Bytes of an example in memory; 0 if examples differ in size."""
    reads_files: bool = False
    """Whether it reads TFRecord, text or fixed-length files, which can be split among workers."""


def find_data(
    findings: Findings, config: RunConfig, facts: DataFacts | None
) -> tuple[catalog.Data | None, OwnFunction | None]:
    """Return the data's row and the user's own function, or note why there is no data.

    Data of the catalogue has no function. Without facts there is a function but no row, because
    its data is not yet known.
    """
    if not is_own(config.data):
        return findings.known("data", config.data, catalog.DATA), None
    function = read_own_function(findings, "data", config.data)
    if function is None or facts is None:
        return None, function
    row = catalog.Data(
        "The user's data",
        facts.example,
        train_examples=facts.train_examples,
        test_examples=facts.test_examples,
    )
    _check_pipeline(findings, config, facts)
    return row, function


def _check_pipeline(findings: Findings, config: RunConfig, facts: DataFacts) -> None:
    fitting = ("usual", "cached") if facts.kind == DATASET else ("usual", "indexed", "numpy")
    what = "your own tf.data.Dataset, which is read in its own order"
    if facts.kind == ARRAYS:
        what = "your own arrays, which are not written to files"
    if config.pipeline not in fitting:
        rule = f"{' or '.join(fitting)} with {what}"
        findings.add("pipeline", rule, config.pipeline, "Choose usual.")
    if config.auto_shard == "file" and not facts.reads_files:
        rule = "auto, data or off: your data is not read from TFRecord, text or fixed-length files"
        findings.add("auto_shard", rule, "file", "Choose auto.")
    if facts.kind == DATASET and config.last_batch == "keep":
        rule = "drop or repeat with your own tf.data.Dataset, which gives only full batches"
        findings.add("last_batch", rule, "keep", "Choose drop or repeat.")
