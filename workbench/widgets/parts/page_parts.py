"""The parts that pages are made of, sent in few messages.

ipywidgets sends one message for a widget, one for its style, one for its layout, and one for each
later change. A kernel keeps 1,000 messages for a server that does not read at that time. It
silently drops later messages (libzmq's ZMQ_SNDHWM), and a page never gets those widgets. So the
parts that all widgets of a kind share are made once, and CSS classes are sent with the widget.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets as ipw

from . import markup

ANY_WIDTH = {"description_width": "initial"}
"""The style of a control whose label takes as much space as it needs."""
_shared: dict[tuple[object, ...], Any] = {}


def styled(
    kind: Any,
    *classes: str,
    style: Mapping[str, str] | None = None,
    fixed: bool = False,
    **traits: Any,
) -> Any:
    """Return a widget that shares its style with all widgets of its kind and the same `style`.

    Args:
        kind: a class of ipywidgets.
        classes: names of classes in the style sheet.
        style: traits of the widget's style.
        fixed: whether the widget shares its layout too, which must then never be changed.
        traits: traits of the widget.
    """
    if hasattr(kind, "style"):
        traits["style"] = _share(kind, "style", style or {})
    if fixed:
        traits["layout"] = _share(kind, "layout", {})
    if classes:
        traits["_dom_classes"] = classes
    return kind(**traits)


def _share(kind: Any, part: str, values: Mapping[str, str]) -> Any:
    key = (getattr(kind, part).klass, *sorted(values.items()))
    kept = _shared.get(key)
    if kept is None or kept.comm is None:  # `Widget.close_all()` may have closed it
        kept = _shared[key] = key[0](**values)
        kept.observe(_refuse, [name for name in kept.keys if not name.startswith("_")])
    return kept


def _refuse(change: Any) -> None:
    raise TypeError(
        f"shared styles and layouts are not changed; got {change['name']}={change['new']!r}. "
        "Make the widget with fixed=False."
    )


def shared_layout(kind: Any, *, visible: bool) -> Any:
    """Return the layout that all shown, or all hidden, widgets of a kind share.

    A widget that gets one or the other is shown or hidden by one message, and has no own layout.
    """
    return _share(kind, "layout", {} if visible else {"display": "none"})


def html(value: str = "", *, description: str, fixed: bool = True) -> Any:
    """Return a widget with HTML text. Screen readers read out `description` for it."""
    return styled(ipw.HTML, value=value, description=description, fixed=fixed)


def button(label: str, tooltip: str, clicked: Callable[[Any], None], kind: str = "") -> Any:
    """Return a button; `kind` is a `button_style` of ipywidgets, such as `danger`."""
    made = styled(ipw.Button, description=label, tooltip=tooltip, button_style=kind)
    made.on_click(clicked)
    return made


def row(*children: Any) -> Any:
    """Return a box that puts its children next to each other."""
    return styled(ipw.Box, "wb-row", children=children)


def section(title: str, about: str, *children: Any) -> Any:
    """Return a page with its heading and a line about its content."""
    head = html(markup.heading(title) + markup.quiet(about), description="Section")
    return styled(ipw.VBox, "wb-section", "wb-spaced", children=[head, *children])


def set_visible(widget: Any, *, visible: bool) -> None:
    """Show a widget, or hide it."""
    widget.layout.display = None if visible else "none"
