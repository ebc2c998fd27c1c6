"""The last frame of a traceback in the user's own code."""

from dataclasses import replace

import pytest

from tests.machines import LAPTOP
from workbench.config import RunConfig
from workbench.plan import make_plan
from workbench.plan.plan import OwnFunction
from workbench.runs.supervise.user_code import PACKAGE, line_in_user_code, own_texts

TEXT = """\
import numpy as np


def load_data():
    table = read()
    return table["x"]


def read():
    return {}
"""
HEAD = "Traceback (most recent call last):\n"
OURS = (
    '  File "/runs/1/train.py", line 301, in <module>\n    run_and_leave(main)\n'
    f'  File "{PACKAGE}/engine/programs/run.py", line 22, in main\n    runpy.run_module()\n'
)
OWN = '  File "/runs/1/train.py", line 36, in load_data\n    return table["x"]\n           ~~~^\n'
ELSEWHERE = (
    '  File "/env/lib/python3.12/site-packages/pandas/frame.py", line 9, in get\n    raise key\n'
    '  File "/usr/lib/python3.12/json/decoder.py", line 5, in decode\n    return parsed\n'
    '  File "<frozen runpy>", line 88, in _run_code\n    exec(code)\n'
)


def test_a_frame_of_the_script_is_found_in_the_users_file() -> None:
    place = line_in_user_code(f"{HEAD}{OURS}{OWN}{ELSEWHERE}KeyError: 'x'\n", {"my_data.py": TEXT})
    assert place == 'my_data.py, line 6, in load_data: return table["x"]'


def test_a_frame_of_the_users_module_is_named_with_its_own_line() -> None:
    frame = '  File "/home/me/models.py", line 7, in build\n    return sizes[9]\n'
    place = line_in_user_code(f"{HEAD}{OURS}{frame}{ELSEWHERE}IndexError: 9\n", {})
    assert place == "/home/me/models.py, line 7, in build: return sizes[9]"


def test_a_frame_that_autograph_indents_is_found() -> None:
    frame = '    File "/runs/1/train.py", line 36, in load_data  *\n        return table["x"]\n'
    log = f"TypeError: in user code:\n\n{frame}\n    TypeError: x\n"
    place = line_in_user_code(log, {"a.py": TEXT})
    assert place.startswith("a.py, line 6, in load_data: ")


@pytest.mark.parametrize("log", ["", f"{HEAD}{OURS}{ELSEWHERE}ValueError: x\n", "ValueError: x"])
def test_other_frames_are_left_out(log: str) -> None:
    assert line_in_user_code(log, {"my_data.py": TEXT}) == ""


def test_the_texts_of_a_plan_are_those_that_its_script_holds() -> None:
    usual = make_plan(RunConfig(), LAPTOP)
    plan = replace(
        usual,
        config=RunConfig(data="my_data.py:load", model="models:build"),
        own_data=OwnFunction("load", None, TEXT),
        own_model=OwnFunction("build", "models", None),
    )
    assert own_texts(plan) == {"my_data.py": TEXT}
    assert own_texts(usual) == {}
