"""The first screen: Train without scrolling, a bar that stays in sight, everything by keyboard."""

from playwright.sync_api import Locator, expect

from tests.browser.lab_page import LabPage
from tests.browser.workbench_page import LONG_RUN, WorkbenchPage

WIDE = {"width": 1440, "height": 900}
NARROW = {"width": 900, "height": 900}


def left_of(one: Locator, other: Locator) -> bool:
    first, second = one.bounding_box(), other.bounding_box()
    assert first is not None
    assert second is not None
    return first["x"] + first["width"] <= second["x"]


def test_train_needs_no_scrolling_and_stays_in_sight_beside_the_run(lab: LabPage) -> None:
    lab.page.set_viewport_size(WIDE)
    workbench = WorkbenchPage(lab, "first.ipynb")
    lab.command("application:toggle-left-area")
    expect(workbench.button("Train")).to_be_in_viewport(ratio=1)
    assert left_of(workbench.form, workbench.root.locator(".wb-tabs").first)
    workbench.train(**LONG_RUN)
    workbench.wait_for_lines("lines.length > 0")
    workbench.lanes.last.scroll_into_view_if_needed()
    expect(workbench.button("Train")).to_be_in_viewport(ratio=1)
    line = workbench.root.locator(".wb-running")
    expect(line).to_contain_text("of 10,000,000")
    workbench.stop.click()
    expect(workbench.state).to_have_text("stopped")
    expect(line).to_be_hidden()


def test_a_narrow_page_folds_the_form_to_a_line_until_a_person_unfolds_it(lab: LabPage) -> None:
    lab.page.set_viewport_size(NARROW)
    workbench = WorkbenchPage(lab, "narrow.ipynb")
    lab.command("application:toggle-left-area")
    expect(workbench.button("Train")).to_be_in_viewport(ratio=1)
    epochs = workbench.field("Epochs")
    workbench.train(**LONG_RUN)
    workbench.wait_for_lines("lines.length > 0")
    expect(epochs).to_be_hidden()
    unfold = workbench.button("Change settings")
    unfold.click()
    expect(epochs).to_be_visible()
    unfold.click()
    workbench.lanes.last.scroll_into_view_if_needed()
    expect(workbench.stop).to_be_in_viewport(ratio=1)
    workbench.stop.click()
    expect(workbench.state).to_have_text("stopped")
    expect(epochs).to_be_hidden()
    unfold.click()
    expect(epochs).to_be_visible()
    expect(unfold).to_be_hidden()


def test_settings_and_their_help_open_by_keyboard(lab: LabPage) -> None:
    workbench = WorkbenchPage(lab, "keys.ipynb")
    workbench.button("More settings").focus()
    lab.page.keyboard.press("Enter")
    expect(workbench.root.get_by_label("Model", exact=True)).to_be_visible()
    workbench.button("Steps, optimizer and learning rate").focus()
    lab.page.keyboard.press("Space")
    expect(workbench.root.get_by_label("Learning rate", exact=True)).to_be_visible()
    about = workbench.form.get_by_role("button", name="About Epochs")
    about.focus()
    expect(workbench.form.get_by_text("Passes through the training data")).to_be_visible()
    about.blur()
    expect(workbench.form.get_by_text("Passes through the training data")).to_be_hidden()


def test_a_problem_opens_the_settings_that_hide_its_field(lab: LabPage) -> None:
    source = "from workbench import RunConfig, Workbench\n\nWorkbench(RunConfig(learning_rate=-1))"
    workbench = WorkbenchPage(lab, "problem.ipynb", source=source, trains=False)
    expect(workbench.root.get_by_label("Learning rate", exact=True)).to_be_visible()
    expect(workbench.button("More settings (1 to fix)")).to_be_visible()
    expect(workbench.root.get_by_text("Fix Learning rate to train.")).to_be_visible()
