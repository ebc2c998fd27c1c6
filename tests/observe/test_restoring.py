"""Where the records go on when a script restores what it has saved, in whichever way."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.observe.observing import LOOP, STEPS, events, losses, observe

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


def test_a_script_that_only_tests_what_it_has_trained_leaves_the_records(
    loop: Path, tmp_path: Path
) -> None:
    script = edited(tmp_path, HAND | {"range(first, STEPS)": "range(STEPS, STEPS)"}, more="""
strategy.run(lambda: tf.reduce_mean(model(features)))
""")  # fmt: skip
    observe(edited(tmp_path, HAND), tmp_path / "run")
    observe(script, tmp_path / "run")
    np.testing.assert_array_equal(losses(tmp_path / "run"), losses(loop))
    assert [each["step"] for each in events(tmp_path / "run", "finished")] == [STEPS, STEPS]


AGAIN = """
checkpoint.restore(manager.checkpoints[0])
for _ in range({steps}):
    train(iterator)
"""


@pytest.mark.parametrize("steps", [0, 2])
def test_what_is_restored_at_the_end_counts_only_if_training_goes_on_from_it(
    steps: int, loop: Path, tmp_path: Path
) -> None:
    script = edited(tmp_path, {}, AGAIN.format(steps=steps))
    observe(script, tmp_path / "run")
    found, saved = losses(tmp_path / "run"), 12
    kept = saved if steps else STEPS
    np.testing.assert_array_equal(found[:kept], losses(loop)[:kept])
    assert len(found) == kept + steps
    assert events(tmp_path / "run", "finished")[-1]["step"] == kept + steps


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
