"""How input that does not fit is refused: -32602 with the places of all problems (MCPE 10)."""

from __future__ import annotations

__all__ = ("invalid_input",)

from collections.abc import Sequence

from kinwire.support.sanitize import enumerated
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.problems import Problem


def invalid_input(tool: str, found: Sequence[Problem]) -> InvalidParamsError:
    """Return the error for arguments of `tool` in which `found`, at least one, is wrong.

    Its data has `problems`, each with a JSON pointer into the arguments, as the errors of params
    that do not fit their type.
    """
    text = f"{tool}#{enumerated(found)}"
    return InvalidParamsError(text, data={"problems": [one.to_json() for one in found]})
