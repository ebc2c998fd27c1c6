"""`workbench runs ...` and `workbench evaluate`: actions on existing runs."""

from __future__ import annotations

import json
import shlex
import sys
from argparse import ArgumentParser, Namespace
from dataclasses import asdict

from workbench.cli.before import print_notes
from workbench.cli.flags import add_runs_dir, sentence
from workbench.cli.terminal import FAILED, OK
from workbench.cli.watching import exit_status, follow, show, table, watch
from workbench.runs import Run, list_runs, open_run, restore_run
from workbench.runs.listing import Unreadable, read_in_list
from workbench.runs.programs.confusion import Confusion


def runs_flags(parser: ArgumentParser) -> None:
    """Add the actions of `workbench runs` and their flags."""
    parser.set_defaults(command=None)
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    for name, text, command in (
        ("list", "list all runs, newest first", list_all),
        ("show", "show the progress or the result of a run", show_one),
        ("watch", "follow a run until it ends; Ctrl-C leaves it running", watch_one),
        ("xray", "X-ray one step: the numbers of each replica, and their sum", xray),
        ("stop", "stop a run after the current call and save a checkpoint", stop),
        ("resume", "continue a run from its last checkpoint", resume),
        ("pack", "write a run to a zip file, to move it elsewhere", pack),
        ("restore", "restore a run from its archive or a zip file", restore),
        ("delete", "delete the folder of a run with all its files", delete),
    ):
        action = actions.add_parser(name, help=text, description=sentence(text))
        if name == "restore":
            which = "the run's folder in the archive, or the file that `pack` wrote"
            action.add_argument("folder", metavar="DIR", help=which)
        elif name != "list":
            action.add_argument("run", metavar="RUN", help="a run's id or folder")
        _add_options(action, name)
        add_runs_dir(action)
        action.add_argument("--json", action="store_true", help="print JSON")
        action.set_defaults(command=command)


def _add_options(parser: ArgumentParser, action: str) -> None:
    """Add the options that only this action takes."""
    if action == "resume":
        text = "the new total number of epochs, more than before"
        parser.add_argument("--epochs", type=int, metavar="N", help=text)
        text = "continue with another number of workers (synchronous strategies only)"
        parser.add_argument("--workers", type=int, metavar="N", help=text)
        parser.add_argument("--detach", action="store_true", help="return immediately")
    elif action == "xray":
        text = "the step, counted from 1"
        parser.add_argument("--step", type=int, metavar="N", required=True, help=text)
    elif action == "pack":
        parser.add_argument("-o", "--output", metavar="FILE", help="default: next to its folder")
    elif action == "delete":
        parser.add_argument("--yes", action="store_true", help="do not ask first")


def list_all(arguments: Namespace) -> int:
    """`workbench runs list`."""
    runs = list_runs(arguments.runs_dir)
    if not arguments.json:
        print(table(runs))
        return OK
    found = (read_in_list(run, Run.result) for run in runs)
    print(json.dumps([each.to_json() if isinstance(each, Unreadable) else each for each in found]))
    return OK


def show_one(arguments: Namespace) -> int:
    """`workbench runs show`."""
    opened = open_run(arguments.run, arguments.runs_dir)
    if not arguments.json:
        print(show(opened))
        return OK
    found = opened.ledger
    ledger = {
        "first_step": {entry.name: entry.seconds for entry in found.first_step},
        "whole": {entry.name: entry.seconds for entry in found.whole},
        "seconds": found.seconds,
        "queue_seconds": found.queue_seconds,
    }
    print(json.dumps({**opened.result(), "ledger": ledger}))
    return OK


def watch_one(arguments: Namespace) -> int:
    """`workbench runs watch`: show a run until it ends; Ctrl-C leaves it running."""
    opened = open_run(arguments.run, arguments.runs_dir)
    watch(opened, sys.stderr if arguments.json else sys.stdout, stops=False)
    if arguments.json:
        print(json.dumps(opened.result()))
    return exit_status(opened)


def xray(arguments: Namespace) -> int:
    """`workbench runs xray`: do a step again and show the numbers of every replica."""
    from .xray import table_of_step

    result = open_run(arguments.run, arguments.runs_dir).xray(arguments.step)
    print(json.dumps(asdict(result)) if arguments.json else table_of_step(result))
    return OK


def stop(arguments: Namespace) -> int:
    """`workbench runs stop`: ask the run to stop, wait for its end, and show it."""
    opened = open_run(arguments.run, arguments.runs_dir)
    opened.stop()
    opened.wait()
    return show_one(arguments)


def resume(arguments: Namespace) -> int:
    """`workbench runs resume`."""
    opened = open_run(arguments.run, arguments.runs_dir)
    step = opened.resume_step
    resumed = opened.resume(arguments.epochs, arguments.workers)
    if step is not None:
        print(_resume_sentence(step), file=sys.stderr)
    print_notes(resumed.plan)
    return follow(resumed, arguments)


def _resume_sentence(step: int) -> str:
    if step == 0:
        return "No checkpoint was saved, so training starts again from the first step."
    return f"Training continues from the checkpoint of step {step:,}."


def restore(arguments: Namespace) -> int:
    """`workbench runs restore`: copy a run out of its archive or zip file; nothing is started."""
    restored = restore_run(arguments.folder, arguments.runs_dir)
    if arguments.json:
        print(json.dumps(restored.result()))
        return OK
    print(show(restored))
    if restored.status != "finished":
        print(f"Continue with: workbench runs resume {shlex.quote(str(restored.dir))}")
    return OK


def pack(arguments: Namespace) -> int:
    """`workbench runs pack`: write a run to one zip file, to take it elsewhere."""
    opened = open_run(arguments.run, arguments.runs_dir)
    path = opened.pack(arguments.output)
    packed = {"run": opened.id, "path": str(path), "bytes": path.stat().st_size}
    words = f"Packed {path}, {packed['bytes']:,} bytes. Restore it: workbench runs restore FILE"
    print(json.dumps(packed) if arguments.json else words)
    return OK


def delete(arguments: Namespace) -> int:
    """`workbench runs delete`: delete a run, only after a yes or with --yes."""
    opened = open_run(arguments.run, arguments.runs_dir)
    if not arguments.yes and not _agreed(f"Delete {opened.dir} with its records and model?"):
        print("Not deleted.", file=sys.stderr)
        return FAILED
    opened.delete()
    action = {"run": opened.id, "deleted": True}
    print(json.dumps(action) if arguments.json else f"Deleted {opened.id}.")
    return OK


def _agreed(question: str) -> bool:
    try:
        return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False


def evaluate_flags(parser: ArgumentParser) -> None:
    """Add the flags of `workbench evaluate`."""
    parser.add_argument("run", metavar="RUN", help="a run's id or folder")
    add_runs_dir(parser)
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    parser.set_defaults(command=evaluate)


def evaluate(arguments: Namespace) -> int:
    """`workbench evaluate`: test the model of a run that is over."""
    from workbench.runs.programs.evaluation import weights_in_words

    result = open_run(arguments.run, arguments.runs_dir).evaluate()
    if arguments.json:
        print(json.dumps(result))
        return OK
    known = result["test_accuracy"]
    accuracy = "unknown" if known is None else f"{known:.2%}"
    step = result["checkpoint_step"]
    weights = "" if step is None else f", with {weights_in_words(step)}"
    print(f"test loss {result['test_loss']:.4f}, test accuracy {accuracy}{weights}")
    for row in result["classes"]:
        print(f"  {row['name']:<14} {row['accuracy']:8.2%} of {row['examples']:,}")
    if confusion := Confusion.of(result):
        print(confusion.summary())
    return OK
