"""`python -m function_zoo`."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
