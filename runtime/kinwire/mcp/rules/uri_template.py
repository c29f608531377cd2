"""URI templates in reverse: find the values of the variables in a URI (RFC 6570).

Supported are levels 1 to 3: `{x}`, `{+x}`, `{#x}`, `{.x}`, `{/x}`, `{;x}`, `{?x}`, `{&x}`, each
with several names; and the list of level 4, `{x*}`. The prefix `{x:3}` is not supported, because it
cannot be reversed. `uri_matching.py` does the matching.
"""

from __future__ import annotations

__all__ = ("MAX_URI", "UriTemplate")

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn
from urllib.parse import quote

from kinwire.mcp.rules.uri_matching import Literal, Pairs, Step, Value, Variables, match

MAX_URI = 4096  # characters; a longer one matches nothing

_UNENCODED = "!#$&'()*+,/:;=?@[]~%"  # characters of a literal that are not encoded
_LITERAL = re.compile(r"(?:%[0-9A-Fa-f]{2}|[^\x00-\x20\x7f\"<>\\^`{|}%])+")
_NAME = re.compile(
    r"(?:\w|%[0-9A-Fa-f]{2})(?:\.?(?:\w|%[0-9A-Fa-f]{2}))*(?P<modifier>.*)", re.ASCII | re.DOTALL
)


@dataclass(frozen=True, slots=True)
class _Operator:
    first: str
    separator: str
    excluded: str  # characters that a value has in encoded form only
    named: bool = False


_OPERATORS = {
    "": _Operator("", ",", "/?#"),
    "+": _Operator("", ",", ""),
    "#": _Operator("#", ",", ""),
    ".": _Operator(".", ".", "/?#"),
    "/": _Operator("/", "/", "/?#"),
    ";": _Operator(";", ";", "/?#;", named=True),
    "?": _Operator("?", "&", "#&", named=True),
    "&": _Operator("&", "&", "#&", named=True),
}


class UriTemplate:
    """A pattern of URIs.

    Values are decoded. Characters that should be encoded are accepted without encoding where this
    is not ambiguous: people and models write addresses by hand. A value of `{x}` ends at a slash,
    question mark or hash that is not encoded. A value of `{+x}` may include them, but it ends at a
    query or a fragment that follows it in the template.
    """

    def __init__(self, text: str) -> None:
        """Read a template.

        Raises:
            ValueError: invalid or unsupported template; the message says how to fix it.
        """
        self.text = text
        self._steps: list[Step] = []
        for part, is_expression in _parts(text):
            if is_expression:
                self._steps.extend(_Expression(text, part).steps(len(self._steps)))
            else:
                self._steps.append(_literal(text, part))
        _end_at_what_follows(self._steps)
        self._prefix = _prefix(self._steps)
        self.names: dict[str, bool] = {}
        """The variables in order; the value is true for lists."""
        for step in self._steps:
            if isinstance(step, Value):
                self.names[step.name] = step.split is not None
            elif isinstance(step, Pairs):
                self.names.update(step.names)

    def match(self, uri: str) -> Variables | None:
        """Return the variables in `uri`, None if it does not match.

        A variable with an empty expansion is absent. If several matches are possible, each variable
        takes as much as it can before the next one.
        """
        if len(uri) > MAX_URI or not uri.startswith(self._prefix):
            return None
        return match(self._steps, uri)


def _end_at_what_follows(steps: list[Step]) -> None:
    """End the value of `{+x}` at a query or fragment that follows it in the template."""
    following = ""
    for number in reversed(range(len(steps))):
        step = steps[number]
        if isinstance(step, Pairs):
            following += step.first if step.first == "?" else ""
        elif isinstance(step, Literal):
            following += "".join(sign for sign in "?#" if sign in step.forms[0])
        else:
            steps[number] = step._replace(excluded=step.excluded + following)


def _prefix(steps: list[Step]) -> tuple[str, ...]:
    first = steps[0] if steps else None
    return first.forms if isinstance(first, Literal) and first.otherwise is None else ("",)


def _parts(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the literals and the contents of the expressions, in order."""
    at = 0
    while at < len(text):
        end = text.find("}", at) if text[at] == "{" else text.find("{", at)
        if text[at] == "{":
            if end < 0:
                _refuse(text, "a closing brace", text[at:], "Close the expression")
            yield text[at + 1 : end], True
            at = end + 1
        else:
            end = len(text) if end < 0 else end
            yield text[at:end], False
            at = end


def _literal(template: str, text: str) -> Literal:
    if not _LITERAL.fullmatch(text):
        _refuse(template, "characters of a URI between the expressions", text, "Encode the rest")
    return Literal((text, quote(text, safe=_UNENCODED)))


class _Expression:
    """The text between two braces."""

    def __init__(self, template: str, text: str) -> None:
        self._template = template
        self._text = text
        sign = text[:1] if text[:1] in _OPERATORS else ""
        self._operator = _OPERATORS[sign]
        self._sign = sign
        self._names = [self._name(part) for part in text[len(sign) :].split(",")]

    def steps(self, start: int) -> Iterator[Step]:
        """Yield the steps of the expression; the first is step `start` of the template."""
        operator, names = self._operator, self._names
        if operator.named:
            yield Pairs(operator.first, operator.separator, operator.excluded, dict(names))
            return
        if any(is_list for _, is_list in names[:-1]):
            self._refuse("a list at the end of an expression", "Put the list last")
        after = start + 2 * len(names) - (not operator.first)
        for number, (name, is_list) in enumerate(names):
            sign = operator.separator if number else operator.first
            if sign:
                yield Literal((sign,), otherwise=after)
            excluded = operator.excluded
            split = operator.separator if is_list else None
            if is_list:
                excluded = excluded.replace(operator.separator, "")
            elif len(names) > 1:
                excluded += operator.separator
            yield Value(name, excluded, split, introduced=bool(sign))

    def _name(self, part: str) -> tuple[str, bool]:
        found = _NAME.fullmatch(part)
        if found is None:
            sign = self._text[:1]
            if sign in ("=", ",", "!", "@", "|"):
                self._refuse("one of the operators + # . / ; ? &", "Use one of these")
            self._refuse("names of letters, digits and _", "Rename the variable")
        modifier = found["modifier"]
        if modifier.startswith(":"):
            self._refuse("variables as a whole", "Leave the length out: a cut value is lost")
        if modifier not in ("", "*"):
            self._refuse("names of letters, digits and _", "Rename the variable")
        return part.removesuffix("*"), modifier == "*"

    def _refuse(self, expected: str, hint: str) -> NoReturn:
        _refuse(self._template, expected, "{" + self._text + "}", hint)


def _refuse(template: str, expected: str, got: str, hint: str) -> NoReturn:
    raise ValueError(
        f"URI template {template!r:.200}: expected {expected}, got {got:.100}. {hint}."
    )
