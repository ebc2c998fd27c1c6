"""The page *Errors*: all errors, and first those that one came for."""

import re

from workbench.errors import all_errors
from workbench.errors.page import UNKNOWN, errors_page
from workbench.fields import FIELDS


def headings(page: str, level: int) -> list[str]:
    return re.findall(rf"<h{level}[^>]*>([^<]*)</h{level}>", page)


def test_the_page_has_each_error_with_what_to_do() -> None:
    page = errors_page()
    assert len(headings(page, 4)) == len(all_errors())
    assert page.count("<article>") == len(all_errors())
    assert headings(page, 2)[0] == "Settings"
    assert "global_batch_size" in headings(page, 3)


def test_a_field_comes_first_with_its_meaning_and_its_errors() -> None:
    page = errors_page("global_batch_size")
    assert headings(page, 2)[0] == "global_batch_size"
    assert FIELDS["global_batch_size"].help in page
    assert headings(page, 4)[0].startswith("global_batch_size must be")


def test_the_text_of_an_error_is_found() -> None:
    page = errors_page("ResourceExhaustedError: OOM when allocating tensor with shape[6,6]")
    assert headings(page, 2)[0] == "This error"
    assert "memory" in headings(page, 4)[0]


def test_an_unknown_text_is_said_to_be_unknown_and_never_becomes_markup() -> None:
    page = errors_page("<script>alert(1)</script>")
    assert UNKNOWN in page
    assert "<script" not in page
