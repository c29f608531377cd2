"""Labels of scopes, brought into one form before anything is matched, or denied (MCPL 7.3).

Two ways to write one place would let a label leave the blacklist. What cannot be brought into one
form by looking at it (steps up, escapes, look-alikes, what is not seen) is denied whatever the
lists say. Links in a file system cannot be seen here: who makes labels of paths resolves them.
"""

from __future__ import annotations

__all__ = ("LABEL_SIZE", "label_problem", "normal_label")

import re
from unicodedata import category, normalize

LABEL_SIZE = 512
"""The longest label, in characters."""

_UNSEEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
_ESCAPE = re.compile(r"%(?:[01][0-9a-f]|2[5ef]|5c|7f)", re.IGNORECASE)
_ELSEWHERE = re.compile(r"/(?:proc|dev)(?:/|$)")  # names there stand for files that lie elsewhere


def label_problem(label: str) -> str | None:
    """Return why no scope is called so, as a clause; None if one may be."""
    if not 0 < len(label) <= LABEL_SIZE:
        return f"it has {len(label)} characters, not 1 to {LABEL_SIZE}"
    if "\\" in label or _ESCAPE.search(label):
        return "it has a backslash or an escape"
    if any(_is_deceptive(sign) for sign in label if not sign.isascii() or not sign.isprintable()):
        return "it has characters that are not seen or look like others"
    if any(part != ".." and part.strip() in (".", "..") and part != "." for part in _parts(label)):
        return "it has spaces around dots"
    if ".." in _parts(label):
        return "it goes up with .."
    if label.startswith("//") or _ELSEWHERE.match(normal_label(label)):
        return "it is of a place whose names stand for others"
    return None


def normal_label(label: str) -> str:
    """Return the form in which labels are matched, without double slashes and parts that are `.`.

    Patterns are brought into it too.
    """
    first, *others = _parts(normalize("NFC", label))
    # An empty part at the end is a slash there, and stays one.
    kept = [part for part in others[:-1] if part not in ("", ".")]
    kept += [part for part in others[-1:] if part != "."]
    return "/".join([first, *kept])


def _parts(label: str) -> list[str]:
    return label.split("/")


def _is_deceptive(sign: str) -> bool:
    return category(sign) in _UNSEEN or any(one in normalize("NFKC", sign) for one in "./\\%")
