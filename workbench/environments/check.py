"""Checks of a new environment: it can import TensorFlow, which for TPUs also loads libtpu."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from workbench.devices import DeviceError, tpu
from workbench.devices.child import Imported, Report, ask
from workbench.environments.builds import Build
from workbench.environments.errors import MakingError

IMPORT_SECONDS = 300.0
CHECK_TIMEOUT_SECONDS = 30.0
_RULE = "TensorFlow must be importable in the new environment"
_LOADS = "TensorFlow in the new environment must load libtpu to use the TPU"
_LOADING_FAILED = re.compile(r"FindAndLoadTpuLibrary failed with (.*?)(?: This is expected if|$)")
_IN_USE = re.compile(r"already in use|multi-process lockfile")
_NO_METADATA = {"TPU_SKIP_MDS_QUERY": "1"}
"""Outside a TPU VM, libtpu asks for half a minute for metadata that only a TPU VM has.

This variable prevents the request.
"""


def import_in(python: Path, build: Build, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Import TensorFlow in the environment, and return notes about it for the user.

    Raises:
        MakingError: the import fails, it finds another TensorFlow than the installed one, or a
            TPU build cannot load libtpu.
    """
    if build.for_tpus and not tpu.find(Path("/"), environment).chips:
        environment = {**_NO_METADATA, **environment}
    try:
        report = ask(str(python), "import", IMPORT_SECONDS, environment)
    except DeviceError as error:
        raise _no_import(error.got, build) from error
    if report.import_error is not None or report.imported is None:
        output = "; ".join(report.log.strip().splitlines()[-3:])
        got = f"{report.import_error or 'no TensorFlow'}; its last output: {output[-400:]!r}"
        raise _no_import(got, build)
    _check_same(report.imported, build)
    return _libtpu(report, report.imported) if build.for_tpus else ()


def found_in(python: Path, build: Build, environment: Mapping[str, str]) -> bool:
    """Return whether an existing environment still has the TensorFlow of its build."""
    if not python.exists():
        return False
    try:
        report = ask(str(python), "metadata", CHECK_TIMEOUT_SECONDS, environment)
    except DeviceError:
        return False
    return report.distributions.get(build.distribution) == build.version


def _no_import(got: str, build: Build) -> MakingError:
    if "not available in this library" in got and build.for_tpus:
        fix = (
            "TensorFlow finds another libtpu than the one installed with it: unset "
            "TPU_LIBRARY_PATH and PYTHONPATH, restart the kernel, and try again."
        )
    elif "SIGILL" in got:
        fix = "This processor lacks instructions that TensorFlow's wheels use: use another machine."
    else:
        fix = (
            "Fix the reported error (PYTHONPATH and LD_LIBRARY_PATH affect environments too), then "
            "try again."
        )
    return MakingError(_RULE, got, fix)


def _check_same(imported: Imported, build: Build) -> None:
    """Check that no TensorFlow from another folder hides the installed TensorFlow."""
    other = imported.version != build.version
    if other or (build.for_tpus and imported.tpu_build is False):
        what = f"TensorFlow {imported.version}{'' if other else ', built without TPU support'}"
        raise MakingError(
            f"In the new environment `import tensorflow` must find {' '.join(build.requirements)}",
            f"{what} (it cannot set up a TPU: no kernel for ConfigureDistributedTPU)"
            if build.for_tpus
            else what,
            "Remove that TensorFlow's folder from PYTHONPATH, restart the kernel, and try again.",
        )


def _libtpu(report: Report, imported: Imported) -> tuple[str, ...]:
    if imported.tpu_system:
        return ()
    found = _LOADING_FAILED.search(report.log.replace("\n", " "))
    reason = found[1].strip() if found else "the log gives no reason"
    if _IN_USE.search(reason):
        return (
            f"Another process is using the TPU ({reason}). Runs on it fail until that process "
            "ends. If it is a notebook's kernel that set up the TPU for JAX or TensorFlow, restart "
            "that kernel.",
        )
    raise MakingError(
        _LOADS,
        f"libtpu {report.libtpu or 'not installed'}: {reason}",
        "Unset TPU_LIBRARY_PATH if it names another libtpu, then make the environment again.",
    )
