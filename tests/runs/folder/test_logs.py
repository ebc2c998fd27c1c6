"""The last lines of logs: plain text as in a terminal, with a limited length."""

from pathlib import Path

import pytest

from workbench.runs.folder.logs import LINE_CHARACTERS, folded, log_tail


def test_lines_about_the_last_signal_of_a_finished_task_are_left_out(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log.txt"
    notice = "W0000 00:00:1.0 1 preemption_notifier.cc:90] SIGTERM caught at 2026-11-22T09:10:12\n"
    log.write_text(f"{notice}finished step=600\n{notice}\n")
    assert log_tail(log, 5) == f"{notice}finished step=600"


def test_the_tail_of_a_log_is_its_last_lines(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    assert log_tail(log, 5) == ""
    log.write_bytes(b"one\ntwo\r\n 1/9\r 9/9\n\xff\n\n")
    assert log_tail(log, 3) == "two\n 9/9\n\ufffd"
    assert log_tail(log, 3, since=4) == "two\n 9/9\n\ufffd"
    assert log_tail(log, 3, since=10) == " 9/9\n\ufffd"
    log.write_text("x" * 300 + "\n" + "line\n" * 100_000)
    assert log_tail(log, 1000).count("line") == 1000


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (b"\x1b[1;31mred\x1b[0m and \x1b[38;2;1;2;3mtrue\x1b[m", "red and true"),
        (b"\x1b[2K\x1b[1Aup\x1b[?25l\x1b[10;20H", "up"),
        (b"\x1b]0;a title\x07text", "text"),
        (b"\x1b]8;;https://example.org\x1b\\a link\x1b]8;;\x1b\\", "a link"),
        (b"\x1bPsome device string\x1b\\text \x1b(B\x1b7\x1b=", "text "),
        (b"kept\x1b]0;a title that never ends", "kept"),
        (b"kept\x1b[31", "kept"),
        (b"kept\x1b", "kept"),
        (b"a\x00b\x07c\x08d\x0be\x0cf\x1fg\x7fh", "abcdefgh"),
        ("a\x85b\x9bc".encode(), "abc"),
        ("\tindented, \u00e4\u2192\U0001f642".encode(), "\tindented, \u00e4\u2192\U0001f642"),
        (b"<b>&amp;</b>", "<b>&amp;</b>"),
    ],
)
def test_the_tail_is_plain_text(written: bytes, shown: str, tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    log.write_bytes(b"before\n" + written + b"\nafter\n")
    assert log_tail(log, 5) == f"before\n{shown}\nafter"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (b"10%\r50%\r100%", "100%"),
        (b"10%\r50%\r", "50%"),
        (b"\x08\x08\x08\r10%\x1b[K\r\x1b[1m 50%\x1b[0m\x1b[K\r\r", " 50%"),
        (b"100%\r    \rdone\r\r", "done"),
        (b"windows\r\r", "windows"),
    ],
)
def test_the_last_state_of_a_rewritten_line_is_kept(
    written: bytes, shown: str, tmp_path: Path
) -> None:
    log = tmp_path / "log.txt"
    log.write_bytes(b"before\n" + written)
    assert log_tail(log, 5) == f"before\n{shown}"
    log.write_bytes(b"before\n" + written + b"\nafter")
    assert log_tail(log, 5) == f"before\n{shown}\nafter"


def test_a_progress_bar_rewritten_for_hours_is_one_short_line(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    log.write_bytes(b"".join(b"\r%7d/1000000 [====>....]" % step for step in range(100_000)))
    assert log_tail(log, 50) == "  99999/1000000 [====>....]"


@pytest.mark.parametrize("noise", [b"\r", b"\x1b]", b"\x1b[0;", b"\x1b ", b"\x00"])
def test_a_log_of_control_characters_can_be_read(noise: bytes, tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    log.write_bytes(b"before\n" + noise * 15_000)
    assert log_tail(log, 50) == "before"


def test_the_middle_of_a_long_line_is_left_out_and_counted(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    log.write_text(f"{'a' * LINE_CHARACTERS}\nbegin{'-' * 10_000}end\n")
    whole, cut = log_tail(log, 5).split("\n")
    assert whole == "a" * LINE_CHARACTERS
    assert cut.startswith("begin---")
    assert "- [8,008 characters left out] -" in cut
    assert cut.endswith("---end")
    assert len(cut) < LINE_CHARACTERS + 50


def test_a_line_of_a_megabyte_shows_its_end_and_that_it_was_cut(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    log.write_text("x" * 2**20 + "the end")
    tail = log_tail(log, 50)
    assert tail.startswith("[the line's beginning is left out] xxx")
    assert tail.endswith("xxx" + "the end")
    assert len(tail) < LINE_CHARACTERS + 50
    log.write_text("x" * 2**20 + "\n" + "y" * 30_000 + "\n" + "the end\n")
    assert log_tail(log, 2).startswith("yyy")


def test_complete_lines_are_not_marked_as_cut(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    lines = ["z" * (2**12 - 1)] * 20
    log.write_text("\n".join(lines) + "\n")
    shown = log_tail(log, 50).split("\n")
    assert set(shown[-16:]) == {f"{'z' * 1000} [2,095 characters left out] {'z' * 1000}"}
    assert not any("beginning" in line for line in shown)


USUAL = """WARNING: All log messages before absl::InitializeLog() is called are written to STDERR
I0000 00:00:1.0 1 cpu_feature_guard.cc:227] This TensorFlow binary is optimized
To enable the following instructions: AVX2 FMA, in other operations, rebuild TensorFlow
E0000 00:00:1.0 1 cuda_platform.cc:52] failed call to cuInit: INTERNAL: CUDA error
2026-11-25 10:00:00.000001: I tensorflow/core/util/port.cc:153] oneDNN custom operations are on."""


def test_stretches_of_tensorflows_usual_reports_are_one_line_each() -> None:
    log = f"{USUAL}\nstart step=0\n{USUAL}\n\nI0000 00:00:1.0 1 x.cc:1] y\nValueError: of the model"
    assert folded(log, 10).splitlines() == [
        "[5 lines of TensorFlow left out]",
        "start step=0",
        "[6 lines of TensorFlow left out]",
        "ValueError: of the model",
    ]
    assert folded(log, 1) == "ValueError: of the model"


@pytest.mark.parametrize(
    "report",
    [
        "E0000 00:00:1.0 1 gpu_device.cc:1] CUDA_ERROR_LAUNCH_FAILED",
        "W0000 00:00:1.0 1 bfc_allocator.cc:501] Allocator (GPU_0_bfc) ran out of memory",
    ],
)
def test_reports_of_errors_and_memory_stay_in_a_folded_log(report: str) -> None:
    assert folded(f"{report}\nprinted by a script", 5) == f"{report}\nprinted by a script"
    assert folded("", 5) == ""
