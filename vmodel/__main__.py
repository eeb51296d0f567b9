"""Lets `python -m vmodel` work."""

import sys

from vmodel.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
