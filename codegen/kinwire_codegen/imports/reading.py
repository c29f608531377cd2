"""Files of third parties, which may be malformed in any place."""

from __future__ import annotations

__all__ = ("MALFORMED", "read_json")

from pathlib import Path
from typing import Any

from kinwire_codegen.imports.imported import UselessFileError
from kinwire_codegen.load.parsing import TooDeepError, parse

MALFORMED = (AttributeError, LookupError, TypeError, ValueError, RecursionError)
"""What walking a file raises where it is not what a kind expects."""


def read_json(path: Path) -> Any:
    """Return what a JSON file says.

    Raises:
        UselessFileError: it cannot be read, or is not JSON.
    """
    try:
        return parse(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UselessFileError(f"{path}: {error.strerror}.", "Correct the path.") from None
    except TooDeepError as error:
        raise UselessFileError(f"{path}: {error}.", error.hint) from None
    except ValueError as error:
        raise UselessFileError(f"{path}: it is not valid JSON: {error}.", "Fix the file.") from None
