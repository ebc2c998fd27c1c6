"""A saved script is opened into the form of a real page, and two scripts are shown side by side."""

from pathlib import Path

from playwright.sync_api import expect

from tests.browser.lab_page import LabPage
from tests.browser.workbench_page import WorkbenchPage
from workbench import RunConfig, make_plan, render_script
from workbench.devices import detect

NARROW = {"width": 1000, "height": 900}


def saved(folder: Path) -> Path:
    """A script that was edited by hand, in the folder of the notebooks."""
    devices = detect(import_tensorflow=False)
    text = render_script(make_plan(RunConfig(epochs=7, seed=3), devices))
    text = text.replace("Dense(16,", "Dense(48,").replace(
        "    model.save(", '    print("by hand")\n    model.save('
    )
    path = folder / "edited.py"
    path.write_text(text, encoding="utf-8")
    return path


def test_an_edited_script_is_opened_compared_and_undone(lab: LabPage) -> None:
    path = saved(lab.server.root)
    before = path.read_text(encoding="utf-8")
    workbench = WorkbenchPage(lab, "opens.ipynb")
    workbench.turn_to("Script")
    workbench.fill({"Open a script": path.name})
    workbench.button("Open").click()
    expect(workbench.field("Epochs")).to_have_value("7")
    expect(workbench.root.get_by_text("Its other edits are marked below")).to_be_visible()
    expect(workbench.button("Train this script as it is")).to_be_visible()
    note = workbench.root.get_by_text("edited.py has edits that are no settings")
    expect(note).to_have_count(1)
    difference = workbench.root.get_by_role(
        "region", name="Difference of the opened file and the form's script"
    )
    expect(difference).to_contain_text('print("by hand")')
    expect(difference).to_contain_text("Dense(48,")
    expect(difference).not_to_contain_text("# config:")
    fold = difference.locator("summary").first
    fold.focus()
    lab.page.keyboard.press("Enter")
    expect(difference.locator("details[open]").first).to_be_visible()
    lab.page.set_viewport_size(NARROW)
    for theme in ("dark", "light"):
        lab.set_theme(theme)
        difference.scroll_into_view_if_needed()
        assert workbench.overflowing() == []
        lab.screenshot(f"difference-{theme}")

    workbench.button("Save .py").click()
    expect(workbench.root.get_by_text("train.py")).not_to_have_count(0)
    workbench.button("Restore the form").click()
    expect(workbench.field("Epochs")).to_have_value("5")
    expect(note).to_have_count(0)
    assert path.read_text(encoding="utf-8") == before


def test_the_shown_script_is_copied_and_the_saved_one_opens_by_a_link(lab: LabPage) -> None:
    workbench = WorkbenchPage(lab, "copies/script.ipynb")
    workbench.turn_to("Script")
    workbench.fill({"Save as": "linked.py"})
    workbench.button("Save .py").click()
    link = workbench.root.get_by_role("link", name="linked.py")
    path = lab.server.root / "copies" / "linked.py"
    expect(link).to_have_attribute("title", str(path))

    said = workbench.root.locator(".wb-copy").get_by_role("status")
    lab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    workbench.button("Copy").focus()
    lab.page.keyboard.press("Enter")
    expect(said).to_have_text("Copied")
    copied = lab.page.evaluate("navigator.clipboard.readText()")
    assert copied == path.read_text(encoding="utf-8")
    assert copied == workbench.root.locator(".wb-code pre").text_content()
    expect(said).to_have_text("")

    lab.page.evaluate("navigator.clipboard.writeText('')")
    lab.page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(); }")
    workbench.button("Copy").click()
    expect(said).to_have_text("Press Ctrl+C")
    lab.page.keyboard.press("Control+c")
    lab.page.wait_for_function(
        "async text => (await navigator.clipboard.readText()).trim() === text.trim()", arg=copied
    )

    workbench.root.get_by_label("Compare with").select_option(label="Another run or a file ...")
    expect(workbench.button("Copy")).not_to_be_visible()
    link.click()
    expect(lab.page.locator(".jp-FileEditor:visible")).to_contain_text("NUM_TRAIN_EXAMPLES")
    opened = lab.page.evaluate("window.jupyterapp.shell.currentWidget.context.path")
    assert opened == "copies/linked.py"
