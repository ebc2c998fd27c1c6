"""`python -m workbench`: the command line in this interpreter."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
