"""Scripts with edits that a user could make."""

from tests.codegen.golden import render
from tests.machines import LAPTOP
from workbench.scripts import Difference, Opened, read_script

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


def named(script: Opened) -> dict[str, Difference]:
    """Return the differences by name."""
    return {each.name: each for each in script.differences}
