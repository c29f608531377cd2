"""The canonical layout of documents: the order of keys is that of the meta-schema."""

from __future__ import annotations

__all__ = ("canonical", "document_text", "meta_schema_text")

import json
from collections.abc import Iterator
from typing import Any

from kinwire_codegen.load.parsing import json_text, parse

WIDTH = 160
"""Columns that an object or an array on one line may have."""

SPREAD = (
    *("properties/methods", "properties/tools", "properties/errors", "properties/$defs"),
    *("$defs/method", "$defs/tool", "$defs/definition", "$defs/type/properties/properties"),
)
"""What is never on one line, unless it is empty, as paths in the meta-schema."""

Rule = dict[str, Any]


_encode = json.JSONEncoder(ensure_ascii=False).encode
_ANY: Rule = {}  # one object: rules are known by their identity


class _Number(str):
    """A number as it is written."""

    __slots__ = ()


def canonical(text: str, meta: Rule, *, part: bool = False) -> str:
    """Return a document in the canonical layout; of an included file if `part` is true.

    Every value stays as it is, and so does the order of entries, fields, examples and rows. The
    document need not fit the meta-schema: unknown keys come last.

    Raises:
        ValueError: the text is not valid JSON.
    """
    parse(text)  # which is stricter
    content = json.loads(text, parse_int=_Number, parse_float=_Number)
    return _laid_out(content, meta, meta.get("$defs", {}).get("included", {}) if part else meta)


def document_text(content: Rule, meta: Rule) -> str:
    """Return the text of a document in the canonical layout."""
    return _laid_out(content, meta, meta)


def meta_schema_text(meta: Rule) -> str:
    """Return the text of the meta-schema that is written next to documents."""
    return json_text(meta, indent=2) + "\n"


def _laid_out(content: Any, meta: Rule, rule: Rule) -> str:
    layout = _Layout(meta)
    return "".join(layout.lines(layout.ordered(content, rule), rule, 0, 0)) + "\n"


class _Layout:
    """Writes values by the rules of one meta-schema."""

    def __init__(self, meta: Rule) -> None:
        self._meta = meta
        self._spread = {id(self._at(path)) for path in SPREAD} - {id(None)}
        self._known: dict[int, list[Rule]] = {}

    def _at(self, path: str) -> Any:
        found: Any = self._meta
        for step in path.split("/"):
            found = found.get(step) if isinstance(found, dict) else None
        return found

    def ordered(self, value: Any, rule: Rule) -> Any:
        """Return a value with all keys in their order."""
        rules = self._rules(rule)
        if isinstance(value, list):
            return [self.ordered(one, self._inner(rules, 0)) for one in value]
        if not isinstance(value, dict):
            return value
        keys = [key for one in rules for key in one.get("properties", ())]
        places = {key: at for at, key in reversed([*enumerate(keys)])}
        items = sorted(value.items(), key=lambda item: places.get(item[0], len(keys)))
        return {key: self.ordered(one, self._inner(rules, key)) for key, one in items}

    def lines(self, value: Any, rule: Rule, level: int, used: int) -> Iterator[str]:
        """Yield a value in order, from a line of which `used` columns are taken already."""
        items: list[tuple[Any, Any]] = []
        if isinstance(value, dict | list):
            items = [*(value.items() if isinstance(value, dict) else enumerate(value))]
        is_spread = items and (not level or self._is_spread(items, rule))
        flat = None if is_spread else _flat(value)
        if flat is not None and (not items or used + len(flat) <= WIDTH):
            yield flat
            return
        rules = self._rules(rule)
        indent = "  " * (level + 1)
        yield "{" if isinstance(value, dict) else "["
        for at, (key, inner) in enumerate(items):
            name = f"{_flat(key)}: " if isinstance(value, dict) else ""
            yield f"{',' if at else ''}\n{indent}{name}"
            columns = len(indent) + len(name) + 1  # of the comma
            yield from self.lines(inner, self._inner(rules, key), level + 1, columns)
        yield "\n" + "  " * level + ("}" if isinstance(value, dict) else "]")

    def _is_spread(self, items: list[tuple[Any, Any]], rule: Rule) -> bool:
        """Return whether what has these items is never on one line."""
        rules = self._rules(rule)
        if any(id(one) in self._spread for one in rules):
            return True
        for key, value in items:
            if isinstance(value, dict | list) and value:
                inner = [*(value.items() if isinstance(value, dict) else enumerate(value))]
                if self._is_spread(inner, self._inner(rules, key)):
                    return True
        return False

    def _rules(self, rule: Rule) -> list[Rule]:
        """Return a rule, and those that it refers to or chooses from."""
        if id(rule) not in self._known:
            self._known[id(rule)] = [*self._all(rule, set())]
        return self._known[id(rule)]

    def _inner(self, rules: list[Rule], key: str | int) -> Rule:
        """Return the rule of what stands in an object under a name, or in an array."""
        for rule in rules:
            inner = (
                rule.get("items") if isinstance(key, int) else rule.get("properties", {}).get(key)
            )
            if isinstance(inner, dict):
                return inner
        others = (rule.get("additionalProperties") for rule in rules if isinstance(key, str))
        return next((one for one in others if isinstance(one, dict)), _ANY)

    def _all(self, rule: Rule, seen: set[int]) -> Iterator[Rule]:
        if id(rule) in seen:
            return
        seen.add(id(rule))
        yield rule
        for key in ("then", "else"):
            if isinstance(rule.get(key), dict):
                yield from self._all(rule[key], seen)
        if "$ref" in rule:
            there = self._at(rule["$ref"].removeprefix("#/"))
            yield from self._all(there if isinstance(there, dict) else _ANY, seen)


def _flat(value: Any) -> str:
    """Return a value on one line."""
    if isinstance(value, _Number):
        return str(value)
    if isinstance(value, dict):
        inner = ", ".join(f"{_flat(key)}: {_flat(one)}" for key, one in value.items())
        return f"{{ {inner} }}" if value else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(_flat, value))}]"
    return _encode(value)
