"""`python -m ratecheck.study`."""

import sys

from ..cli.study import main

if __name__ == "__main__":
    sys.exit(main())
