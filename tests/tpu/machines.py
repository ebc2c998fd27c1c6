"""A machine with a TPU, and the stand-in for its Python."""

import dataclasses
from pathlib import Path

from tests.machines import LAPTOP

STAND_IN = Path(__file__).with_name("stand_in.py")
TPU_VM = dataclasses.replace(LAPTOP, tpu_chips=2, tpu_kind="v5e")
