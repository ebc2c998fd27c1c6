"""The cause of a tool's failure, found in the tool's output, and the fix."""

from __future__ import annotations

import re

from workbench.environments.builds import Build
from workbench.environments.errors import MakingError
from workbench.environments.place import OTHER_PLACE
from workbench.environments.tool import Ended

_WORDS_CHARACTERS = 400
_INDEX = "The packages come from a package index over the network"
_ROOM = "Making this environment takes free disk"

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
        "Set PIP_CERT (SSL_CERT_FILE for uv) to your network's certificates; see that the "
        "machine's clock is right.",
    ),
    (
        r"NewConnectionError|Failed to establish a new connection|name resolution|ProxyError"
        r"|Connection refused|Network is unreachable|Max retries exceeded|ReadTimeoutError"
        r"|ConnectTimeout|Connection (?:broken|reset|aborted)|IncompleteRead|dns error"
        r"|error sending request|Could not connect",
        _INDEX,
        "Turn the network on (Kaggle: Internet in the notebook's settings, which wants a verified "
        "phone number); behind a proxy set HTTPS_PROXY; for an index of your own set "
        "PIP_INDEX_URL (UV_DEFAULT_INDEX for uv). Then try again.",
    ),
    (
        r"\b(?:401|403|407)\b.*(?:Error|Forbidden|Unauthorized|Required)",
        _INDEX,
        "Give the index's user name and password in PIP_INDEX_URL, or use another index.",
    ),
    (
        r"ResolutionImpossible|conflicting dependencies|No solution found",
        "The versions fit each other and your index has them all",
        "Unset what constrains them (PIP_CONSTRAINT, a pip.conf), or use an index that has them.",
    ),
    (
        r"No matching distribution found|Could not find a version|not found in the .* registry",
        "The package index has a wheel for this Python and machine",
        "Choose an interpreter of Python 3.11 to 3.13 in the field Interpreter or by "
        "--interpreter, or use an index that has it (PIP_INDEX_URL). Where it knows of no version "
        "at all, see that the network is on.",
    ),
    (
        r"DO NOT MATCH THE HASHES|BadZipFile|Invalid wheel",
        "A package arrives whole",
        "Try again; where it fails again, use another index (PIP_INDEX_URL).",
    ),
    (
        r"Permission denied|Read-only file system|Operation not permitted",
        "Environments lie in a folder that can be written",
        f"Give yourself the right to write there, or {OTHER_PLACE}.",
    ),
    (
        r"ensurepip|No module named venv",
        "A Python makes an environment by venv and pip, by uv or by virtualenv",
        "On Debian or Ubuntu install python3-venv; elsewhere install uv, or choose another "
        "interpreter.",
    ),
    (
        r"MemoryError|Cannot allocate memory",
        "Installing takes some memory",
        "End what else uses memory, then try again.",
    ),
)
_KILLED = -9


def failed(build: Build, ended: Ended) -> MakingError:
    """Return the error for a tool that ended with a status other than 0."""
    got = f"status {ended.status} on installing {' '.join(build.requirements)}: {last_words(ended)}"
    for pattern, rule, fix in _CAUSES:
        telling = next((line for line in ended.lines if re.search(pattern, line, re.I)), None)
        if telling is not None:
            first = "" if telling in got else f", after {telling[:_WORDS_CHARACTERS]!r}"
            return MakingError(rule, f"{got}{first}", fix)
    if ended.status == _KILLED:
        fix = "End what else uses memory, then try again."
        return MakingError("Installing takes some memory", f"a killed tool; {got}", fix)
    return MakingError(
        "An environment is made by a tool that ends well",
        got,
        "Fix what it says, then try again.",
    )


def last_words(ended: Ended) -> str:
    """Return the last errors that a tool wrote; if it wrote none, its last lines."""
    told = [line for line in ended.lines if re.match(r"(?:ERROR|error|fatal)\b", line)]
    words = " / ".join((told or list(ended.lines))[-3:])
    return repr(words[-_WORDS_CHARACTERS:]) if words else "it wrote nothing"
