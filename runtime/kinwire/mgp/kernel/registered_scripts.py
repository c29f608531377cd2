"""Scripts of servers that are registered at run time: read once, and checked."""

from __future__ import annotations

__all__ = ("ScriptFolder", "sandbox_rules")

import os
import stat
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Final

from kinwire.mgp.rules.code_safety.check import check_code
from kinwire.mgp.rules.code_safety.levels import CodeRules, kernel_rules
from kinwire.mgp.rules.code_safety.parsing import MOST_BYTES
from kinwire.mgp.rules.registration import RegistrationRefusedError
from kinwire.mgp.rules.trust import DEFAULTS

_FLAGS: Final = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)  # a pipe would wait for a writer
    | getattr(os, "O_NOFOLLOW", 0)
)


class ScriptFolder:
    """The folder in which scripts may be, and the rules for their code."""

    def __init__(self, folder: str | os.PathLike[str] | None, rules: CodeRules) -> None:
        self.folder: Final = Path(folder or os.curdir).resolve()
        self.rules: Final = rules

    def read(self, name: str) -> str:
        """Return the code of a script.

        Raises:
            RegistrationRefusedError: there is no such script in the folder. The text does not say
                whether there is such a file elsewhere.
        """
        place = Path(os.path.realpath(self.folder / name))  # links in a circle raise nothing
        found = self._bytes_of(place) if place.is_relative_to(self.folder) else None
        if found is None:
            raise RegistrationRefusedError("/args: expected a script in the folder of the kernel")
        try:
            return found.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise RegistrationRefusedError("/args: expected a script in UTF-8") from None

    def violations(self, code: str) -> list[str]:
        """Return why code may not run; an empty list if it may."""
        return check_code(code, self.rules)

    def _bytes_of(self, place: Path) -> bytes | None:
        try:
            descriptor = os.open(place, _FLAGS)
        except (OSError, ValueError):
            return None
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            with open(descriptor, "rb", closefd=False) as file:
                return file.read(MOST_BYTES + 1)  # one that is too long is a violation
        finally:
            os.close(descriptor)


def sandbox_rules(imports: Collection[str]) -> CodeRules:
    """Return the rules for code of sandboxed servers, with more packages that may be imported."""
    rules = kernel_rules(DEFAULTS["sandboxed"].code_safety)
    return replace(rules, allowed_imports=(*(rules.allowed_imports or ()), *imports))
