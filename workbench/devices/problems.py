"""Reasons why a present accelerator cannot be used: one sentence for each, with the fix."""

from __future__ import annotations

import platform
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from workbench.devices import tpu_build
from workbench.devices.child import Report
from workbench.devices.holders import Holder
from workbench.devices.nvidia import NvidiaGpu
from workbench.devices.tpu import Tpu

_CPU_ONLY = ("tensorflow-cpu", "tensorflow-cpu-aws", "tf-nightly-cpu")


@dataclass(frozen=True)
class Evidence:
    """All facts found about the machine and the interpreter."""

    report: Report
    nvidia: tuple[NvidiaGpu, ...]
    """The GPUs of the driver."""
    visible: tuple[NvidiaGpu, ...]
    """The GPUs of the driver that CUDA shows to the run."""
    nvidia_on_bus: int
    tpu: Tpu
    environment: Mapping[str, str]
    tpu_holders: tuple[Holder, ...] = ()
    """The processes that have the TPU open."""


def found_problems(evidence: Evidence) -> tuple[str, ...]:
    """Return every problem that the evidence proves; an unknown fact is not a problem."""
    return (*_tensorflow_problems(evidence), *_gpu_problems(evidence), *_tpu_problems(evidence))


def cpu_only(report: Report) -> bool:
    """Return whether TensorFlow there was built without GPU support, as far as the report shows."""
    if report.imported is not None:
        return not report.imported.cuda_build
    names = report.distributions
    return bool(names) and all(name in _CPU_ONLY or name.endswith("-tpu") for name in names)


def for_tpus(report: Report) -> bool | None:
    """Return whether TensorFlow there was built with support for TPUs; None is unknown."""
    if any(name.endswith("-tpu") for name in report.distributions):
        return True
    return report.imported.tpu_build if report.imported is not None else None


def _tensorflow_problems(evidence: Evidence) -> Iterator[str]:
    report = evidence.report
    if not report.tensorflow_found:
        left = _left_unused(evidence)
        yield (
            f"TensorFlow is not installed in {report.interpreter} (Python {report.python_version})"
            f"{left}: {install(report, *_fitting(evidence))}{_or_beside(evidence)}."
        )
    if report.import_error is not None:
        version = "".join(list(report.distributions.values())[:1])
        yield (
            f"TensorFlow {version} is installed in {report.interpreter}, but importing it fails "
            f"({report.import_error}): {install(report, *_fitting(evidence), again=True)}."
        )


def _gpu_problems(evidence: Evidence) -> Iterator[str]:
    report, count = evidence.report, len(evidence.nvidia)
    here = _counted(evidence.nvidia)
    if count == 0:
        if evidence.nvidia_on_bus:
            yield (
                f"{evidence.nvidia_on_bus} NVIDIA GPU(s) are on the PCI bus, but no NVIDIA driver "
                "shows them: install the driver so that `nvidia-smi` lists them; in a container, "
                "start it with --gpus all."
            )
        return
    hidden = count - len(evidence.visible)
    if hidden > 0:
        value = evidence.environment["CUDA_VISIBLE_DEVICES"]
        yield (
            f"{hidden} of {here} cannot be used because CUDA_VISIBLE_DEVICES={value!r} hides "
            f"{'it' if hidden == 1 else 'them'}: unset the variable, or list the GPUs to use in "
            f"it, such as CUDA_VISIBLE_DEVICES={','.join(map(str, range(count)))}."
        )
    if report.tensorflow_found and cpu_only(report) and evidence.tpu.chips == 0:
        name = next(iter(report.distributions), "tensorflow")
        yield (
            f"{here} cannot be used because {name} in {report.interpreter} is built without GPU "
            f"support: {install(report, *_fitting(evidence), instead_of=name)}."
        )
    elif report.imported is not None and not report.imported.gpus and evidence.visible:
        yield f"{here} cannot be used because {_reason_in_log(report)}."


def _reason_in_log(report: Report) -> str:
    """Return the reason from TensorFlow's log why it lists no GPU, together with the fix."""
    version = report.imported.version if report.imported else None
    cuda = report.imported.cuda_version if report.imported else None
    needs = f" (TensorFlow {version} needs CUDA {cuda})" if cuda else ""
    if "Cannot dlopen some GPU libraries" in report.log:
        return f"CUDA libraries are missing{needs}: " + install(report, "tensorflow[and-cuda]")
    if "Could not find cuda drivers" in report.log:
        return (
            "the driver's library libcuda.so.1 cannot be loaded: install the NVIDIA driver, or "
            "put the library's folder on LD_LIBRARY_PATH (on WSL /usr/lib/wsl/lib); in a "
            "container, start it with --gpus all"
        )
    for line in report.log.splitlines():
        if "failed call to cuInit" in line:
            message = line[line.index("failed call to cuInit") :].strip()
            fix = "restart the machine, then check that `nvidia-smi` works"
            return f"the driver refuses ({message}): {fix}"
    return (
        "TensorFlow lists no GPU and its log gives no reason: compare `nvidia-smi` with "
        f"`TF_CPP_MAX_VLOG_LEVEL=3 {shlex.quote(report.interpreter)} -c 'import tensorflow; "
        "tensorflow.config.list_physical_devices()'`"
    )


def _tpu_problems(evidence: Evidence) -> Iterator[str]:
    report, tpu = evidence.report, evidence.tpu
    if tpu.problem is not None:
        yield tpu.problem
    if tpu.chips and for_tpus(report) is False:
        name = next(iter(report.distributions), "tensorflow")
        yield (
            f"{_tpu_counted(tpu)} cannot be used because {name} in {report.interpreter} is built "
            f"without TPU support: {install(report, *tpu_build.REQUIREMENTS, instead_of=name)}"
            f"{_or_beside(evidence)}."
        )
    installed = report.distributions.get("tensorflow-tpu")
    wrong = tpu_build.misfit(installed, report.libtpu) if tpu.chips and installed else None
    if wrong is not None:
        yield (
            f"{_tpu_counted(tpu)} cannot be used by tensorflow-tpu {installed} in "
            f"{report.interpreter}: {wrong}: {install(report, *tpu_build.REQUIREMENTS)}"
            f"{_or_beside(evidence)}."
        )
    for holder in evidence.tpu_holders:
        yield (
            f"The TPU is in use by process {holder.pid} ({holder.command}). Only one process can "
            "use it, so a run on it fails until that process ends. Wait until it ends. If it is a "
            "notebook's kernel that set up the TPU for JAX or TensorFlow, restart that kernel."
        )


def install(
    report: Report, *packages: str, again: bool = False, instead_of: str | None = None
) -> str:
    """Return how to install packages in that interpreter, with a command that is ready to paste."""
    python, wanted = shlex.quote(report.interpreter), shlex.join(packages)
    if report.externally_managed:
        return (
            "the system's Python is externally managed, so make an environment, `"
            f"{python} -m venv ~/workbench-env && ~/workbench-env/bin/python -m pip install "
            f"{wanted}`, and choose ~/workbench-env/bin/python as the interpreter"
        )
    if report.pip:
        add, remove = f"{python} -m pip install", f"{python} -m pip uninstall -y"
    else:
        add, remove = f"uv pip install --python {python}", f"uv pip uninstall --python {python}"
    removal = f"{remove} {instead_of} && " if instead_of is not None else ""
    forced = " --force-reinstall" if again else ""
    return f"run `{removal}{add}{forced} {wanted}` and detect again"


def _fitting(evidence: Evidence) -> tuple[str, ...]:
    if evidence.tpu.chips:
        return tpu_build.REQUIREMENTS
    linux_on_intel = platform.system() == "Linux" and platform.machine() == "x86_64"
    return ("tensorflow[and-cuda]" if evidence.nvidia and linux_on_intel else "tensorflow",)


def _or_beside(evidence: Evidence) -> str:
    """Return the way that does not change a notebook's kernel; empty without TPU chips."""
    way = "; or make a separate environment with `workbench environment`"
    return way if evidence.tpu.chips else ""


def _left_unused(evidence: Evidence) -> str:
    idle = [_counted(evidence.nvidia)] if evidence.nvidia else []
    idle += [_tpu_counted(evidence.tpu)] if evidence.tpu.chips else []
    return f", so {' and '.join(idle)} cannot be used" if idle else ""


def _counted(gpus: tuple[NvidiaGpu, ...]) -> str:
    models = sorted({gpu.model for gpu in gpus if gpu.model})
    named = f" ({', '.join(models)})" if models else ""
    return f"{len(gpus)} NVIDIA GPU{'s' if len(gpus) > 1 else ''}{named}"


def _tpu_counted(tpu: Tpu) -> str:
    kind = f" {tpu.kind}" if tpu.kind else ""
    return f"{tpu.chips} TPU{kind} chip{'s' if tpu.chips > 1 else ''}"
