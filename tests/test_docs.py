"""Tests of README and docs: their commands and snippets run, and what they say is so."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs_blocks import BLOCK, ROOT, run_blocks, shape
from tests.launchers.cluster import missing, slurm_cluster
from workbench.devices import tpu
from workbench.errors import all_errors
from workbench.runs import list_runs

README = ROOT / "README.md"
PAGES = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for path in (README, *sorted(ROOT.glob("docs/**/*.md")))
}
WITH_BLOCKS = [name for name, text in PAGES.items() if BLOCK.search(text)]
SLURM_PAGE = "docs/howto/slurm.md"
TEXTS = "".join(PAGES.values())


@pytest.fixture
def cluster(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """The page on Slurm runs on a real cluster; the other pages need none."""
    if request.node.callspec.params["page"] != SLURM_PAGE:
        yield
        return
    if missing():
        pytest.skip(f"Slurm is not installed: {missing()}")
    with slurm_cluster(tmp_path_factory.mktemp("slurm") / "cluster") as conf:
        monkeypatch = request.getfixturevalue("monkeypatch")
        monkeypatch.setenv("SLURM_CONF", str(conf))
        yield


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize("page", WITH_BLOCKS)
def test_every_block_of_a_page_runs_and_prints_the_json_below_it(page: str, tmp_path: Path) -> None:
    for done in run_blocks(PAGES[page], tmp_path):
        if done.example is not None:
            printed = json.loads(done.printed.splitlines()[-1])
            assert shape(printed) == shape(json.loads(done.example)), done.text


@pytest.mark.slow
@pytest.mark.promise
def test_the_documentation_is_built_without_a_warning(tmp_path: Path) -> None:
    """Links between pages, to headings, files and pictures are checked by the build."""
    sphinx = (sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet")
    folders = (str(ROOT / "docs"), str(tmp_path))
    built = subprocess.run([*sphinx, *folders], capture_output=True, text=True, check=False)
    assert (built.returncode, built.stderr) == (0, "")
    fields = (tmp_path / "reference" / "config.html").read_text(encoding="utf-8")
    assert 'id="field-per-replica-batch-size"' in fields
    assert 'href="../errors.html#errors-global_batch_size"' in fields
    errors = (tmp_path / "errors.html").read_text(encoding="utf-8")
    assert [each.name for each in all_errors() if f'id="{each.name}"' not in errors] == []
    commands = (tmp_path / "reference" / "command-line.html").read_text(encoding="utf-8")
    assert "workbench runs resume" in commands


def test_the_readme_is_read_in_two_minutes() -> None:
    text = PAGES["README.md"]
    assert len(text.splitlines()) <= 150
    assert len(text.split()) <= 1000


def test_all_links_and_pictures_of_the_readme_exist() -> None:
    names = re.findall(r"\]\(([^)#:]+)[)#]", PAGES["README.md"])
    assert "docs/start.md" in names
    assert [name for name in names if not (ROOT / name).exists()] == []


def test_the_film_is_small_enough_for_a_page() -> None:
    assert (ROOT / "docs/images/train.gif").stat().st_size < 2_000_000


def test_places_to_which_pages_send_people_are_titles_of_the_page() -> None:
    files = [
        ROOT / "workbench" / "fields.py",
        *(ROOT / "workbench" / "widgets").rglob("*.py"),
        *(ROOT / "extension/schema").iterdir(),
    ]
    titles = "".join(path.read_text() for path in files)
    named = {*re.findall(r"under \*([^*]+?)\*", TEXTS), *re.findall(r"tab \*\*(.+?)\*\*", TEXTS)}
    assert {"A closer look", "Runs"} <= named
    assert [each for each in named if f'"{" ".join(each.split())}"' not in titles] == []


@pytest.mark.parametrize("page", ["README.md", "docs/hosts.md"])
def test_hardware_that_was_run_is_in_the_table_and_other_hardware_is_not(page: str) -> None:
    where, _, rest = PAGES[page].partition("## Where it was run")[2].partition("Not run")
    assert "one H100" in where
    assert "differ by up to 2e-5" in where
    not_run = rest.partition("\n## ")[0]
    assert "TPU" in not_run
    assert "everal GPUs" in not_run.replace("**", "")
    assert "H100" not in not_run


def test_chips_that_are_lent_singly_are_one_replica() -> None:
    named = re.findall(r"One (v\w+) or (v\w+) chip, .+? is one replica", TEXTS)
    assert named == [("v5e", "v6e")]
    assert {tpu.REPLICAS_PER_CHIP[kind] for kind in named[0]} == {1}


def test_blocks_are_in_languages_that_are_run_or_only_shown() -> None:
    blocks = [block for text in PAGES.values() for block in BLOCK.findall(text)]
    assert {language for language, _, _ in blocks} == {"sh", "python", "json", "text"}
    readme = {language for language, _, _ in BLOCK.findall(PAGES["README.md"])}
    assert readme == {"sh", "python"}


@pytest.mark.slow
def test_the_page_on_the_run_folder_names_the_files_of_a_run(tmp_path: Path) -> None:
    page = PAGES["docs/howto/export.md"]
    next(run_blocks(page, tmp_path))
    (run,) = list_runs(tmp_path / "runs")
    files = {str(path.relative_to(run.dir)) for path in run.dir.rglob("*") if path.is_file()}
    table = PAGES["docs/reference/run-folder.md"]
    named = re.findall(r"^\| `(\S+)` \|", table, re.MULTILINE)
    unnamed = {file for file in files if not any(matches(file, name) for name in named)}
    assert unnamed == set()
    unused = [name for name in named if not any(matches(file, name) for file in files)]
    assert unused == ["own_code/"]  # this run has no files of the user


def matches(file: str, name: str) -> bool:
    """Return whether a row of the table stands for a file: a path, a pattern, or a folder."""
    return Path(file).match(name) or (name.endswith("/") and file.startswith(name))
