"""From the first screen to the exported script, by keyboard alone."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.keyboard import Keyboard
from tests.browser.lab_page import LabPage
from tests.browser.panel_page import PanelPage
from tests.browser.workbench_page import LONG_RUN
from tests.waiting import LIMIT_SECONDS
from workbench.runs import list_runs

PRESET = "MLP on synthetic data"


@pytest.fixture
def panel(lab: LabPage) -> Iterator[PanelPage]:
    """The workbench, opened by its keys; runs that a test leaves running are stopped."""
    page = PanelPage(lab)
    lab.open()
    lab.page.keyboard.press("Control+Alt+g")
    page.wait_until_live()
    yield page
    for run in list_runs(page.runs_dir):
        if run.alive:
            run.stop()
            run.wait(LIMIT_SECONDS)


@pytest.fixture
def keys(panel: PanelPage) -> Keyboard:
    return Keyboard(panel.page)


def label(panel: PanelPage, text: str) -> Locator:
    """Return a control by its label; unlike `field`, this opens nothing."""
    return panel.root.get_by_label(text, exact=True)


def test_a_run_is_configured_trained_and_its_script_saved(panel: PanelPage, keys: Keyboard) -> None:
    preset, epochs = label(panel, "Preset"), label(panel, "Epochs")
    keys.write(epochs, "3")
    expect(preset.locator("option:checked")).to_have_text("Custom settings")
    keys.back_to(preset)
    keys.choose(preset, PRESET)
    expect(epochs).to_have_value("5")
    expect(preset).to_be_focused()

    keys.go_to(label(panel, "Strategy"))
    keys.choose(label(panel, "Strategy"), "MultiWorkerMirrored")
    expect(label(panel, "Strategy")).to_be_focused()
    keys.write(label(panel, "Workers"), "2")
    keys.back_to(label(panel, "Strategy"))
    keys.choose(label(panel, "Strategy"), "Mirrored", "ArrowUp")
    keys.write(label(panel, "Replicas"), "2")
    keys.write(epochs, "2")
    keys.write(label(panel, "Per-replica batch"), "32")
    expect(label(panel, "Global batch")).to_have_value("64")

    keys.go_to(panel.button("More settings"))
    keys.press("Enter")
    keys.go_to(panel.button("Steps, optimizer and learning rate"))
    keys.press("Space")
    keys.write(label(panel, "Learning rate"), "0.02")

    keys.back_to(panel.button("Train"))
    keys.press("Enter")
    expect(panel.state).to_have_text("finished")
    expect(panel.button("Train")).to_be_focused()
    (run,) = list_runs(panel.runs_dir)[:1]
    config = run.config
    assert (config.strategy, config.loop, config.replicas) == ("mirrored", "custom", 2)
    assert (config.epochs, config.per_replica_batch_size, config.learning_rate) == (2, 32, 0.02)

    first, script = (
        panel.root.get_by_role("tab", name=name, exact=True) for name in ("Plan", "Script")
    )
    keys.go_to(first)
    keys.go_to(script, "ArrowRight")
    keys.press("Enter")
    saved = panel.lab.server.root / "by_keys.py"
    keys.write(label(panel, "Save as"), saved.name)
    keys.go_to(panel.button("Save .py"))
    keys.press("Enter")
    expect(panel.root.get_by_text(f"Saved {saved.name}")).to_be_visible()
    expect(panel.button("Save .py")).to_be_focused()
    assert saved.read_text(encoding="utf-8") == run.script


def test_a_second_press_asks_and_the_answers_are_next(panel: PanelPage, keys: Keyboard) -> None:
    keys.write(label(panel, "Epochs"), LONG_RUN["Epochs"])
    keys.go_to(panel.button("More settings"))
    keys.press("Enter")
    keys.go_to(panel.button("Steps, optimizer and learning rate"))
    keys.press("Enter")
    keys.write(label(panel, "Steps per epoch"), LONG_RUN["Steps per epoch"])
    keys.back_to(panel.button("Train"))
    keys.press("Enter", "Enter", "Enter")
    expect(panel.state).to_have_text("running")
    expect(panel.button("Train")).to_be_focused()
    assert sum(run.alive for run in list_runs(panel.runs_dir)) == 1

    keys.press("Enter")
    expect(panel.button("Do not start")).to_be_visible()
    keys.go_to(panel.button("Do not start"))
    keys.press("Space")
    expect(panel.button("Do not start")).to_have_count(0)
    keys.back_to(panel.stop)
    keys.press("Space")
    expect(panel.state).to_have_text("stopped")
