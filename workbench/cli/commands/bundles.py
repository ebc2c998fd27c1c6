"""Replay bundles on the command line: write one, or run one again."""

from __future__ import annotations

import json
import shlex
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from workbench.bundle.contents import SCRIPT
from workbench.cli.flags import add_runs_dir, config_from, given_flags
from workbench.plan.own_function import SCRIPT_NAMES
from workbench.runs import RunError, open_run
from workbench.runs.folder.files import full_path, runs_root, sha256, unwritable, write_text
from workbench.runs.functions import FOLDER

if TYPE_CHECKING:
    from workbench.bundle import Bundle, Replay
    from workbench.config import RunConfig
    from workbench.runs import Run

AGREES, DIFFERS = 0, 1


def add_flags(parser: ArgumentParser) -> None:
    """Add the flags."""
    parser.description = (
        "Write script, config, exact versions, the data's hash and the losses of a"
        " finished run to a zip file. `workbench run --config FILE` repeats the run and reports"
        " whether the results agree."
    )
    parser.add_argument("run", metavar="RUN", help="a run's id or folder")
    text = "default: RUN_ID-bundle.zip; existing files are never overwritten"
    parser.add_argument("-o", "--output", metavar="FILE", help=text)
    add_runs_dir(parser)
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    parser.set_defaults(command=bundle)


def bundle(arguments: Namespace) -> int:
    """`workbench bundle`: write the bundle, and print its path and size."""
    from workbench.bundle import write_bundle

    run = open_run(arguments.run, arguments.runs_dir)
    path = full_path(arguments.output or f"{run.id}-bundle.zip")
    print("Looking up versions and hashing the data ...", file=sys.stderr, flush=True)
    manifest = write_bundle(run, path)
    for module in manifest.modules:
        text = f"Note: the script imports {module}, which is in no installed package. Copy it too."
        print(text, file=sys.stderr)
    if arguments.json:
        facts = {"data_sha256": manifest.data_sha256, "certificate": manifest.certificate}
        print(json.dumps({"run": run.id, "path": str(path), **facts}))
    else:
        print(f"Wrote {path}, {path.stat().st_size:,} bytes.")
        print(manifest.certificate)
        print(f"Repeat it elsewhere: workbench run --config {shlex.quote(path.name)}")
    return AGREES


def replay(arguments: Namespace) -> int:
    """`workbench run --config bundle.zip`: run it again, and report whether the result agrees."""
    from workbench.bundle import check_replay, read_bundle
    from workbench.cli.watching import exit_status, watch

    opened = read_bundle(arguments.config)
    if arguments.detach:
        raise RunError(
            "A replay is compared with the bundle when it ends, so --detach does not work here. "
            "Leave it out, or extract config.json from the bundle and give it as --config."
        )
    out = sys.stderr if arguments.json else sys.stdout
    run = _as_it_is(opened, arguments) if arguments.trust else _as_rendered(opened, arguments)
    watch(run, out)
    found = None
    if run.status == "finished":
        print("Comparing with the bundle ...", file=out, flush=True)
        found = check_replay(opened, run)
        print_report(found, out)
    if arguments.json:
        print(json.dumps({**run.result(), "replay": found and found.to_json()}))
    return DIFFERS if found and not found.holds else exit_status(run)


def _as_it_is(opened: Bundle, arguments: Namespace) -> Run:
    """Start the bundle's own script."""
    from workbench.codegen.carried import split_config
    from workbench.scripts import read_script

    from .scripts import check_alone, run_opened

    message = f"Running the bundle's own script unchanged, sha256 {opened.script_sha256}."
    print(message, file=sys.stderr)
    if split_config(opened.script)[1]:
        folders = _kept_files(opened, runs_root(arguments.runs_dir))
        return run_opened(
            read_script(opened.script, folders=folders), SCRIPT, arguments, ("preset",)
        )
    check_alone(arguments, SCRIPT, ("preset",))
    return _of_earlier_release(opened, arguments)


def _kept_files(opened: Bundle, root: Path) -> list[Path]:
    """Keep the bundle's files of a person with the runs; return their folder, if there are any."""
    if not opened.own_code:
        return []
    folder = root / FOLDER / sha256(json.dumps(dict(opened.own_code), sort_keys=True))[:8]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(folder, error) from error
    for name, text in opened.own_code.items():
        write_text(folder / name, text)
    return [folder]


def _of_earlier_release(opened: Bundle, arguments: Namespace) -> Run:
    """Start a bundle's script that carries no config, by the config of the bundle."""
    from workbench.cli.before import checked, devices_for, print_notes
    from workbench.runs import start_run

    config = config_from(arguments)
    if _own_functions(opened.config):
        raise RunError(
            "The bundle's script was not started, because an earlier release wrote it and it "
            "contains functions of a person, which only that release finds in it. Unpack the "
            "bundle and run the script by itself: python train.py --run-dir DIR."
        )
    devices = devices_for(config)
    plan = checked(config, devices)
    print_notes(plan)
    return start_run(plan, arguments.runs_dir, devices, script=opened.script)


def _own_functions(config: RunConfig) -> list[str]:
    return [field for field in SCRIPT_NAMES if ":" in (getattr(config, field) or "")]


def _as_rendered(opened: Bundle, arguments: Namespace) -> Run:
    """Start the script that the workbench writes for the bundle's config: no foreign code."""
    from workbench.cli.before import checked, devices_for, print_notes
    from workbench.codegen import render_script
    from workbench.fields import NOT_IN_SCRIPTS
    from workbench.runs import start_run
    from workbench.runs.folder.files import sha256

    config = config_from(arguments)
    if _own_functions(opened.config):
        raise _untrusted(opened, arguments, "it contains another person's functions")
    devices = devices_for(config)
    plan = checked(config, devices)
    script = sha256(render_script(plan))
    changed = _changed(opened.config, config, given_flags(arguments), NOT_IN_SCRIPTS)
    if script != opened.script_sha256 and not changed:
        raise _untrusted(
            opened, arguments, f"this workbench writes another one for its config, {script[:12]}"
        )
    same = "the same as the bundle's" if script == opened.script_sha256 else f"changed by {changed}"
    print(f"The workbench wrote this script, sha256 {script}: {same}.", file=sys.stderr)
    print_notes(plan)
    return start_run(plan, arguments.runs_dir, devices)


def _changed(
    there: RunConfig, here: RunConfig, given: dict[str, object], ignored: tuple[str, ...]
) -> str:
    """Return the flags that change the training, as text; empty if none does."""
    names = [name for name in given if getattr(there, name) != getattr(here, name)]
    return ", ".join(f"--{name.replace('_', '-')}" for name in names if name not in ignored)


def _untrusted(opened: Bundle, arguments: Namespace, why: str) -> RunError:
    return RunError(
        f"The bundle's script was not run, because {why}. It has the sha256 "
        f"{opened.script_sha256}, from release {opened.manifest.workbench[:40]}, and is another "
        "person's code. Read it with "
        f"unzip -p {shlex.quote(str(arguments.config))} train.py, then run it unchanged "
        "with --trust."
    )


def print_report(found: Replay, out: TextIO) -> None:
    """Print how a replay compares with the bundle."""
    lines = [
        ("script", "same" if found.same_script else "different"),
        ("data", "same" if found.same_data else "different: it was trained on other data"),
        *((each.name, _versions(each.there, each.here)) for each in found.versions),
        *((each.name, _versions(each.there, each.here)) for each in found.environment),
        ("steps", f"{found.agreement.steps:,}"),
        ("loss", _losses(found)),
    ]
    print(f"Replay of {found.of}:", file=out)
    for name, text in lines:
        print(f"  {name:<11} {text}", file=out)
    print(_verdict(found), file=out, flush=True)


def _versions(there: str | None, here: str | None) -> str:
    if there == here:
        return f"{here}, same"
    return f"{here or 'not set'}, different: {there or 'not set'} in the bundle"


def _losses(found: Replay) -> str:
    most = found.agreement.max_loss_difference
    if found.tolerance is None:
        return "not comparable: workers train asynchronously"
    if most is None:
        return f"not comparable: {found.agreement.reason}"
    return f"largest difference {most:.1e} over all steps; up to {found.tolerance:.0e} is rounding"


def _verdict(found: Replay) -> str:
    if not found.holds:
        reason = found.agreement.reason if found.same_data else "it was trained on other data"
        hint = ""
        if found.same_data and found.agreement.max_loss_difference and not found.changed:
            hint = (
                " Rounding alone can cause this. In larger models, train with precision float64; "
                "on GPUs, turn deterministic on."
            )
        return f"The replay does not agree: {reason}.{hint}"
    if found.tolerance is None:
        return "The replay trained like the bundle's run: all steps are recorded, on the same data."
    return "The replay agrees: the same data, and every step's loss within rounding."
