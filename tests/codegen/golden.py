"""The golden scripts in tests/golden.

To renew them: `python -m tests.codegen.golden`.
"""

import argparse
import tempfile
from functools import cache
from pathlib import Path

from tests.machines import LAPTOP
from workbench.codegen import render_script
from workbench.config import RunConfig
from workbench.plan import make_plan
from workbench.runs.functions import keep_function

FOLDER = Path(__file__).parents[1] / "golden"
OWN_MODEL = Path(__file__).parent / "own_model.py"

CONFIGS = {
    "default_custom_synthetic": RunConfig(strategy="default"),
    "mirrored_custom_fashion_mnist": RunConfig(data="fashion_mnist", epochs=2),
    "mirrored_fit_fashion_mnist": RunConfig(data="fashion_mnist", loop="fit", epochs=2),
    "mirrored_indexed_synthetic": RunConfig(pipeline="indexed", global_batch_size=64),
    "mirrored_files_synthetic": RunConfig(pipeline="files", global_batch_size=64),
    "mirrored_xla_synthetic": RunConfig(xla=True),
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


@cache
def notebook_model() -> str:
    """Return the script of the custom model when it was written in a notebook."""
    with tempfile.TemporaryDirectory() as folder:
        model = keep_function(OWN_MODEL.read_text(), "build_model", Path(folder))
        return render_script(make_plan(RunConfig(model=model, loop="fit"), LAPTOP))


def kept(name: str) -> str:
    """Return the complete golden script."""
    return path_of(name).read_bytes().decode()


def path_of(name: str) -> Path:
    return FOLDER / f"{name}.py"


def main() -> None:
    """Write the golden scripts again."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    for name in CONFIGS:
        path_of(name).write_text(render(name), encoding="utf-8")


if __name__ == "__main__":
    main()
