"""`python -m kinwire` is the `kinwire` command."""

from __future__ import annotations

__all__ = ()

import sys

from kinwire.cli import main

if __name__ == "__main__":
    sys.exit(main())
