"""Scopes: their labels, the lists that allow or deny them, and approvals (MCPL 7).

A label is normalized before it is matched: with two spellings of one place a label could avoid the
blacklist. A label that cannot be normalized by looking at it (steps up, escapes, look-alikes,
invisible characters) is denied, whatever the lists say. Links in a file system are not visible
here: the program that makes labels of paths resolves them.
"""

from __future__ import annotations

__all__ = (
    "LABEL_SIZE",
    "MOST_APPROVALS",
    "MOST_PATTERNS",
    "ScopeLists",
    "ScopeRequest",
    "approval_key",
    "label_problem",
    "normal_label",
    "readable_lists",
    "rules_for",
)

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from unicodedata import category, normalize

from kinwire.mcpl.rules.names import ServerPattern
from kinwire.support.json_values import digest, short_digest
from kinwire.support.patterns.glob import PATTERN_SIZE, Pattern
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcpl.models import Scope, ScopeOutcome, ScopeRules

LABEL_SIZE = 512
"""The longest label, in characters."""
MOST_PATTERNS = 1000
"""Patterns in the two lists of one feature set."""
MOST_APPROVALS = 10_000
"""Approvals of one host; the oldest is removed when there are more."""

_UNSEEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
_ESCAPE = re.compile(r"%(?:[01][0-9a-f]|2[5e]|5c|7f)", re.IGNORECASE)
_SLASHES = re.compile(r"/|\\|%2f", re.IGNORECASE)
_REMOTE = re.compile(r"(?:/|\\|%2f){2}", re.IGNORECASE)
_DRIVE = re.compile(r"[a-z]:\\", re.IGNORECASE)  # Windows ignores dots and spaces after a name
_JOINERS = re.compile("[\u200c\u200d]")  # of letters in some scripts, and of emoji
_SEEN_WITH_OTHERS = frozenset("\u200c\u200d\u2026")  # U+2026 is three dots
_ELSEWHERE = re.compile(r"/(?:proc|dev)(?:/|$)")  # names there stand for files that lie elsewhere


@dataclass(frozen=True, slots=True)
class ScopeRequest:
    """A request for permission to act in a scope."""

    server: str
    """What the host calls the server; it may have chosen the name itself."""
    feature_set: str
    label: str
    payload: JsonObject | None = None
    tool: str | None = None
    """The tool that the host is about to call; None if the server asks."""
    server_key: str = field(kw_only=True)
    """`ServerPeer.key`: what an answer is remembered by."""


def label_problem(label: str) -> str | None:
    """Return why `label` is not a valid label, as a clause; None if it is one."""
    if not 0 < len(label) <= LABEL_SIZE:
        return f"it has {len(label)} characters, not 1 to {LABEL_SIZE}"
    if _ESCAPE.search(label):
        return "it has an escape"
    if any(_is_deceptive(sign) for sign in label if not sign.isascii() or not sign.isprintable()):
        return "it has characters that are not seen or look like others"
    if any(part != ".." and part.strip() in (".", "..") and part != "." for part in _parts(label)):
        return "it has spaces around dots"
    if ".." in _parts(label):
        return "it goes up with .."
    if _DRIVE.match(label) and any(part.rstrip(". ") != part for part in _parts(label)):
        return "a part of it ends with a dot or a space"
    if _REMOTE.match(label) or _ELSEWHERE.match(plain_label(label)):
        return "it is of a place whose names stand for others"
    return None


def normal_label(label: str) -> str:
    """Return `label` without double slashes and parts that are `.`, as labels are matched.

    Patterns are normalized too.
    """
    first, *others = normalize("NFC", label).split("/")
    # An empty part at the end is a slash there, and stays one.
    kept = [part for part in others[:-1] if part not in ("", ".")]
    kept += [part for part in others[-1:] if part != "."]
    if first == "." and kept[:1] not in ([], [""]):
        return "/".join(kept)  # "./a" is "a"
    return "/".join([first, *kept])


def plain_label(label: str) -> str:
    """Return `label` as a blacklist sees it too: with plain slashes and without joiners.

    Backslashes and `%2F` are slashes for some programs, and joiners are not seen.
    """
    return normal_label(_JOINERS.sub("", _SLASHES.sub("/", label)))


def _parts(label: str) -> list[str]:
    return _SLASHES.split(label)


def _is_deceptive(sign: str) -> bool:
    if sign in _SEEN_WITH_OTHERS:
        return False
    return category(sign) in _UNSEEN or any(one in normalize("NFKC", sign) for one in "./\\%")


class ScopeLists:
    """The two lists of one feature set, compiled."""

    def __init__(self, rules: ScopeRules, *, limit: float = MOST_PATTERNS) -> None:
        """Compile the lists.

        Raises:
            ValueError: a pattern is empty or too long, or there are more than `limit`.
        """
        self.rules = rules
        self._white = _compiled(rules.whitelist or ())
        self._black = _compiled(rules.blacklist or ())
        if len(self._white) + len(self._black) > limit:
            raise ValueError(
                f"scopes: expected at most {limit} patterns of one feature set, "
                f"got {len(self._white) + len(self._black)}. Use wildcards."
            )

    def judge(self, label: str) -> tuple[ScopeOutcome, str]:
        """Return the outcome for a scope with this label, and the reason, as a clause.

        The blacklist comes first. It also denies everything below a label that it denies, so that
        a slash at the end does not avoid it.
        """
        problem = label_problem(label)
        if problem is not None:
            return "deny", f"the label cannot be judged: {problem}"
        denial = self.denial(label)
        if denial is not None:
            return "deny", denial
        slashed = label.replace("\\", "/") if _DRIVE.match(label) else label
        normal = normal_label(slashed)
        allowing = next((one for one in self._white if one.matches(normal)), None)
        if allowing is not None:
            return "approve", f"the whitelist has {allowing.text}"
        return "ask", "neither list has it"

    def denial(self, label: str) -> str | None:
        """Return which pattern of the blacklist denies `label`, as a clause, or None."""
        if not self._black:
            return None
        forms = dict.fromkeys((normal_label(label), plain_label(label)))
        denying = next((one for one in self._black for form in forms if one.covers(form)), None)
        return None if denying is None else f"the blacklist has {denying.text}"


def readable_lists(rules: ScopeRules) -> ScopeLists:
    """Compile the lists that a peer has sent, without the patterns that cannot be read."""
    black = _readable(rules.blacklist or ())[:MOST_PATTERNS]
    white = _readable(rules.whitelist or ())[: MOST_PATTERNS - len(black)]
    return ScopeLists(ScopeRules(whitelist=white, blacklist=black))


def _readable(patterns: Iterable[str]) -> list[str]:
    return [one for one in patterns if 0 < len(normal_label(one)) <= PATTERN_SIZE]


def rules_for(
    lists: Iterable[tuple[ServerPattern, ScopeRules]], server_id: str | None, feature_set: str
) -> ScopeRules | None:
    """Return the lists of a host's policy for a feature set of a server, or None without any.

    The blacklists of all entries that match apply. The whitelist is that of the most specific one.
    """
    found = [one for one in lists if one[0].matches(server_id, feature_set)]
    if not found:
        return None
    _, best = max(found, key=lambda one: one[0].rank)
    denied = dict.fromkeys(text for _, rules in found for text in rules.blacklist or ())
    return best if len(found) == 1 else ScopeRules(whitelist=best.whitelist, blacklist=list(denied))


def _compiled(patterns: Iterable[str]) -> list[Pattern]:
    return [Pattern(normal_label(pattern)) for pattern in patterns]


def approval_key(
    server_key: str, feature_set: str | None = None, scope: Scope | None = None
) -> str:
    """Return the key of an approval, or the prefix of all those of a server or one of its sets.

    An approval holds for a server, a feature set, a label and a payload together: another payload
    under an approved label is another action.
    """
    key = f"{server_key}/"
    if feature_set is not None:
        key += f"{short_digest(feature_set)}/"
    if scope is not None:
        key += digest(normal_label(scope.label), scope.payload)
    return key
