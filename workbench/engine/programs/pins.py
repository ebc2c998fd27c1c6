"""Reports the versions that a run's script needs: `pins RUN_DIR [MODULE...]`.

Runs in the run's interpreter and imports none of the packages. Prints one line of JSON with:

- the version of Python;
- the exact version of each package that provides a module imported by the script, by the user's own
  files that the run keeps, or named here, and of all packages that these packages need;
- the modules that no package provides.
"""

import ast
import importlib.metadata
import pathlib
import platform
import re
import sys

from .asker import reply


def imported(script: str) -> set[str]:
    """Return the top-level modules that a script imports, except the standard library's."""
    found = set()
    for node in ast.walk(ast.parse(script)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found - set(sys.stdlib_module_names)


def needed(names: set[str]) -> dict[str, str]:
    """Return the versions of packages and of all their installed requirements."""
    versions: dict[str, str] = {}
    waiting = sorted(names)
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in versions:
            continue
        try:
            package = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue  # for another platform or Python
        versions[name] = package.version
        for need in package.requires or []:
            if "extra ==" not in need.partition(";")[2]:
                waiting += re.findall(r"^[\w.-]+", need)
    return dict(sorted(versions.items()))


def main(run_dir: pathlib.Path, modules: list[str]) -> None:
    """Find the versions and print them."""
    own = sorted((run_dir / "own_code").glob("*.py"))
    texts = [path.read_text(encoding="utf-8") for path in (run_dir / "train.py", *own)]
    named = set(modules).union(*map(imported, texts)) - {path.stem for path in own}
    providers = importlib.metadata.packages_distributions()
    result = {
        "python": platform.python_version(),
        "packages": needed({name for module in named for name in providers.get(module, [])}),
        "modules": sorted(module for module in named if module not in providers),
    }
    reply(result)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), sys.argv[2:])
