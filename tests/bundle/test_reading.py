"""Any zip file is read within limits, or refused with a reason; nothing is written."""

import json
import random
import stat
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.bundle.bundles import (
    bundle_of,
    certified_run,
    config_text,
    rewritten,
    texts_in,
    write_zip,
)
from workbench.bundle import read_bundle
from workbench.config import RunConfig
from workbench.runs import Run, RunError


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return certified_run(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def whole(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bundle_of(run, tmp_path_factory.mktemp("whole") / "bundle.zip")


def refused(path: Path, reason: str) -> None:
    before = sorted(path.parent.rglob("*"))
    with pytest.raises(RunError, match=reason) as caught:
        read_bundle(path)
    assert str(path) in str(caught.value)
    assert sorted(path.parent.rglob("*")) == before


def linked(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name)
    entry.create_system, entry.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    return entry


def test_the_place_and_the_commands_of_the_run_are_not_taken_over(
    run: Run, whole: Path, tmp_path: Path
) -> None:
    made_up = {
        "launcher": "slurm",
        "job_setup": f"touch {tmp_path}/done",
        "container": "/evil.sif",
        "interpreter": "/evil/python",
        "archive": "/evil",
        "start_now": True,
    }
    path = rewritten(whole, tmp_path / "b.zip", config=config_text(run, **made_up))
    config = read_bundle(path).config
    assert {name: getattr(config, name) for name in made_up} == {
        name: getattr(RunConfig(), name) for name in made_up
    }


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("../evil.py", r"'\.\./evil\.py'"),
        ("/etc/passwd", "'/etc/passwd'"),
        ("C:\\evil.py", r"'C:.*evil\.py'"),
        ("notes.txt", "'notes.txt'"),
        ("folder/", "'folder/'"),
        ("\x1b[31mred", r"'\\x1b\[31mred'"),
    ],
)
def test_a_name_that_no_bundle_has_is_refused(
    name: str, shown: str, whole: Path, tmp_path: Path
) -> None:
    path = write_zip(tmp_path / "b.zip", {**texts_in(whole), name: b"import os"})
    refused(path, f"holds files that no bundle has: {shown}.*Take an undamaged copy")


def test_a_link_is_refused(whole: Path, tmp_path: Path) -> None:
    texts: dict[Any, bytes] = texts_in(whole)
    del texts["train.py"]
    texts[linked("train.py")] = b"/etc/passwd"
    refused(write_zip(tmp_path / "b.zip", texts), "it holds a link: 'train.py'")


def test_a_repeated_name_is_refused(whole: Path, tmp_path: Path) -> None:
    path = write_zip(tmp_path / "b.zip", {**texts_in(whole)})
    with zipfile.ZipFile(path, "a") as file, pytest.warns(UserWarning, match="Duplicate"):
        file.writestr("train.py", "print()")
    refused(path, "it holds the same file twice: 'train.py'")


@pytest.mark.parametrize("name", ["manifest.json", "config.json", "train.py", "requirements.txt"])
def test_a_missing_file_is_named(name: str, whole: Path, tmp_path: Path) -> None:
    texts = texts_in(whole)
    del texts[name]
    refused(write_zip(tmp_path / "b.zip", {**texts}), f"it lacks: '{name}'")


@pytest.mark.parametrize("name", ["losses.csv", "certificate.json"])
def test_a_file_in_the_manifest_must_exist(name: str, whole: Path, tmp_path: Path) -> None:
    texts = texts_in(whole)
    del texts[name]
    refused(
        write_zip(tmp_path / "b.zip", {**texts}), f"{name} changed after the bundle was written"
    )


def test_a_changed_text_is_named(whole: Path, tmp_path: Path) -> None:
    texts = {**texts_in(whole), "train.py": b"import os"}
    refused(
        write_zip(tmp_path / "b.zip", {**texts}), "train.py changed after the bundle was written"
    )


def test_a_small_file_that_unpacks_to_a_huge_file_is_refused(whole: Path, tmp_path: Path) -> None:
    texts = {**texts_in(whole), "train.py": b"#" * (2**22 + 1)}
    path = write_zip(tmp_path / "b.zip", {**texts})
    assert path.stat().st_size < 40_000
    refused(path, "train.py has more than 4,194,304 bytes")


def test_lost_and_changed_bytes_are_noticed(whole: Path, tmp_path: Path) -> None:
    data, path = whole.read_bytes(), tmp_path / "b.zip"
    for damaged in (b"", b"no zip", data[:-30], data[:200]):
        path.write_bytes(damaged)
        refused(path, "not a complete bundle")
    path.write_bytes(data[:2000] + bytes([data[2000] ^ 255]) + data[2001:])
    refused(path, "not a complete bundle")


def test_damage_of_any_kind_is_refused_or_harmless(whole: Path, tmp_path: Path) -> None:
    data, path, rng = whole.read_bytes(), tmp_path / "b.zip", random.Random(1)
    intact = read_bundle(whole)
    for _ in range(300):
        damaged = bytearray(data)
        for _ in range(rng.choice((1, 4))):
            damaged[rng.randrange(rng.choice((0, len(data) - 500)), len(data))] = rng.randrange(256)
        path.write_bytes(damaged)
        try:
            assert read_bundle(path) == intact
        except RunError as error:
            assert str(path) in str(error)  # noqa: PT017


def test_encrypted_files_and_files_without_text_are_refused(whole: Path, tmp_path: Path) -> None:
    path = write_zip(tmp_path / "b.zip", {**texts_in(whole), "train.py": b"\xff\xfe"})
    refused(path, "a text that is not UTF-8")
    data = bytearray(whole.read_bytes())
    first = data.index(b"PK\x01\x02")
    data[first + 8] |= 1
    path.write_bytes(data)
    refused(path, "encrypted")


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    refused(tmp_path / "none.zip", "cannot be read: No such file or directory. Fix the path")
    (tmp_path / "folder.zip").mkdir()
    refused(tmp_path / "folder.zip", "Is a directory. Fix the path")


def test_a_packed_run_is_recognized(run: Run, tmp_path: Path) -> None:
    refused(run.pack(tmp_path / "run.zip"), "is a packed run, not a bundle. Restore it with: work")


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        (
            {"version": 5},
            r"is a bundle of version 5; .*versions 1 to 4\. Install the release .*: 0\.1",
        ),
        ({"created": "yesterday"}, "created in manifest.json is not of type float"),
        ({"versions": {"python": 3}}, "versions in manifest.json is not of type"),
        ({"files": []}, "files in manifest.json is not of type"),
        ({"extra": 1}, "manifest.json lacks or adds 'extra'"),
    ],
)
def test_a_manifest_with_wrong_fields_is_refused(
    changed: dict[str, Any], reason: str, whole: Path, tmp_path: Path
) -> None:
    manifest = json.loads(texts_in(whole)["manifest.json"])
    text = json.dumps({**manifest, **changed})
    refused(rewritten(whole, tmp_path / "b.zip", manifest=text), reason)


def test_a_bundle_of_an_earlier_version_says_nothing_about_its_certificate(
    whole: Path, tmp_path: Path
) -> None:
    manifest = json.loads(texts_in(whole)["manifest.json"])
    del manifest["certificate"]
    old = json.dumps({**manifest, "version": 2})
    assert (
        read_bundle(rewritten(whole, tmp_path / "b.zip", manifest=old)).manifest.certificate == ""
    )
    refused(
        rewritten(whole, tmp_path / "c.zip", manifest=json.dumps(manifest)),
        "lacks or adds 'certifi",
    )


@pytest.mark.parametrize("text", ["[]", "{", "[" * 100_000])
def test_a_manifest_or_config_that_is_no_object_is_refused(
    text: str, whole: Path, tmp_path: Path
) -> None:
    refused(rewritten(whole, tmp_path / "b.zip", manifest=text), "manifest.json")
    refused(rewritten(whole, tmp_path / "c.zip", config=text), "config.json")


def test_a_config_with_an_unknown_field_is_refused(whole: Path, tmp_path: Path) -> None:
    refused(rewritten(whole, tmp_path / "b.zip", config='{"stratgy": 1}'), "Did you mean strategy")
