"""`workbench tf-config`: make each task's JSON, check it, and try it between the machines."""

from __future__ import annotations

import json
import os
import shlex
from argparse import ArgumentParser, Namespace
from typing import Any

from workbench.cli.flags import sentence
from workbench.cli.terminal import ProgressLine, stop_by_interrupt
from workbench.cli.watching import columns
from workbench.config import Problem, did_you_mean
from workbench.runs import RunError
from workbench.tf_config import (
    Answer,
    Cluster,
    Identity,
    Meeting,
    TFConfigError,
    make_cluster,
    meet,
    read_tf_config,
    resolve,
)

SECONDS = 60.0
KINDS = {"worker": "+", "chief": None, "ps": "+"}
ABOUT = """\
TF_CONFIG gives a task the addresses of all tasks. TensorFlow waits silently for a task that it
cannot reach; these commands find the problem before training."""


def add_flags(parser: ArgumentParser) -> None:
    """Add the flags."""
    parser.description = ABOUT
    parser.set_defaults(command=None)
    what = parser.add_subparsers(metavar="WHAT", required=True)
    text = "print the TF_CONFIG of each task from the addresses of all tasks"
    making = what.add_parser("make", help=text, description=sentence(text))
    for kind, count in KINDS.items():
        text = "address of the chief" if count is None else f"addresses of all {kind} tasks"
        making.add_argument(f"--{kind}", nargs=count, metavar="HOST:PORT", help=text)
    text = "number of evaluators, which test checkpoints outside the cluster. Default: 0."
    making.add_argument("--evaluators", type=int, default=0, metavar="N", help=text)
    making.add_argument("--task", metavar="TASK", help="print only one, such as worker-0's")
    making.add_argument("--json", action="store_true", help="print one JSON object, by task")
    making.set_defaults(command=make)
    text = "check the TF_CONFIG of this host"
    checking = what.add_parser("check", help=text, description=sentence(text))
    checking.set_defaults(command=check)
    text = "test the connections between all tasks; run this on every host at the same time"
    meeting = what.add_parser("meet", help=text, description=sentence(text))
    text = f"seconds to wait for the other tasks. Default: {SECONDS:g}."
    meeting.add_argument("--seconds", type=float, default=SECONDS, metavar="X", help=text)
    meeting.set_defaults(command=meet_others)
    for each in (checking, meeting):
        text = "the JSON. Default: the environment's TF_CONFIG."
        each.add_argument("tf_config", nargs="?", metavar="TF_CONFIG", help=text)
        each.add_argument("--json", action="store_true", help="print one line of JSON")


def make(arguments: Namespace) -> int:
    """Print a line for each task, to paste on the host that starts the task."""
    given = {
        "chief": [arguments.chief] if arguments.chief else [],
        "worker": arguments.worker or [],
        "ps": arguments.ps or [],
    }
    cluster = make_cluster(given, arguments.evaluators)
    configs = {str(task): cluster.tf_config(task) for task in cluster.tasks}
    if arguments.task is not None:
        if arguments.task not in configs:
            fix = did_you_mean(arguments.task, configs, "Add its address.")
            raise TFConfigError(
                [Problem("--task", f"one of {', '.join(configs)}", arguments.task, fix)]
            )
        configs = {arguments.task: configs[arguments.task]}
    if arguments.json:
        print(json.dumps({task: json.loads(text) for task, text in configs.items()}))
        return 0
    for task, text in configs.items():
        print(f"# {task}\nexport TF_CONFIG={shlex.quote(text)}")
    return 0


def check(arguments: Namespace) -> int:
    """Read the TF_CONFIG and look up all hosts."""
    cluster, task = _given(arguments)
    resolve(cluster)
    others = ", ".join(f"{len(each)} {kind}" for kind, each in cluster.addresses.items())
    if arguments.json:
        print(json.dumps({"task": str(task), "cluster": dict(cluster.addresses)}))
    else:
        print(
            f"This is {task} of a cluster of {others}. All host names resolve. To test whether "
            "the hosts answer, run workbench tf-config meet on all of them at the same time."
        )
    return 0


def meet_others(arguments: Namespace) -> int:
    """Call all other tasks; return 1 if a task did not answer correctly, else 0."""
    cluster, task = _given(arguments)
    resolve(cluster)
    line = ProgressLine()
    count = len([each for each in cluster.tasks if each != task and each.type != "evaluator"])

    def show_progress(meeting: Meeting) -> None:
        line.write(f"{len(meeting.met)} of {count} other tasks have answered")

    with stop_by_interrupt() as stop:
        try:
            meeting = meet(cluster, task, arguments.seconds, show_progress, stop.is_set)
        finally:
            line.end()
    print(json.dumps(_to_json(meeting)) if arguments.json else report(meeting))
    return int(bool(meeting.missing))


def report(meeting: Meeting) -> str:
    """Return a line for each other task."""
    rows = [
        (str(answer.task), answer.address, *_round_trip(answer))
        for _, answer in sorted(meeting.answers.items())
    ]
    head = ("task", "address", "round trip", "")
    late = [str(task) for task in sorted({a.task for a in meeting.met} - meeting.called_by)]
    lines = columns(head, rows)
    if late:
        lines.append(
            f"{', '.join(late)} answered but could not call back: a firewall may let connections "
            f"through in one direction only. Open the port of {meeting.task}."
        )
    if not meeting.missing and not late:
        lines.append("All tasks can reach each other.")
    return "\n".join(lines)


def _round_trip(answer: Answer) -> tuple[str, str]:
    if answer.problem:
        return "", answer.problem
    took = f"{1e3 * (answer.round_trip_seconds or 0.0):.3g} ms"
    ahead = answer.clock_ahead_seconds or 0.0
    if not answer.clock_differs:
        return took, ""
    word = "ahead" if ahead > 0 else "behind"
    return took, f"its clock is {abs(ahead):,.1f} s {word}: synchronize both clocks with NTP."


def _to_json(meeting: Meeting) -> dict[str, Any]:
    return {
        "task": str(meeting.task),
        "tasks": {
            str(task): {
                "address": answer.address,
                "problem": answer.problem,
                "round_trip_seconds": answer.round_trip_seconds,
                "clock_ahead_seconds": answer.clock_ahead_seconds,
                "called_back": task in meeting.called_by,
            }
            for task, answer in sorted(meeting.answers.items())
        },
    }


def _given(arguments: Namespace) -> tuple[Cluster, Identity]:
    text = arguments.tf_config or os.environ.get("TF_CONFIG")
    if not text:
        raise RunError(
            "There is no TF_CONFIG, neither as an argument nor in the environment. "
            "Make one: workbench tf-config make --worker HOST:PORT HOST:PORT"
        )
    return read_tf_config(text)
