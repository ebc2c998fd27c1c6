"""Sentences about the data that a run could not write, with a fix."""

from workbench.runs.folder.unwritten import losses_of

OF_TENSORFLOW = (
    "{{function_node __wrapped__SaveV2_device_/job:localhost/replica:0/task:0/device:CPU:0}} "
    "/home/me/runs/20261124-224006-a92f/checkpoints/ckpt-3_temp/part-00000-of-00001.data-00000-of-"
    "00001.tempstate1839; No space left on device [Op:SaveV2]"
)
FAILED = {"event": "checkpoint_failed", "step": 2_000, "error": OF_TENSORFLOW}


def test_a_full_disk_is_reported_without_details_of_tensorflow() -> None:
    assert losses_of([{"event": "start"}, FAILED], living=False) == (
        "The checkpoint of step 2,000 could not be saved: No space left on device. "
        "Make room on the disk."
    )


def test_a_run_that_waits_for_room_is_reported_once() -> None:
    waits = {"event": "no_room", "step": 2_000, "waits_to_save": "its checkpoint"}
    note = losses_of([FAILED, waits], living=True)
    assert note == "Waits for room on its disk to save its checkpoint. Make room on the disk."
    assert losses_of([FAILED, waits], living=False).startswith("The checkpoint of step 2,000")


def test_a_later_checkpoint_ends_the_report_of_a_loss() -> None:
    assert losses_of([FAILED, {"event": "checkpoint", "step": 3_000}], living=True) == ""


def test_other_errors_are_quoted_but_shortened() -> None:
    lost = {"event": "model_not_saved", "error": "Layer Odd has no get_config"}
    assert losses_of([lost], living=False).startswith(
        "The trained model could not be saved: Layer Odd has no get_config. Then resume"
    )
    assert " ... Then resume" in losses_of([{**lost, "error": "x" * 900}], living=False)
