"""A trainer that obeys the run folder's contract and trains nothing: the standard library only.

It is the train.py of these tests. The line OPTIONS is written anew for each run.
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
STEPS = OPTIONS.get("steps", 60)
STEPS_PER_EPOCH = OPTIONS.get("steps_per_epoch", 30)
STEPS_PER_CALL = OPTIONS.get("steps_per_call", 10)
REPLICAS = OPTIONS.get("replicas", 2)
PAUSES = OPTIONS.get("pauses", {})  # before this step, until a file of this name lies in the run

run_dir = pathlib.Path(sys.argv[sys.argv.index("--run-dir") + 1])
task = run_dir / "worker-0"
stop_fd = int(os.environ["WORKBENCH_STOP_FD"])
checkpoint = run_dir / "checkpoints" / "step"


def event(name, **values):
    line = json.dumps({"time": time.time(), "event": name, **values})
    sys.stdout.write(f"{name} {values}\n")
    with (task / "events.jsonl").open("a") as file:
        file.write(line + "\n")


def stop_asked():
    return OPTIONS.get("deaf") is None and bool(select.select([stop_fd], [], [], 0)[0])


def save(step):
    event("saving", step=step)
    checkpoint.parent.mkdir(exist_ok=True)
    checkpoint.write_text(str(step))
    event("checkpoint", step=step)


def stop_if_asked(step):
    if stop_asked():
        save(step)
        event("stopped", step=step)
        sys.exit(0)


def pause(step):
    gate = PAUSES.get(str(step))
    while gate and not (run_dir / gate).exists():
        stop_if_asked(step)
        time.sleep(0.005)


def loss(step, replica):
    return 1000.0 / (step + 1) + replica


def record(stem, step, count, start):
    rows = [
        value
        for number in range(step, step + count)
        for replica in range(REPLICAS)
        for value in (8 * loss(number, replica), 4.0, 8.0)
    ]
    with (task / f"{stem}.steps").open("ab") as file:
        file.write(struct.pack(f"<{len(rows)}f", *rows))
    with (task / f"{stem}.calls").open("ab") as file:
        file.write(struct.pack("<4d", step, count, start, time.time() - start))


def main():
    if OPTIONS.get("deaf"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    step = int(checkpoint.read_text()) if checkpoint.exists() else 0
    event("start", step=step, epoch=step // STEPS_PER_EPOCH, pid=os.getpid())
    stem = f"{len(list(task.glob('*.steps'))):04d}-{step:012d}"
    while step < STEPS:
        pause(step)
        if str(step) in OPTIONS.get("code", {}):
            exec(OPTIONS["code"][str(step)])
        start = time.time()
        count = min(STEPS_PER_CALL, STEPS - step)
        record(stem, step, count, start)
        step += count
        if step % STEPS_PER_EPOCH == 0:
            epoch = step // STEPS_PER_EPOCH
            event("test", epoch=epoch)
            event("epoch", epoch=epoch, step=step, test_loss=0.5 / epoch, test_accuracy=0.75)
            save(step)
        stop_if_asked(step)
    event("finished", step=step)


main()
