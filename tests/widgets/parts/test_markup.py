"""Nothing from outside becomes markup."""

from __future__ import annotations

import pytest

from tests.widgets.evil import EVIL
from workbench.widgets.parts import markup


@pytest.mark.parametrize(
    "made",
    [
        markup.notice("error", EVIL),
        markup.quiet(EVIL),
        markup.heading(EVIL),
        markup.pill(EVIL),
        markup.facts([(EVIL, EVIL)]),
        markup.table(EVIL, [EVIL], [[EVIL]]),
        markup.scrolling(EVIL, ""),
    ],
)
def test_text_from_outside_is_escaped(made: str) -> None:
    assert "<img" not in made
    assert '"alert' not in made
