"""The scripts kept in tests/golden: what each has of its own, and once the recorder of all.

To renew them: `python -m tests.codegen.golden`.
"""

from functools import cache
from pathlib import Path

from tests.machines import LAPTOP
from workbench.codegen import render_script
from workbench.codegen.script import COORDINATOR, MARKER
from workbench.config import RunConfig
from workbench.plan import make_plan

FOLDER = Path(__file__).parents[1] / "golden"
OWN_MODEL = Path(__file__).parent / "own_model.py"

PLACE = "# The recorder of all scripts stands here.\n"
ENDS = f"\n\n{COORDINATOR}", "\n\nif __name__"

CONFIGS = {
    "default_custom_synthetic": RunConfig(strategy="default"),
    "mirrored_custom_fashion_mnist": RunConfig(data="fashion_mnist", epochs=2),
    "mirrored_fit_fashion_mnist": RunConfig(data="fashion_mnist", loop="fit", epochs=2),
    "mirrored_indexed_synthetic": RunConfig(pipeline="indexed", global_batch_size=64),
    "mirrored_files_synthetic": RunConfig(pipeline="files", global_batch_size=64),
    "keep_and_clip": RunConfig(last_batch="keep", clip_norm=1.0),
    "multi_worker_fit_synthetic": RunConfig(strategy="multi_worker_mirrored", loop="fit"),
    "parameter_server_custom_synthetic": RunConfig(strategy="parameter_server"),
    "parameter_server_fit_synthetic": RunConfig(strategy="parameter_server", loop="fit"),
    "tpu_custom_fashion_mnist": RunConfig(
        strategy="tpu", tpu="my-tpu", replicas=8, data="fashion_mnist", precision="mixed_bfloat16"
    ),
    "own_model": RunConfig(model=f"{OWN_MODEL}:build_model", loop="fit"),
}


@cache
def render(name: str) -> str:
    return render_script(make_plan(CONFIGS[name], LAPTOP))


def parts(text: str) -> tuple[str, str, str]:
    """A script's own part, the recorder of all scripts, and what comes after it."""
    above, marker, below = text.partition(MARKER)
    end = min(at for mark in ENDS if (at := below.find(mark)) >= 0)
    return above, marker + below[:end], below[end:]


def kept(name: str) -> str:
    """The whole script as it is kept."""
    own, recorder = (path.read_bytes().decode() for path in (path_of(name), path_of("recorder")))
    return own.replace(PLACE, recorder, 1)


def path_of(name: str) -> Path:
    return FOLDER / f"{name}.py"


if __name__ == "__main__":
    for name in CONFIGS:
        above, recorder, ending = parts(render(name))
        path_of(name).write_text(above + PLACE + ending, encoding="utf-8")
        path_of("recorder").write_text(recorder, encoding="utf-8")
