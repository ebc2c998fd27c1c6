"""Scripts as a person would edit them."""

from tests.codegen.golden import render
from tests.machines import LAPTOP
from workbench.scripts import Opened, Told, read_script

FASHION = "mirrored_custom_fashion_mnist"
SYNTHETIC = "default_custom_synthetic"


def edited(name: str, *changes: tuple[str, str]) -> str:
    """A kept script with the first of each text replaced."""
    text = render(name)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return text


def opened(name: str, *changes: tuple[str, str]) -> Opened:
    """What is understood of it on a laptop."""
    return read_script(edited(name, *changes), LAPTOP)


def named(script: Opened) -> dict[str, Told]:
    """What is told, by name."""
    return {each.name: each for each in script.told}
