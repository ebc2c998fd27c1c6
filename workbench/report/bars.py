"""A bar that is divided in parts, with a legend that names them."""

from __future__ import annotations

from collections.abc import Sequence

from .html import Html, tag

COLORS = ("#2f81f7", "#d9730d", "#b58900", "#1a9c5b", "#0e9aa7", "#c23fb3", "#e0484f", "#7a828c")


def bar(title: str, parts: Sequence[tuple[str, float]]) -> Html | None:
    """Return a bar under a title; None if there is nothing to divide.

    Each part has a text for the legend, and its size in any unit.
    """
    whole = sum(size for _, size in parts)
    if not whole:
        return None
    colored = list(zip(parts, COLORS * 2, strict=False))
    drawn = [
        tag("span", style=f"flex-grow:{size / whole:.4f};background:{color}")
        for (_, size), color in colored
    ]
    names = [
        tag("li", tag("span", class_="swatch", style=f"background:{color}"), text)
        for (text, _), color in colored
    ]
    return tag(
        "div",
        tag("h4", title),
        tag("div", *drawn, class_="bar", aria_hidden="true"),
        tag("ul", *names, class_="legend"),
    )
