"""`python -m kinwire` is the `kinwire` command."""

from __future__ import annotations

__all__ = ()

import sys

if __name__ == "__main__":
    try:
        from kinwire_cli import main

        code = main()
    except KeyboardInterrupt:  # so early, or so late, that `main` could not take it
        code = 130
    sys.exit(code)
