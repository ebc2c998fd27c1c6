"""The settings of the documentation; `make docs` builds it into docs/_build/html."""

import sys
from pathlib import Path

from workbench.version import __version__

sys.path.insert(0, str(Path(__file__).parent))

project = "Distributed training workbench"
copyright = "its authors, under Apache-2.0"  # noqa: A001 (Sphinx's name)
release = version = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "from_code",
]
exclude_patterns = ["_build"]
smartquotes_action = "qe"  # the two hyphens of a flag stay
default_role = "code"  # docstrings mark code as Markdown does, by single backticks
nitpicky = True
nitpick_ignore_regex = [("py:.*", ".*")]  # types of other packages: no network is needed to build
myst_heading_anchors = 3
myst_links_external_new_tab = True

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
python_maximum_signature_line_length = 88

html_theme = "pydata_sphinx_theme"
html_title = project
html_show_sourcelink = False
html_theme_options = {"show_prev_next": False, "header_links_before_dropdown": 5}
html_sidebars: dict[str, list[str]] = {"*": []}  # no section beside a page without one
