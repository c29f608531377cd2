"""Which commands a server that registers itself may have: Python, and one script that can be read.

Everything else runs code that nobody has seen: shells, `-c`, `-m`, and programs that install others
such as npx and uvx.
"""

from __future__ import annotations

__all__ = ("script_index",)

import re
from collections.abc import Sequence
from typing import Final

from kinwire.mgp.rules.registration import RegistrationRefusedError

INTERPRETERS: Final = ("python", "python3")
"""The commands. They stand for the kernel's own interpreter, not for a program on the PATH."""

_OPTION = re.compile(r"-[bBEIOPqsSu]+")
"""Options without a value that run nothing: -c, -m, -i, -x, -W and -X are not among them."""
_MOST_ARGS = 100
_LONGEST = 4096  # characters of one argument


def script_index(command: str, args: Sequence[str]) -> int:
    """Return where in `args` the script is that a command runs.

    Raises:
        RegistrationRefusedError: it is not Python with a script.
    """
    if command not in INTERPRETERS:
        raise RegistrationRefusedError(
            f"/command: expected python or python3 with a script, got {command!r:.60}: what it "
            "runs cannot be checked"
        )
    _check_size(args)
    for index, word in enumerate(args):
        if _OPTION.fullmatch(word) is None:
            if word.startswith("-"):
                raise RegistrationRefusedError(
                    f"/args/{index}: expected a script, got the option {word!r:.20}: what it runs "
                    "cannot be checked"
                )
            if not word.endswith(".py"):
                raise RegistrationRefusedError(
                    f"/args/{index}: expected the path of a script that ends with .py"
                )
            return index
    raise RegistrationRefusedError("/args: expected the path of a script, got none")


def _check_size(args: Sequence[str]) -> None:
    wrong = [one for one in args if len(one) > _LONGEST or not one.isprintable()]
    if wrong or len(args) > _MOST_ARGS:
        raise RegistrationRefusedError(
            f"/args: expected at most {_MOST_ARGS} printable arguments of at most {_LONGEST} "
            "characters"
        )
