"""Python names for what documents name, and their texts in docstrings."""

from __future__ import annotations

__all__ = (
    "anchor",
    "class_name",
    "constant_name",
    "docstring",
    "field_names",
    "nearest",
    "quoted",
    "slug",
    "snake_name",
    "visible",
)

import keyword
import re
from collections.abc import Iterable
from difflib import get_close_matches
from functools import lru_cache
from unicodedata import normalize

_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z]+|[0-9]+")

_OF_ANNOTATIONS = frozenset({"bool", "dict", "float", "int", "list", "str"})
"""Names in annotations, which a field of the same name would hide from the fields below it."""

_HUMPS = (re.compile(r"([^_])([A-Z][a-z]+)"), re.compile(r"([a-z0-9])([A-Z])"))


def snake_name(wire: str) -> str:
    """Return the attribute for a method: `logging/setLevel` is `logging_set_level`."""
    name = "_".join(word.lower() for word in _WORDS.findall(wire))
    if not name or name[0].isdigit():
        name = f"_{name}"
    return f"{name}_" if keyword.iskeyword(name) else name


def constant_name(wire: str) -> str:
    """Return the constant for a method's row: `tools/call` is `TOOLS_CALL`."""
    return snake_name(wire).upper()


def class_name(error: str) -> str:
    """Return an error's class: `InvalidParams` is `InvalidParamsError`, `ParseError` stays."""
    return error if error.endswith("Error") else f"{error}Error"


def field_names(wires: Iterable[str]) -> dict[str, str]:
    """Return the attributes of a class by wire name."""
    found: dict[str, str] = {}
    for wire in wires:
        first = name = _field_name(wire)
        number = 0
        while name in found.values():
            number += 1
            name = f"{first}_{number}"
        found[wire] = name
    return found


@lru_cache(maxsize=4096)
def _field_name(wire: str) -> str:
    wire = normalize("NFKC", wire)  # Python reads identifiers so
    name = re.sub(r"\W", "_", wire.removeprefix("#") or "_")
    name = name.lstrip("_") or f"field{name}"
    name = f"field_{name}" if name[0].isnumeric() else name
    for boundary in _HUMPS:
        name = boundary.sub(r"\1_\2", name)
    name = normalize("NFKC", name.lower())
    taken = keyword.iskeyword(name) or name in _OF_ANNOTATIONS or _is_of_every_model(name)
    return f"{name}_" if taken else name


def _is_of_every_model(name: str) -> bool:
    from pydantic import BaseModel  # few subcommands need it

    return hasattr(BaseModel, name)


def docstring(text: str) -> str:
    """Return `text` as it may stand in a docstring, also at its end."""
    plain = text.strip().replace("\\", "\\\\")
    quoted = re.sub(r'"{3,}|"$', lambda quotes: '\\"' * len(quotes[0]), plain)
    return _printable(quoted)


def quoted(text: str | None, margin: str = "") -> str:
    """Return the docstring that says `text`, as source, each line behind `margin`.

    It is empty if there is nothing to say.
    """
    if not text:
        return ""
    said = docstring(text)
    end = "\n" if "\n" in said else ""
    lines = f'"""{said}{end}"""'.split("\n")
    return "\n".join(f"{margin}{line}" if line else line for line in lines)


def with_fields(text: str | None, fields: Iterable[tuple[str, str | None]]) -> str | None:
    """Return the text of a class, followed by the fields that are described."""
    described = ((name, said) for name, said in fields if said is not None)
    listed = [f"    {name}: " + said.replace("\n", "\n        ") for name, said in described]
    return "\n".join([f"{text}\n\nAttributes:", *listed]) if text and listed else text


def _printable(source: str) -> str:
    """Return source whose texts have escapes in place of control characters."""
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", lambda sign: repr(sign[0])[1:-1], source)


def visible(text: str) -> str:
    """Return text with escapes in place of line ends and of what steers a terminal."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)


def nearest(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """Return which of `known` is nearest to `name`, None if none is as near as `cutoff`."""
    close = get_close_matches(name, list(known), cutoff=cutoff)
    swapped = (one for one in close if sorted(one) == sorted(name))  # the likelier slip
    return next(swapped, next(iter(close), None))


def anchor(name: str) -> str:
    """Return a name as an anchor, which may hold no spaces."""
    return name.replace(" ", "-")


def slug(wire: str) -> str:
    """Return a name on the wire as the name of a file."""
    return wire.replace("/", "-").replace("$", "")
