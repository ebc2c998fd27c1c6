"""The cause of a tool's failure, found in the tool's output, and the fix."""

from __future__ import annotations

import re

from workbench.environments.builds import Build
from workbench.environments.errors import MakingError
from workbench.environments.folders import OTHER_PLACE
from workbench.environments.tool import Ended

_MOST_CHARACTERS = 400
_INDEX = "The packages must be downloaded from a package index"
_ROOM = "This environment needs more free disk space"

# (pattern in the tool's output, rule, fix); the first pattern that matches is used.
_CAUSES: tuple[tuple[str, str, str], ...] = (
    (
        r"No space left on device|Disk quota exceeded|\[Errno 28\]|\[Errno 122\]",
        _ROOM,
        f"Make room there, or {OTHER_PLACE}.",
    ),
    (
        r"CERTIFICATE_VERIFY_FAILED|SSLError|invalid peer certificate",
        _INDEX,
        "Set PIP_CERT (SSL_CERT_FILE for uv) to your network's certificates; check that the "
        "machine's clock is right.",
    ),
    (
        r"NewConnectionError|Failed to establish a new connection|name resolution|ProxyError"
        r"|Connection refused|Network is unreachable|Max retries exceeded|ReadTimeoutError"
        r"|ConnectTimeout|Connection (?:broken|reset|aborted)|IncompleteRead|dns error"
        r"|error sending request|Could not connect",
        _INDEX,
        "Turn the network on (Kaggle: Internet in the notebook's settings, which needs a verified "
        "phone number); behind a proxy, set HTTPS_PROXY; for your own index, set "
        "PIP_INDEX_URL (UV_DEFAULT_INDEX for uv). Then try again.",
    ),
    (
        r"\b(?:401|403|407)\b.*(?:Error|Forbidden|Unauthorized|Required)",
        _INDEX,
        "Give the index's user name and password in PIP_INDEX_URL, or use another index.",
    ),
    (
        r"ResolutionImpossible|conflicting dependencies|No solution found",
        "The versions must fit each other, and your index must have all of them",
        "Remove constraints on versions (PIP_CONSTRAINT, a pip.conf), or use an index that has "
        "these versions.",
    ),
    (
        r"No matching distribution found|Could not find a version|not found in the .* registry",
        "The package index must have a wheel for this Python and machine",
        "Choose a Python of 3.11 to 3.13 in the field Interpreter or with --interpreter, or use "
        "an index that has the wheel (PIP_INDEX_URL). If pip finds no version at all, check that "
        "the network is on.",
    ),
    (
        r"DO NOT MATCH THE HASHES|BadZipFile|Invalid wheel",
        "The downloaded packages must be complete",
        "Try again; if it fails again, use another index (PIP_INDEX_URL).",
    ),
    (
        r"Permission denied|Read-only file system|Operation not permitted",
        "Environments need a folder that can be written",
        f"Give yourself write permission there, or {OTHER_PLACE}.",
    ),
    (
        r"ensurepip|No module named venv",
        "A Python needs venv and pip, uv or virtualenv to make an environment",
        "On Debian or Ubuntu install python3-venv; elsewhere install uv, or choose another "
        "interpreter.",
    ),
    (
        r"MemoryError|Cannot allocate memory",
        "The installation needs free memory",
        "End other programs that use memory, then try again.",
    ),
)
_KILLED = -9


def failed(build: Build, ended: Ended) -> MakingError:
    """Return the error for an installer that failed; its output may show cause and fix."""
    packages = " ".join(build.requirements)
    got = f"status {ended.status} while installing {packages}: {last_errors(ended)}"
    for pattern, rule, fix in _CAUSES:
        cause = next((line for line in ended.lines if re.search(pattern, line, re.I)), None)
        if cause is not None:
            first = "" if cause in got else f", after {cause[:_MOST_CHARACTERS]!r}"
            return MakingError(rule, f"{got}{first}", fix)
    if ended.status == _KILLED:
        fix = "End other programs that use memory, then try again."
        return MakingError("The installation needs free memory", f"a killed installer, {got}", fix)
    return MakingError(
        "The installation must end without an error",
        got,
        "Fix the reported error, then try again.",
    )


def last_errors(ended: Ended) -> str:
    """Return the last errors that a tool wrote; if it wrote none, its last lines."""
    errors = [line for line in ended.lines if re.match(r"(?:ERROR|error|fatal)\b", line)]
    text = " / ".join((errors or list(ended.lines))[-3:])
    return repr(text[-_MOST_CHARACTERS:]) if text else "no output"
