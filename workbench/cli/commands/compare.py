"""`workbench compare`: strategies, loops and batches side by side, or existing runs."""

from __future__ import annotations

import json
import shlex
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from workbench.cli.before import ahead, devices_for
from workbench.cli.flags import (
    add_config_flags,
    add_runs_dir,
    config_from,
    given_flags,
    refuse_beside_earlier,
)
from workbench.cli.terminal import ProgressLine
from workbench.cli.watching import columns, watch_queue
from workbench.config import ConfigError, Problem, field_types
from workbench.experiments import (
    AXES,
    Advice,
    Comparison,
    Group,
    Table,
    candidates,
    group_runs,
    groups_of,
    make_table,
    recommend,
    start_comparison,
)
from workbench.experiments.comparing.advice import more_repeats
from workbench.experiments.comparing.wording import HEAD, cells, used_columns
from workbench.experiments.queueing.comparison import find_comparison
from workbench.experiments.queueing.tournament import DROP_BELOW, contenders, to_be_compared
from workbench.report import Compared, write_comparison
from workbench.runs import RunError, open_run
from workbench.verdict import SECONDS
from workbench.verdict.several import judge_each

if TYPE_CHECKING:
    from workbench.config import RunConfig

REPEATS = 3
TRAINING_FLAGS = (*field_types(), "preset", "config", "budget")
"""Flags of runs to train; an earlier comparison can be given more --repeats."""


def add_flags(parser: ArgumentParser) -> None:
    """Add the flags."""
    parser.description = (
        "Train every combination of the flags that have several values, --repeats times"
        " each, and compare their speeds with intervals. Without such flags, compare all strategies"
        " that this machine can run, and recommend one. With RUN, compare existing runs. Ctrl-C"
        " stops and prints the results so far; --resume continues."
    )
    text = "runs by id or folder, or the folder of an earlier comparison"
    parser.add_argument("runs", metavar="RUN", nargs="*", help=text)
    text = (
        f"runs of each combination. Three or more give intervals. Default: {REPEATS}. With the"
        " folder of an earlier comparison: train until it has this many."
    )
    parser.add_argument("--repeats", type=int, metavar="N", help=text)
    text = "time limit in seconds for all runs together. Default: no limit."
    parser.add_argument("--budget", type=float, metavar="SECONDS", help=text)
    text = (
        "report when each run reached this accuracy, such as 0.9, in testing or training, at the"
        " end of an epoch."
    )
    parser.add_argument("--target-accuracy", type=float, metavar="X", help=text)
    text = "label of the row that the others are compared with. Default: the first row."
    parser.add_argument("--baseline", metavar="LABEL", help=text)
    text = "write an HTML page with table, charts, verdicts, configs and scripts, to share"
    parser.add_argument("--html", metavar="FILE", help=text)
    text = (
        "with --html: time the step of each row's first run, as `workbench why` does, so that the"
        f" page shows where the time goes. About {SECONDS:g} s for each row."
    )
    parser.add_argument("--verdicts", action="store_true", help=text)
    text = "continue an earlier comparison that was stopped"
    parser.add_argument("--resume", action="store_true", help=text)
    add_config_flags(parser, several=AXES)
    add_runs_dir(parser)
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    parser.set_defaults(command=compare)


def compare(arguments: Namespace) -> int:
    """Compare; return 0 if all runs were done, 1 if a run failed or the comparison was stopped.

    Raises:
        ConfigError: a flag has no meaning with, or without, the named runs.
        RunError: the runs or the baseline do not exist, or the comparison cannot be started.
    """
    refuse_beside_earlier(arguments, "RUN", arguments.runs, TRAINING_FLAGS)
    if arguments.verdicts and not arguments.html:
        rule, fix = "given with --html", "Write: workbench compare RUN ... --html FILE --verdicts"
        raise ConfigError([Problem("--verdicts", rule, "no --html", fix)])
    if arguments.runs:
        groups, going_on = _named(arguments)
        if going_on is not None:
            watch_queue(going_on)
    else:
        groups, going_on = [], _trained(arguments)
    if going_on is not None:
        groups = groups_of(going_on)
    target = arguments.target_accuracy
    if going_on is not None and target is None:
        target = going_on.request.target_accuracy
    table = make_table(groups, _baseline(arguments.baseline, groups), target)
    advice = recommend(groups)
    if arguments.html:
        if arguments.verdicts:
            _judge(groups)
        page = write_comparison(Compared(groups, table, advice), arguments.html)
        print(f"Wrote {page}", file=sys.stderr)
    if arguments.json:
        result = {**table.to_json(), "advice": advice.to_json()}
        print(json.dumps({**result, "folder": str(going_on.folder) if going_on else None}))
    else:
        print(report(table), "", advice.sentence, sep="\n")
        if advice.group is not None:
            print(f"Its script: {groups[advice.group].runs[0].dir / 'train.py'}")
        if going_on is not None:
            print(_ending(going_on, advice))
    stopped = going_on is not None and going_on.state != "finished"
    failed = any(status in ("failed", "lost") for row in table.rows for status in row.statuses)
    return int(stopped or failed)


def _judge(groups: Sequence[Group]) -> None:
    """Time the step of each group's first run; print why a step was not timed."""
    line = ProgressLine()
    try:
        reasons = judge_each([group.runs[0] for group in groups if group.runs], SECONDS, line.write)
    finally:
        line.end()
    for run, why in reasons.items():
        print(f"The step of {run} was not timed. {why}", file=sys.stderr)


def report(table: Table) -> str:
    """Return the table as aligned text, with the notes on all rows below."""
    rows = [cells(row, is_baseline=at == table.baseline) for at, row in enumerate(table.rows)]
    used = used_columns(rows)
    head = [HEAD[at] for at in used]
    lines = columns(head, [[row[at] for at in used] for row in rows])
    return "\n".join([*lines, *(f"Note: {note}." for note in table.notes)])


def _axes(arguments: Namespace) -> dict[str, Any]:
    return {name: value for name in AXES if (value := getattr(arguments, name)) is not None}


def _named(arguments: Namespace) -> tuple[list[Group], Comparison | None]:
    """Return the groups of the named runs, or the one named earlier comparison."""
    first = find_comparison(arguments.runs[0], arguments.runs_dir)
    if first is None:
        if arguments.resume or arguments.repeats is not None:
            flag = "--resume" if arguments.resume else "--repeats"
            raise RunError(
                f"{flag} only works with the folder of a comparison, not with runs. Resume each "
                "run with `workbench runs resume RUN`, or leave RUN out to train."
            )
        return group_runs([open_run(name, arguments.runs_dir) for name in arguments.runs]), None
    if first.request.agreement:
        raise RunError(
            f"{arguments.runs[0]} is a matrix, which compares losses instead of speeds. Write: "
            f"workbench matrix {shlex.quote(arguments.runs[0])}"
        )
    if len(arguments.runs) > 1:
        raise RunError(
            f"{arguments.runs[0]} is a comparison, which cannot be combined with other names. Give "
            "only this name."
        )
    if arguments.repeats is not None:
        first.repeat(arguments.repeats)
    elif arguments.resume:
        first.resume()
    return [], first


def _trained(arguments: Namespace) -> Comparison:
    """Train the requested comparison; if nothing varies, with every strategy that can run here.

    TensorFlow stays loaded until the end, because the queue's runs fork from the same process.
    """
    axes = _axes(arguments)
    config = _with_steps(config_from(arguments), arguments)
    tournament = "strategy" not in axes and all(len(values) == 1 for values in axes.values())
    with ahead(config):
        devices = devices_for(config)
        if tournament:
            axes = {"strategy": contenders(devices), **axes}
        started = start_comparison(
            candidates(config, axes, devices),
            devices,
            arguments.runs_dir,
            repeats=REPEATS if arguments.repeats is None else arguments.repeats,
            budget_seconds=arguments.budget,
            target_accuracy=arguments.target_accuracy,
            drop_below=DROP_BELOW if tournament else 0.0,
        )
        watch_queue(started)
    return started


def _with_steps(config: RunConfig, arguments: Namespace) -> RunConfig:
    """Return the config with enough steps to show a speed, if the user chose no steps."""
    asked = given_flags(arguments).keys() & {"epochs", "steps_per_epoch"}
    if asked or arguments.preset or arguments.config:
        return config
    return to_be_compared(config, arguments.target_accuracy)


def _ending(comparison: Comparison, advice: Advice) -> str:
    """Return where the runs are, and the command that continues what is not decided or over."""
    command = f"workbench compare {shlex.quote(str(comparison.folder))}"
    if comparison.state != "finished":
        return f"Continue with: {command} --resume"
    where = f"Runs: {comparison.folder}"
    if not (advice.undecided and comparison.repeatable):
        return where
    more = f"{command} --repeats {more_repeats(comparison.request.repeats)}"
    return f"{where}\nTo decide, train more runs: {more}"


def _baseline(asked: str | None, groups: Sequence[Group]) -> int | None:
    """Return the number of the row with this label; None if no label was given."""
    if asked is None:
        return None
    labels = [group.label for group in groups]
    if asked not in labels:
        raise RunError(
            f"No row has the label {asked!r}. Choose the baseline from: {'; '.join(labels)}."
        )
    return labels.index(asked)
