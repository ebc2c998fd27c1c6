"""A trainer that writes the files of a run and trains nothing, with the standard library only.

It is the train.py of these tests, and each task of a run executes it. Each run has its own line
OPTIONS. The entry of a task in `own` holds options for that task alone.
"""

import json
import os
import pathlib
import select
import signal
import struct
import sys
import time

OPTIONS: dict = {}
config = json.loads(os.environ.get("TF_CONFIG") or "{}")
kind, index = config.get("task", {"type": "worker", "index": 0}).values()
name = f"{kind}-{index}"
OPTIONS.update(OPTIONS.get("own", {}).get(name, {}))
STEPS = OPTIONS.get("steps", 60)
STEPS_PER_EPOCH = OPTIONS.get("steps_per_epoch", 30)
STEPS_PER_CALL = OPTIONS.get("steps_per_call", 10)
REPLICAS = OPTIONS.get("replicas", 2)
PAUSES = OPTIONS.get(
    "pauses", {}
)  # waits before this step until the run folder has a file of this name
INSIDE = OPTIONS.get("inside", {})  # the same, but during the call that starts with this step
TESTS = OPTIONS.get("tests", {})  # the same, but during the test pass after the steps before it
WORKERS = len(config.get("cluster", {}).get("worker", "1"))

run_dir = pathlib.Path(sys.argv[sys.argv.index("--run-dir") + 1])
task = run_dir / name
stop_fd = int(os.environ["WORKBENCH_STOP_FD"])
checkpoints = run_dir / "checkpoints"


def event(name, **values):
    line = json.dumps({"time": time.time(), "event": name, **values})
    sys.stdout.write(f"{name} {values}\n")
    with (task / "events.jsonl").open("a") as file:
        file.write(line + "\n")


def stop_asked():
    return OPTIONS.get("deaf") is None and bool(select.select([stop_fd], [], [], 0)[0])


def save(step):
    event("saving", step=step)
    if name in ("worker-0", "chief-0"):
        checkpoints.mkdir(exist_ok=True)
        (checkpoints / f"ckpt-{step}.data-00000-of-00001").write_text(str(step))
        (checkpoints / f"ckpt-{step}.index").write_text("")
        ways = "model_checkpoint_path", "all_model_checkpoint_paths"
        (checkpoints / "new").write_text("".join(f'{way}: "ckpt-{step}"\n' for way in ways))
        (checkpoints / "new").replace(checkpoints / "checkpoint")
        for path in checkpoints.glob("ckpt-*"):
            if path.stem != f"ckpt-{step}":
                path.unlink()
    event("checkpoint", step=step)


def saved():
    """Return the step of the checkpoint to resume from; 0 without a checkpoint."""
    if not (checkpoints / "checkpoint").exists():
        return 0
    named = (checkpoints / "checkpoint").read_text().split('"')[1]
    return int((checkpoints / f"{named}.data-00000-of-00001").read_text())


def stop_if_asked(step):
    if stop_asked():
        save(step)
        event("stopped", step=step)
        sys.exit(0)


def pause(step, gates=PAUSES):
    gate = gates.get(str(step))
    while gate and not (run_dir / gate).exists():
        stop_if_asked(step)
        time.sleep(0.005)


def do(when):
    """Execute the code for a step, or for `born`, `imported`, `serving` or `last`."""
    if when in OPTIONS.get("code", {}):
        exec(OPTIONS["code"][when])


def loss(step, replica):
    return 1000.0 / (step + 1) + replica


def record(step, count, start, folder=task):
    rows = [
        value
        for number in range(step, step + count)
        for replica in range(REPLICAS)
        for value in (8 * loss(number, replica), 4.0, 8.0)
    ]
    with (folder / "steps.f4").open("ab") as file:
        file.truncate(12 * REPLICAS * step)
        file.write(struct.pack(f"<{len(rows)}f", *rows))
    log(folder, step, count, start, time.time() - start)


def log(folder, *call):
    with (folder / "calls.f8").open("ab") as file:
        file.write(struct.pack("<4d", *call))


def end_epoch(step, **more):
    epoch = step // STEPS_PER_EPOCH
    event("test", epoch=epoch)
    pause(step, TESTS)
    event("epoch", epoch=epoch, step=step, test_loss=0.5 / epoch, test_accuracy=0.75, **more)
    save(step)


def meet(step):
    """Wait until all workers of this attempt, which has its own ports, have read the checkpoint."""
    cluster = json.dumps(config.get("cluster"))
    (task / "met").write_text(cluster)
    for number in range(WORKERS):
        other = run_dir / f"worker-{number}" / "met"
        while not other.exists() or other.read_text() != cluster:
            stop_if_asked(step)
            time.sleep(0.005)


def train(step):
    meet(step)
    log(task, step, 0, time.time(), 0)
    while step < STEPS:
        pause(step)
        (task / "entered").write_text(str(step))
        do(str(step))
        pause(step, INSIDE)
        start = time.time()
        count = min(STEPS_PER_CALL, STEPS - step)
        record(step, count, start)
        step += count
        if step % STEPS_PER_EPOCH == 0:
            end_epoch(step)
        stop_if_asked(step)


def coordinate(step):
    """Count the steps of the workers in turn, and record them in the folders of the workers."""
    workers = [run_dir / f"worker-{number}" for number in range(WORKERS)]
    done = [step // WORKERS] * WORKERS
    for worker, own in zip(workers, done, strict=True):
        log(worker, own, 0, time.time(), 0)
    while step < STEPS:
        pause(step)
        do(str(step))
        number = step // STEPS_PER_CALL % WORKERS
        record(done[number], STEPS_PER_CALL, time.time(), workers[number])
        done[number] += STEPS_PER_CALL
        step += STEPS_PER_CALL
        if step % STEPS_PER_EPOCH == 0:
            end_epoch(
                step, worker_steps={path.name: n for path, n in zip(workers, done, strict=True)}
            )
        stop_if_asked(step)


def serve():
    """Wait for the end: from the supervisor, or from the code of the test."""
    event("serving", pid=os.getpid())
    do("serving")
    while not stop_asked():
        time.sleep(0.005)
    event("asked")


def main():
    if OPTIONS.get("deaf"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    do("born")
    event("imported")
    do("imported")
    if "chief" in config.get("cluster", {}) and kind != "chief":
        return serve()
    step = saved()
    event("start", step=step, epoch=step // STEPS_PER_EPOCH, pid=os.getpid())
    (coordinate if kind == "chief" else train)(step)
    do("last")
    return event("finished", step=STEPS)


main()
