"""The report of runs, made only from their folders."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.bundle.bundles import certified_run
from tests.machines import TWO_GPUS
from tests.widgets.folders import CONFIG, records, write_run, write_steps
from workbench.catalog import MODELS
from workbench.exports import export_runs
from workbench.report import Html, Subject, section, write_report
from workbench.runs import Run, RunError
from workbench.runs.folder.files import json_text

PLANTED = "</pre></style><script>alert('planted')</script><img src=x onerror=alert(1)>"


def page_of(runs: list[Run], folder: Path, **options: object) -> str:
    return write_report(runs, folder / "report.html", **options).read_text()  # type: ignore[arg-type]


def headings(page: str) -> list[str]:
    return re.findall("<h2>(.+?)</h2>", page)


def test_the_page_of_a_run_has_all_sections(tmp_path: Path) -> None:
    run = certified_run(tmp_path / "runs", name="first")
    (run.dir / "devices.json").write_text(json_text(TWO_GPUS.to_json()))
    page = page_of([run], tmp_path)
    assert headings(page) == [
        *("Overview", "Charts", "Runs", "Environment", "Certificates", "Configuration", "Scripts"),
    ]
    assert "<title>first</title>" in page
    for text in ("156 of 156", "128 (64 x 2)", "GPU:1 a GPU, 24 GiB", "2.21.0", "The whole run: "):
        assert text in page
    assert page.count("<svg viewBox") - page.count('class="key"') == 3
    assert "def make_strategy()" in page
    assert run.result()["script_sha256"] in page


def test_the_differences_of_runs_come_before_their_charts(tmp_path: Path) -> None:
    faster = replace(CONFIG, learning_rate=0.01)
    runs = [write_run(tmp_path / "runs"), write_run(tmp_path / "runs", config=faster, name="fast")]
    page = page_of(runs, tmp_path)
    assert headings(page)[:3] == ["Overview", "Differences", "Charts"]
    row = '<th scope="row">learning rate</th><td>0.001</td><td>0.01</td>'
    assert row in page
    table = page[page.index("The fields that differ") : page.index("Equal fields")]
    assert table.count("<tr>") == 2
    assert f'<a href="#run-1">{runs[0].dated_title}</a>' in page
    assert '<article id="run-2"><h3>fast</h3>' in page
    assert "cannot be compared" not in page


def test_runs_of_different_models_have_a_warning(tmp_path: Path) -> None:
    other = replace(CONFIG, data="fashion_mnist", model="dense")
    runs = [write_run(tmp_path / "runs"), write_run(tmp_path / "runs", config=other, steps=0)]
    page = page_of(runs, tmp_path)
    assert f"different models: {MODELS['dense'].label}, " in page
    assert "Their losses cannot be compared." in page


def test_texts_of_runs_are_shown_and_never_interpreted(tmp_path: Path) -> None:
    texts = dict.fromkeys(("cause", "log", "fix"), PLANTED)
    run = write_run(tmp_path / "runs", state="failed", name=PLANTED, steps=100, **texts)
    (run.dir / "train.py").write_text(f"# {PLANTED}\n")
    (run.dir / "certificate.json").write_text(json_text({"claim": PLANTED, PLANTED: PLANTED}))
    for runs in ([run], [run, write_run(tmp_path / "runs")]):
        page = page_of(runs, tmp_path, title=PLANTED)
        assert "<script" not in page
        assert "<img" not in page
        assert page.count("</style>") == 1
        assert page.count("&lt;script&gt;alert('planted')&lt;/script&gt;") > 8
        (tmp_path / "report.html").unlink()


def test_failed_runs_and_runs_without_records_are_shown(tmp_path: Path) -> None:
    failed = write_run(tmp_path / "runs", state="failed", steps=100, cause="No memory.", fix="Buy.")
    page = page_of([failed, write_run(tmp_path / "runs", steps=0, state="queued")], tmp_path)
    assert "<strong>No memory.</strong> Buy." in page
    assert "0 of 156" in page
    assert "unknown" in page
    empty = write_run(tmp_path / "runs", steps=0, state="stopped")
    (tmp_path / "report.html").unlink()
    assert "Charts" not in headings(page_of([empty], tmp_path))


def test_results_that_no_run_has_are_no_columns(tmp_path: Path) -> None:
    run = write_run(tmp_path / "runs")
    empty = write_run(tmp_path / "runs", steps=0, state="stopped")
    for runs, has in (([run], True), ([empty], False), ([run, empty], True)):
        assert ("Test accuracy" in page_of(runs, tmp_path)) == has
        (tmp_path / "report.html").unlink()


def test_asynchronous_workers_have_separate_lines(tmp_path: Path) -> None:
    config = replace(CONFIG, strategy="parameter_server")
    run = write_run(tmp_path / "runs", steps=0, config=config)
    for worker in (0, 1):
        (run.dir / f"worker-{worker}").mkdir(exist_ok=True)
        write_steps(run.dir / f"worker-{worker}", 0, records(50)[:, :1])
    page = page_of([run], tmp_path)
    assert "worker 1, replica 1" in page
    assert "each have their own line and their own steps" in page


def test_further_sections_come_between_charts_and_runs(tmp_path: Path) -> None:
    def verdicts(subjects: Sequence[Subject]) -> Html:
        return section("Verdicts", Html(f"<p>{len(subjects)} runs</p>"))

    page = page_of([write_run(tmp_path / "runs")], tmp_path, sections=[verdicts])
    assert headings(page)[1:4] == ["Charts", "Verdicts", "Runs"]
    assert "<p>1 runs</p>" in page


def test_a_page_of_many_long_runs_stays_small(tmp_path: Path) -> None:
    run = write_run(tmp_path / "runs", steps=0)
    noise = np.random.default_rng(0).random((20_000, 2, 1), np.float32)
    rows = np.concatenate([noise, noise / 2, np.ones_like(noise)], axis=2)
    write_steps(run.dir / "worker-0", 0, rows)
    one = write_report([run], tmp_path / "one.html")
    assert one.stat().st_size < 150_000
    script, remarks = run.script, "# a remark\n" * 2_000
    runs = []
    for number in range(40):
        each = write_run(tmp_path / "runs", steps=0)
        (each.dir / "train.py").write_text(f"{script}{remarks}# {number}\n")
        write_steps(each.dir / "worker-0", 0, rows)
        runs.append(each)
    many = write_report(runs, tmp_path / "many.html")
    assert many.stat().st_size < 2_000_000
    assert "Left out to keep the page small" in many.read_text()


def test_nothing_is_overwritten_and_a_report_needs_a_run(tmp_path: Path) -> None:
    run = write_run(tmp_path / "runs")
    path = export_runs([run], "html", tmp_path / "page.html")
    with pytest.raises(RunError, match=r"never overwrites; .*page\.html exists already"):
        write_report([run], path)
    with pytest.raises(RunError, match=r"There is no run to report\. Name a run"):
        write_report([], tmp_path / "none.html")
