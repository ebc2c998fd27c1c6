"""The comparison saved as one HTML file by a click."""

from __future__ import annotations

import re
from pathlib import Path

from tests.experiments.timed_runs import ONE, timed_run
from tests.experiments.written import write_comparison
from tests.waiting import until
from tests.widgets.comparison.views import RATES, comparison_view, row_names


def test_a_click_saves_the_comparison_next_to_its_folder(tmp_path: Path) -> None:
    comparison = write_comparison(tmp_path, RATES)
    shown = comparison_view(tmp_path)
    until(lambda: len(row_names(shown)) == 3)
    shown._results.choices.baseline.value = "Mirrored x 2"
    until(lambda: shown._snapshot and shown._snapshot.table.baseline == 1)
    report = shown._results._report
    report._save.click()
    until(lambda: "Saved" in report._saved.value)
    path = tmp_path / f"{comparison.folder.name}.html"
    text = path.read_text()
    assert "Comparison of strategies" in text
    row = re.search(
        r'<th scope="row">Mirrored x 2</th><td>64</td><td>([^<]+)</td><td>baseline</td>', text
    )
    assert row is not None
    assert row[1].startswith("1,515 (")
    assert path.name in report._saved.value
    (download,) = until(lambda: report._download.children)
    assert download.label == f"Download {path.name}"
    report._save.click()
    until(lambda: path.with_stem(f"{path.stem}-2").exists())


def test_earlier_runs_without_a_comparison_are_saved_too(tmp_path: Path) -> None:
    shown = comparison_view(tmp_path)
    shown._earlier._choose([timed_run(tmp_path, ONE, 1000.0)])
    until(lambda: len(row_names(shown)) == 1)
    shown._results._report._save.click()
    until((tmp_path / "comparison.html").exists)


def test_without_a_run_nothing_is_saved_and_the_reason_is_shown(tmp_path: Path) -> None:
    write_comparison(tmp_path, {"OneDevice": (), "Mirrored x 2": ()}, "stopped")
    shown = comparison_view(tmp_path)
    until(lambda: len(row_names(shown)) == 3)
    report = shown._results._report
    report._save.click()
    until(lambda: "No run has started yet, so there is nothing to report" in report._saved.value)
    assert not report._save.disabled
    assert not list(tmp_path.glob("*.html"))
