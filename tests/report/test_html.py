"""Elements are HTML; texts are never HTML."""

from workbench.report.html import Html, code, joined, table, tag

PLANTED = "</pre><script>alert('1')</script>&"
HARMLESS = "&lt;/pre&gt;&lt;script&gt;alert('1')&lt;/script&gt;&amp;"
QUOTED = HARMLESS.replace("'", "&#x27;")


def test_a_text_is_escaped_everywhere() -> None:
    assert tag("p", PLANTED) == f"<p>{HARMLESS}</p>"
    assert tag("a", "x", href=PLANTED) == f'<a href="{QUOTED}">x</a>'
    assert HARMLESS in code(PLANTED)
    assert PLANTED not in table([PLANTED], [[PLANTED]], PLANTED)
    assert joined([PLANTED, tag("b", "x"), None]) == f"{HARMLESS}<b>x</b>"


def test_elements_stay_elements() -> None:
    inner = tag("b", "x")
    assert isinstance(inner, Html)
    assert tag("p", inner, class_="quiet", aria_label="so", id=None) == (
        '<p class="quiet" aria-label="so"><b>x</b></p>'
    )
    assert tag("meta", charset="utf-8") == '<meta charset="utf-8">'


def test_a_character_that_no_file_can_hold_is_replaced() -> None:
    assert tag("p", "\udcff").encode("utf-8") == b"<p>?</p>"
