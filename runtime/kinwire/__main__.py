"""`python -m kinwire` is the `kinwire` command."""

from __future__ import annotations

__all__ = ()

from kinwire_cli import program

if __name__ == "__main__":
    raise SystemExit(program())
