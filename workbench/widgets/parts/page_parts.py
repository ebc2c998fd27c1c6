"""The parts that pages are made of, sent in few messages.

ipywidgets sends one message for a widget, one for its style, one for its layout, and one for each
later change. A kernel keeps 1,000 messages for a server that does not read at that time. It
silently drops later messages (libzmq's ZMQ_SNDHWM), and a page never gets those widgets. So styles
and layouts that widgets can share are made once, and CSS classes are sent with the widget.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import anywidget
import ipywidgets as ipw

from . import markup

ANY_WIDTH = {"description_width": "initial"}
"""The style of a control whose label takes as much space as it needs."""
NO_WIDTH = {"description_width": "0px"}
"""The style of a control whose label only screen readers read."""
_shared: dict[tuple[object, ...], Any] = {}


def styled(
    kind: Any,
    *classes: str,
    style: Mapping[str, str] | None = None,
    visible: bool = True,
    **traits: Any,
) -> Any:
    """Return a widget that shares its layout, and its style with widgets of the same `style`.

    Args:
        kind: a class of ipywidgets.
        classes: names of classes in the style sheet.
        style: traits of the widget's style.
        visible: whether the widget is shown; `set_visible` changes it.
        traits: traits of the widget; a `layout` among them is its own.
    """
    if hasattr(kind, "style"):
        traits["style"] = _share(kind.style.klass, style or {})
    traits.setdefault("layout", shared_layout(visible=visible))
    if classes:
        traits["_dom_classes"] = classes
    return kind(**traits)


def _share(part: Any, values: Mapping[str, str]) -> Any:
    """Return the style or layout of the class `part` that all widgets with these values share."""
    key = (part, *sorted(values.items()))
    kept = _shared.get(key)
    if kept is None or kept.comm is None:  # `Widget.close_all()` may have closed it
        kept = _shared[key] = part(**values)
        kept.observe(_refuse, [name for name in kept.keys if not name.startswith("_")])
    return kept


def _refuse(change: Any) -> None:
    raise TypeError(
        f"shared styles and layouts are not changed; got {change['name']}={change['new']!r}. "
        "Call set_visible, or give the widget its own style or layout."
    )


def shared_layout(*, visible: bool) -> Any:
    """Return the layout that all shown, or all hidden, widgets share."""
    return _share(ipw.Layout, {} if visible else {"display": "none"})


def set_visible(widget: Any, *, visible: bool) -> None:
    """Show a widget, or hide it, by one message: it gets the other shared layout.

    Raises:
        TypeError: it is an anywidget, to which a page that shows it applies no other layout.
    """
    if isinstance(widget, anywidget.AnyWidget):
        raise TypeError(
            f"an anywidget keeps its layout; got {type(widget).__name__}. Put it into a box, and "
            "show or hide the box."
        )
    widget.layout = shared_layout(visible=visible)


def is_visible(widget: Any) -> bool:
    """Return whether a widget is shown, if its surroundings are."""
    return str(widget.layout.display) != "none"


def html(value: str = "", *, description: str, visible: bool = True) -> Any:
    """Return a widget with HTML text. Screen readers read out `description` for it."""
    return styled(ipw.HTML, value=value, description=description, visible=visible)


def button(
    label: str,
    tooltip: str,
    clicked: Callable[[Any], None],
    kind: str = "",
    *,
    visible: bool = True,
) -> Any:
    """Return a button; `kind` is a `button_style` of ipywidgets, such as `danger`."""
    made = styled(
        ipw.Button, description=label, tooltip=tooltip, button_style=kind, visible=visible
    )
    made.on_click(clicked)
    return made


def column(*children: Any) -> Any:
    """Return a box that puts its children below each other."""
    return styled(ipw.VBox, children=children)


def row(*children: Any) -> Any:
    """Return a box that puts its children next to each other."""
    return styled(ipw.Box, "wb-row", children=children)


def section(title: str, about: str, *children: Any, css_class: str = "") -> Any:
    """Return a page with its heading and a line about its content."""
    head = html(markup.heading(title) + markup.quiet(about), description="Section")
    classes = ("wb-section", "wb-spaced", *filter(None, [css_class]))
    return styled(ipw.VBox, *classes, children=[head, *children])
