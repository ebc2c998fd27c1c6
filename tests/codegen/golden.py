"""The scripts kept in tests/golden: what each has of its own, and once the recorder of all.

To renew them: `python -m tests.codegen.golden`.
"""

from functools import cache
from pathlib import Path

from tests.machines import LAPTOP
from workbench.codegen import render_script
from workbench.codegen.script import MARKER
from workbench.config import RunConfig
from workbench.plan import make_plan

FOLDER = Path(__file__).parents[1] / "golden"
OWN_MODEL = Path(__file__).parent / "own_model.py"

CONFIGS = {
    "default_custom_synthetic": RunConfig(strategy="default"),
    "mirrored_custom_fashion_mnist": RunConfig(data="fashion_mnist", epochs=2),
    "mirrored_fit_fashion_mnist": RunConfig(data="fashion_mnist", loop="fit", epochs=2),
    "mirrored_indexed_synthetic": RunConfig(pipeline="indexed", global_batch_size=64),
    "mirrored_files_synthetic": RunConfig(pipeline="files", global_batch_size=64),
    "keep_and_clip": RunConfig(last_batch="keep", clip_norm=1.0),
    "own_model": RunConfig(model=f"{OWN_MODEL}:build_model", loop="fit"),
}


@cache
def render(name: str) -> str:
    return render_script(make_plan(CONFIGS[name], LAPTOP))


def kept(name: str) -> str:
    """The whole script as it is kept."""
    return "".join(path.read_bytes().decode() for path in (path_of(name), path_of("recorder")))


def path_of(name: str) -> Path:
    return FOLDER / f"{name}.py"


if __name__ == "__main__":
    for name in CONFIGS:
        above, marker, below = render(name).partition(MARKER)
        path_of(name).write_text(above, encoding="utf-8")
        path_of("recorder").write_text(marker + below, encoding="utf-8")
