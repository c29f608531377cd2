"""Which arguments of a call are code: by their names, their schemas, and what they look like."""

from __future__ import annotations

__all__ = ("CodeArguments", "DeepArgumentsError", "code_arguments", "languages_of")

import ast
import re
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple, TypeGuard, cast

from kinwire.mgp.rules.code_safety.parsing import MOST_BYTES, UnreadableCodeError, tree_of
from kinwire.rpc.codec import is_object
from kinwire.support.json_values import pointer_below
from kinwire_protocols.base import JsonObject

_CODE = frozenset(
    {
        *("code", "codes", "program", "python", "py", "script", "scripts", "snippet", "snippets"),
        *("sourcecode", "cell", "cells", "pycode"),
    }
)
_ABOUT_CODE = frozenset(
    {"id", "language", "lang", "length", "limit", "mode", "name", "path", "type"}
)
"""Words of names that say something about code, and hold none: `code_language`."""
_LANGUAGE = frozenset({"lang", "language", "languages", "runtime", "interpreter"})
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_MEDIA = re.compile(r"(text|application)/(x-)?(python|javascript|script|code|sh)\b", re.IGNORECASE)
_FORMATS = frozenset({"code", "python", "script", "source", "source-code"})
_SAID = re.compile(
    r"\b(python|source|program) (code|script|program|source|snippet)\b"
    r"|\b(code|script|program|snippet) (to|that|which) (be )?(run|execute|evaluate|is|will)",
    re.IGNORECASE,
)
_LONG = 200  # characters of a text that is code if nothing else is
_DEEPEST = 50  # arguments inside arguments


class DeepArgumentsError(ValueError):
    """Arguments are nested too deeply to be looked at."""


class CodeArguments(NamedTuple):
    """The arguments of a call that are strings, by place."""

    code: list[tuple[str, str]]
    """Those that are code: place and text."""
    maybe: list[tuple[str, str]]
    """Others that parse as Python and call or import something."""


def code_arguments(
    arguments: JsonObject, schema: JsonObject, names: Collection[str] = ()
) -> CodeArguments:
    """Return which arguments are code; without any by name or schema, the long texts.

    `names` are those of the configuration: with them names and schemas are not looked at.

    Raises:
        DeepArgumentsError: the arguments are nested too deeply.
    """
    texts = list(_texts(arguments, schema, "", names, False, 0))
    code = [(place, text) for place, text, is_code in texts if is_code]
    others = [(place, text) for place, text, is_code in texts if not is_code]
    if not code and not names:
        code = [one for one in others if len(one[1]) >= _LONG or "\n" in one[1].strip()]
        others = [one for one in others if one not in code]
    return CodeArguments(code, list(_acting(others)))


def languages_of(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield the programming languages that arguments name, also those inside of others."""
    if depth > _DEEPEST:
        return
    if is_object(value):
        for name, inner in value.items():
            if _words(name) & _LANGUAGE:
                yield from _named(inner)
            yield from languages_of(inner, depth + 1)
    elif isinstance(value, list):
        for inner in cast("list[object]", value):
            yield from languages_of(inner, depth + 1)


def _named(value: object) -> Iterator[str]:
    values = cast("list[object]", value) if isinstance(value, list) else [value]
    yield from (one for one in values if isinstance(one, str) and one.strip())


def _texts(
    value: Any, schema: Any, place: str, names: Collection[str], is_code: bool, depth: int
) -> Iterator[tuple[str, str, bool]]:
    """Yield the strings in a value, and its keys; lines of code in a list are joined."""
    if isinstance(value, str):
        yield place, value, is_code
    elif depth > _DEEPEST:
        raise DeepArgumentsError
    elif is_object(value):
        known = _part(schema, "properties")
        for name, inner in value.items():
            yield place, name, False
            inner_schema = _part(known, name)
            inner_code = is_code or (name in names if names else _is_code(name, inner_schema))
            yield from _texts(
                inner, inner_schema, pointer_below(place, name), names, inner_code, depth + 1
            )
    elif is_code and _are_texts(value):
        yield place, _joined(value), True
    elif isinstance(value, list):
        items = _part(schema, "items")
        for at, inner in enumerate(value):  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
            yield from _texts(inner, items, f"{place}/{at}", names, is_code, depth + 1)


def _part(schema: Any, name: str) -> JsonObject:
    found: object = schema.get(name) if is_object(schema) else None
    return found if is_object(found) else {}


def _is_code(name: str, schema: JsonObject) -> bool:
    words = _words(name)
    if words & _CODE and not words & _ABOUT_CODE:
        return True
    media, form = schema.get("contentMediaType"), schema.get("format")
    said = schema.get("description")
    return (
        (isinstance(media, str) and _MEDIA.match(media) is not None)
        or (isinstance(form, str) and form.lower() in _FORMATS)
        or (isinstance(said, str) and _SAID.search(said[:1000]) is not None)
    )


def _words(name: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(name))


def _are_texts(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)  # pyright: ignore[reportUnknownVariableType]


def _joined(lines: list[str]) -> str:
    end = "" if all(line.endswith("\n") for line in lines[:-1]) else "\n"
    return end.join(lines)


def _acting(texts: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    looked_at = 0
    for place, text in texts:
        if "(" in text or "import" in text:
            looked_at += len(text)
            if looked_at <= MOST_BYTES and _acts(text):
                yield place, text


def _acts(text: str) -> bool:
    """Return whether a text parses as Python and calls or imports something."""
    try:
        tree = tree_of(text)
    except UnreadableCodeError:
        return False
    kinds = (ast.Call, ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
    return any(isinstance(node, kinds) for node in ast.walk(tree))
