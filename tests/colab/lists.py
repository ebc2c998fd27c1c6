"""What Colab's runtimes have preinstalled, as their own lists say."""

from pathlib import Path

HERE = Path(__file__).parent
RUNTIMES = ("cpu", "gpu", "tpu")


def versions(runtime: str) -> dict[str, str]:
    """Each package of a runtime with its version."""
    lines = (HERE / f"{runtime}.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if not line.startswith("#"))
