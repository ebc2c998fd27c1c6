"""Scripts with edits that a user could make."""

from tests.codegen.golden import render
from tests.machines import LAPTOP
from workbench.scripts import Opened, read_script

FASHION = "mirrored_custom_fashion_mnist"
SYNTHETIC = "default_custom_synthetic"


def edited(name: str, *changes: tuple[str, str]) -> str:
    """Return a golden script in which the first of each text is replaced."""
    text = render(name)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return text


def opened(name: str, *changes: tuple[str, str]) -> Opened:
    """Return the edited script as it is opened on a laptop."""
    return read_script(edited(name, *changes), LAPTOP)


def edits(script: Opened) -> list[str]:
    """Return the lines that its other edits remove and add."""
    lines = script.edits.splitlines()
    return [line for line in lines if line[0] in "+-" and line[:3] not in ("+++", "---")]
