"""A stand-in for Colab's own module: displayed outputs have the widget manager's address."""

from typing import Any

from IPython import get_ipython

MANAGER = "https://stand-in/manager.js"
VIEW = "application/vnd.jupyter.widget-view+json"


class _widgets:  # noqa: N801
    """The class in which the real module keeps the address that anywidget requests."""

    _installed_url: str | None = None


def enable_custom_widget_manager() -> None:
    """Add the manager's address to all later outputs, as the real module does."""
    shell: Any = get_ipython()
    if _widgets._installed_url is None:
        shell.display_pub.register_hook(_name_the_manager)
    _widgets._installed_url = MANAGER


def _name_the_manager(message: dict[str, Any]) -> dict[str, Any]:
    content = message["content"]
    if VIEW in content["data"]:
        content["metadata"][VIEW] = {"colab": {"custom_widget_manager": {"url": MANAGER}}}
    return message
