"""The packages that are preinstalled in Colab's runtimes, by Colab's own lists."""

from pathlib import Path

HERE = Path(__file__).parent
RUNTIMES = ("cpu", "gpu", "tpu")


def versions(runtime: str) -> dict[str, str]:
    """Return each package of a runtime with its version."""
    lines = (HERE / f"{runtime}.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if not line.startswith("#"))
