"""Where the records go on when a script restores what it has saved, in whichever way."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.forked import run_program
from tests.observe.observing import LOOP, PER_REPLICA, STEPS, events, losses, observe

MANAGER = 'manager = tf.train.CheckpointManager(checkpoint, f"{FOLDER}/saved", max_to_keep=2)\n'
RESTORE = "checkpoint.restore(manager.latest_checkpoint)"
SAVED = 'tf.train.latest_checkpoint(f"{FOLDER}/saved")'
HAND = {
    MANAGER: "",
    RESTORE: f"checkpoint.restore({SAVED})",
    "manager.save()": 'checkpoint.save(f"{FOLDER}/saved/ckpt")',
}
BACKUP = {
    MANAGER: 'path = f"{FOLDER}/model.keras"\n',
    RESTORE: (
        "if tf.io.gfile.exists(path):\n"
        "    with strategy.scope():\n"
        "        model = tf.keras.models.load_model(path)\n"
        "        optimizer = model.optimizer"
    ),
    "optimizer.build(model.trainable_variables)": "model.compile(optimizer)",
    "manager.save()": "model.save(path)",
}


def edited(folder: Path, changes: dict[str, str], more: str = "") -> Path:
    """Return LOOP with some of its texts replaced, and more at its end."""
    text = LOOP.read_text()
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    script = folder / "mine.py"
    script.write_text(text + more)
    return script


@pytest.fixture(scope="module")
def loop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("loop")
    observe(LOOP, folder)
    return folder


@pytest.mark.parametrize("changes", [HAND, BACKUP], ids=["checkpoint", "whole model"])
def test_without_a_manager_the_steps_of_the_optimizer_say_where_training_goes_on(
    changes: dict[str, str], loop: Path, tmp_path: Path
) -> None:
    script = edited(tmp_path, changes)
    observe(script, tmp_path / "run", 8)  # ends two steps after it has saved
    observe(script, tmp_path / "run")
    assert [each["step"] for each in events(tmp_path / "run", "start")] == [0, 6]
    np.testing.assert_array_equal(losses(tmp_path / "run"), losses(loop))
    assert [each["step"] for each in events(tmp_path / "run", "finished")] == [8, STEPS]
    assert [each["epoch"] for each in events(tmp_path / "run", "epoch")] == [1, 1]


def test_an_epoch_that_an_earlier_process_began_is_reported_whole(
    loop: Path, tmp_path: Path
) -> None:
    script = edited(tmp_path, HAND)
    observe(script, tmp_path / "run", 8)
    observe(script, tmp_path / "run")
    mean = losses(loop).sum() / (2 * PER_REPLICA * STEPS)
    last = events(tmp_path / "run", "epoch")[-1]
    assert last["loss"] == pytest.approx(mean, rel=1e-5)


TWO_OPTIMIZERS = {
    "    optimizer.build": """    other = tf.Variable(1.0)
    others = tf.keras.optimizers.SGD(0.1)
    others.build([other])
    optimizer.build""",
    "optimizer=optimizer": "optimizer=optimizer, others=others",
    "@tf.function": """def other_step(batch):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((batch[1] - other) ** 2)
    others.apply_gradients([(tape.gradient(loss, other), other)])
    return loss


@tf.function""",
    "    return strategy.run": (
        "    strategy.run(other_step, args=(next(iterator),))\n    return strategy.run"
    ),
}


def test_steps_of_several_optimizers_go_on_where_they_were_saved(tmp_path: Path) -> None:
    script = edited(tmp_path, HAND | TWO_OPTIMIZERS)
    observe(script, tmp_path / "run", 8)
    observe(script, tmp_path / "run")
    assert [each["step"] for each in events(tmp_path / "run", "start")] == [0, 2 * 6]
    assert events(tmp_path / "run", "finished")[-1]["step"] == 2 * STEPS


def test_the_checkpoints_are_those_of_the_script_alone(tmp_path: Path) -> None:
    consumed = f"if manager.latest_checkpoint:\n    {RESTORE}.assert_consumed()"
    script = edited(tmp_path, {RESTORE: consumed})
    observe(script, tmp_path / "run", 6)
    run_program([script, tmp_path / "run", 12])
    observe(script, tmp_path / "run")
    assert [each["step"] for each in events(tmp_path / "run", "start")] == [0, 12]


SAVED_TOO = """


class State(tf.train.experimental.PythonState):
    def serialize(self):
        {action}
        return ""

    def deserialize(self, text):
        pass


checkpoint.state = State()
"""
"""Does something while a checkpoint is saved."""
KILLS = SAVED_TOO.format(action="str(optimizer.iterations.numpy()) == sys.argv[3] and os._exit(9)")
KILLED = {
    MANAGER: f'path = f"{{FOLDER}}/latest"{KILLS}',
    RESTORE: 'if tf.io.gfile.exists(f"{path}.index"):\n    checkpoint.read(path)',
    "manager.save()": "checkpoint.write(path)",
    "import sys\n": "import os\nimport sys\n",
}


def test_a_kill_while_a_checkpoint_is_written_over_goes_on_from_the_old_one(
    loop: Path, tmp_path: Path
) -> None:
    script = edited(tmp_path, KILLED)
    assert observe(script, tmp_path / "run", STEPS, 12, check=False).returncode == 9
    observe(script, tmp_path / "run", STEPS, 0)
    assert [each["step"] for each in events(tmp_path / "run", "start")] == [0, 6]
    np.testing.assert_array_equal(losses(tmp_path / "run"), losses(loop))


OTHER = f"""
if {SAVED}:
    other = tf.train.Checkpoint(model=tf.keras.models.clone_model(model))
    other.restore(f"{{FOLDER}}/saved/ckpt-1").expect_partial()
"""


def test_what_another_object_reads_does_not_say_where_training_goes_on(
    loop: Path, tmp_path: Path
) -> None:
    script = edited(tmp_path, HAND | {RESTORE: HAND[RESTORE] + OTHER})
    observe(script, tmp_path / "run", 12)
    observe(script, tmp_path / "run")
    assert [each["step"] for each in events(tmp_path / "run", "start")] == [0, 12]
    np.testing.assert_array_equal(losses(tmp_path / "run"), losses(loop))


def test_a_run_may_write_other_checkpoints_before_its_manager_saves(tmp_path: Path) -> None:
    first = {RESTORE: f'checkpoint.write(f"{{FOLDER}}/first")\n{RESTORE}'}
    script = edited(tmp_path, first)
    observe(script, tmp_path / "run", 4)
    observe(script, tmp_path / "run", 4)
    assert [each["step"] for each in events(tmp_path / "run", "start")] == [0, 0]


def test_a_script_that_only_tests_what_it_has_trained_leaves_the_records(
    loop: Path, tmp_path: Path
) -> None:
    observe(edited(tmp_path, HAND), tmp_path / "run")
    script = edited(tmp_path, HAND | {"range(first, STEPS)": "range(STEPS, STEPS)"}, more="""
strategy.run(lambda: tf.reduce_mean(model(features)))
checkpoint.save(f"{FOLDER}/saved/ckpt")
""")  # fmt: skip
    observe(script, tmp_path / "run")
    np.testing.assert_array_equal(losses(tmp_path / "run"), losses(loop))
    observe(edited(tmp_path, HAND), tmp_path / "run", STEPS + 2)
    np.testing.assert_array_equal(losses(tmp_path / "run")[:STEPS], losses(loop))
    finished = events(tmp_path / "run", "finished")
    assert [each["step"] for each in finished] == [STEPS, STEPS, STEPS + 2]


AGAIN = """
checkpoint.restore(manager.checkpoints[0])
for _ in range({steps}):
    train(iterator)
manager.save()
"""
ALL_KEPT = {RESTORE: f"{RESTORE}\nmanager.save()", "max_to_keep=2": "max_to_keep=9"}


@pytest.mark.parametrize(
    ("steps", "changes", "saved"), [(0, {}, 12), (2, {}, 12), (2, ALL_KEPT, 0)]
)
def test_what_is_restored_at_the_end_counts_only_if_training_goes_on_from_it(
    steps: int, changes: dict[str, str], saved: int, loop: Path, tmp_path: Path
) -> None:
    script = edited(tmp_path, changes, AGAIN.format(steps=steps))
    observe(script, tmp_path / "run")
    found = losses(tmp_path / "run")
    kept = saved if steps else STEPS
    np.testing.assert_array_equal(found[:kept], losses(loop)[:kept])
    assert len(found) == kept + steps
    assert events(tmp_path / "run", "finished")[-1]["step"] == kept + steps
    assert events(tmp_path / "run", "checkpoint")[-1]["step"] == saved + steps


STOPS = {
    "def train_step(batch):": """def stop_in(moment):
    path = pathlib.Path(FOLDER, moment)
    if sys.argv[3] == moment and not path.exists():
        path.touch()
        os.kill(os.getpid(), signal.SIGTERM)


@tf.function
def test(batch):
    stop_in("testing")
    return strategy.run(lambda: tf.reduce_mean(model(batch)))


def train_step(batch):
    stop_in("tracing")""",
    MANAGER: SAVED_TOO.format(action='stop_in("saving")') + MANAGER,
    "manager.save()": "test(features[:8])\n        manager.save()",
    "import sys\n": "import os\nimport pathlib\nimport signal\nimport sys\n",
}


def test_a_stop_while_steps_are_traced_saved_or_tested_loses_none(
    loop: Path, tmp_path: Path
) -> None:
    script = edited(tmp_path, STOPS)
    for moment in ("tracing", "saving", "testing", "none"):
        observe(script, tmp_path / "run", STEPS, moment)
    assert [each["step"] for each in events(tmp_path / "run", "stopped")] == [1, 7, 12]
    assert [each["step"] for each in events(tmp_path / "run", "start")] == [0, 1, 7, 12]
    np.testing.assert_array_equal(losses(tmp_path / "run"), losses(loop))


MORE = {"model=model, optimizer": "more=tf.Variable(1.0), model=model, optimizer"}


@pytest.mark.parametrize("expected", [False, True])
def test_a_checkpoint_without_some_variables_is_trained_on_only_if_the_script_expects_it(
    expected: bool, tmp_path: Path
) -> None:
    observe(edited(tmp_path, {}), tmp_path / "run", 6)
    partial = {RESTORE: f"{RESTORE}{'.expect_partial()' * expected}"}
    done = observe(edited(tmp_path, MORE | partial), tmp_path / "run", check=False)
    assert done.returncode == (0 if expected else 1)
    assert ("it has no value for Variable:0" in done.stderr) == (not expected)
    assert len(losses(tmp_path / "run")) == (STEPS if expected else 6)


TEST_STEP = """
def test_step(batch):
    return tf.reduce_mean(tf.keras.losses.mse(batch[1], model(batch[0])))


kept = []
"""
TESTS = """
    if (step + 1) % 9 == 0:
        strategy.run(test_step, args=((features[:8], labels[:8]),))
"""


def test_with_tests_an_epoch_ends_after_them_and_not_where_the_script_saves(
    tmp_path: Path,
) -> None:
    often = {"\nkept = []\n": TEST_STEP, "(step + 1) % 6 ==": "step > 9 and step % 2 =="}
    observe(edited(tmp_path, often, TESTS), tmp_path / "run")
    assert [each["step"] for each in events(tmp_path / "run", "checkpoint")] == [11, 13, 15, 17]
    assert [each["step"] for each in events(tmp_path / "run", "epoch")] == [9, 18]
