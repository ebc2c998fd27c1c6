"""The machine in one line, accelerators first, and the host in one row."""

from dataclasses import replace

from tests.machines import FOUR_GPUS, LAPTOP
from workbench.widgets.hardware import Hardware, one_line


def test_a_machine_without_accelerators() -> None:
    expected = "no GPU \u00b7 a processor, 8 cores \u00b7 32 GiB \u00b7 TensorFlow 2.21.0"
    assert one_line(LAPTOP) == expected


def test_equal_gpus_are_counted() -> None:
    assert one_line(FOUR_GPUS).startswith("4 x a GPU \u00b7 ")


def test_what_is_unknown_or_missing_is_named() -> None:
    bare = replace(LAPTOP, cpu_model=None, cpu_cores=1, tensorflow_version=None, tpu_chips=0)
    line = one_line(bare)
    assert "CPU of unknown model, 1 core" in line
    assert line.endswith("no TensorFlow")


def test_the_host_is_a_row_of_the_facts() -> None:
    hardware = Hardware(host="Colab. Runs are in /content/runs.")
    assert "<dt>Host</dt><dd>Colab. Runs are in /content/runs.</dd>" in hardware._facts.value
    hardware.close()
