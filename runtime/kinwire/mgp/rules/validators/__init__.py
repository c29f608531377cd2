"""The standard validators of MGP 0.2.0 section 4.5, except `code_safety`.

`standard.py` is the entrance. The rules read arguments as a shell, an SQL server or a URL parser
would, and refuse what could be read in two ways. They are filters, not jails.
"""

from __future__ import annotations

__all__ = ()
