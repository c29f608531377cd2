"""`k=v` words of a command line as JSON members, typed by the schema that they are for.

`k=v` takes the type that the schema gives `k`: text stays text wherever text is allowed, or where
the schema says nothing; `a.b=v` is the member `b` of `a`, unless the schema has a member that is
called `a.b`. Where the schema lists the values, it is one of these. `k:=JSON` is taken as it
stands, also where the schema has no `k`.
"""

from __future__ import annotations

__all__ = ("WrongWordsError", "joined", "members_from", "members_from_file", "missing_from")

import json
import sys
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from decimal import Decimal
from math import isinf
from pathlib import Path
from typing import Any, cast

from pydantic_core import from_json

from kinwire.rpc.codec import is_object, kind_of
from kinwire.support.json_values import pointer_below
from kinwire_cli.failure import UsageError, did_you_mean
from kinwire_cli.layout import printable
from kinwire_cli.schema_places import SchemaPlace
from kinwire_protocols.base import JsonObject

_IN_WORDS = {"boolean": "true or false"}
_SHOWN = 20  # values that a place may have
_BYTE_ORDER_MARKS = (BOM_UTF8, BOM_UTF16_LE, BOM_UTF16_BE)


class WrongWordsError(UsageError):
    """Words that do not make members, with the error of each.

    `members` is what the other words, `right`, made.
    """

    def __init__(
        self, wrong: Mapping[str, UsageError], members: JsonObject, right: Sequence[str]
    ) -> None:
        super().__init__(*joined(list(wrong.values())))
        self.wrong = wrong
        self.members = members
        self.right = right


def joined(errors: Sequence[UsageError]) -> tuple[str, str]:
    """Return the texts of `errors` as one text, and their hints as one hint."""
    texts = [str(error).removesuffix(".") for error in errors[:-1]]
    hints = dict.fromkeys(error.hint for error in errors if error.hint)
    return "; ".join([*texts, str(errors[-1])]), " ".join(hints)


def members_from(
    words: Iterable[str],
    schema: JsonObject,
    *,
    closed: bool = False,
    given: JsonObject | None = None,
) -> JsonObject:
    """Return the object that `words` spell, added to `given`; `closed` is as in `SchemaPlace`.

    Raises:
        WrongWordsError: a word is not `k=v`, its value does not fit, its member does not exist, or
            two words contradict each other. The error has all such words.
    """
    members: JsonObject = deepcopy(given or {})
    root = SchemaPlace([schema], schema, closed=closed)
    right, wrong = list[str](), dict[str, UsageError]()
    for word in words:
        try:
            _add(members, word, root)
        except UsageError as error:
            wrong[word] = error
        else:
            right.append(word)
    if wrong:
        raise WrongWordsError(wrong, members, right)
    return members


def _add(members: JsonObject, word: str, root: SchemaPlace) -> None:
    key, equals, text = word.partition("=")
    if any("\ud800" <= sign <= "\udfff" for sign in word):  # how Python keeps such bytes
        hint = f"This command reads its words as {sys.getfilesystemencoding()}."
        raise UsageError(f"{word}: expected text, got bytes that are not text.", hint)
    path = _path(word, root)
    if not equals or not all(path):
        raise UsageError(f"{word}: expected NAME=VALUE or NAME:=JSON.", _known(root))
    raw = key.endswith(":")
    place = _place(word, path, root, raw=raw)
    value = _json(word, text) if raw else _typed(word, text, place)
    _put(members, path, value, word)


def missing_from(
    members: JsonObject, words: Iterable[str], schema: JsonObject, wrong: Iterable[str] = ()
) -> list[str]:
    """Return what `members` lack by the schema, each as a word that would bring it.

    Looked at are the whole and the objects that `words` have made; JSON is taken as it stands.
    What a word in `wrong` was to bring is not missing.
    """
    root = SchemaPlace([schema], schema, closed=False)
    made = dict.fromkeys([(), *(way for word in words for way in _ways(_path(word, root)))])
    tried = tuple(f"{_key(word)}{end}" for word in wrong for end in ("=", ":=", "."))
    return [
        missing
        for way in made
        for missing in _missing_at(way, members, schema)
        if not missing.startswith(tried)
    ]


def members_from_file(path: str) -> JsonObject:
    """Return the JSON object in a file, `-` for what comes on stdin.

    Raises:
        UsageError: it cannot be read, or holds no JSON object.
    """
    where = "stdin" if path == "-" else path
    try:
        content = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"--json {where}: {error.strerror}.") from None
    if content.startswith(_BYTE_ORDER_MARKS):
        raise UsageError(
            f"--json {where}: expected JSON, got a byte order mark before it.",
            "Write it as UTF-8 without a byte order mark (BOM).",
        )
    try:
        value = json_from(f"--json {where}", content)
    except ValueError as error:
        raise UsageError(f"--json {where}: expected JSON, {error}.") from None
    if not is_object(value):
        raise UsageError(f"--json {where}: expected a JSON object, got {kind_of(value)}.")
    return value


def _put(members: JsonObject, path: list[str], value: object, word: str) -> None:
    for step in path[:-1]:
        members = members.setdefault(step, {})
        if not isinstance(cast(object, members), dict):
            raise UsageError(f"{word}: {step!r} was given a value that has no fields.")
    if path[-1] in members:
        raise UsageError(f"{word}: {'.'.join(path)!r} was given before.")
    members[path[-1]] = value


def _path(word: str, place: SchemaPlace) -> list[str]:
    """Return the names that lead to the member; one with dots goes before the way through them."""
    steps, path = _key(word).split("."), list[str]()
    while steps:
        known = {*place.names, *place.required}
        lengths = range(len(steps), 1, -1)
        length = next((count for count in lengths if ".".join(steps[:count]) in known), 1)
        path.append(".".join(steps[:length]))
        place, steps = place.member(path[-1]), steps[length:]
    return path


def _key(word: str) -> str:
    return word.partition("=")[0].removesuffix(":")


def _ways(path: list[str]) -> Iterator[tuple[str, ...]]:
    """Yield the way to each object on the path."""
    yield from (tuple(path[:length]) for length in range(1, len(path)))


def _missing_at(way: tuple[str, ...], members: Any, schema: JsonObject) -> Iterator[str]:
    place = SchemaPlace([schema], schema, closed=False)
    for step in way:
        members, place = members[step], place.member(step)
    for name in place.required:
        if name not in members:
            yield _to_write(".".join([*way, name]), place.member(name))


def _place(word: str, path: list[str], root: SchemaPlace, *, raw: bool) -> SchemaPlace:
    place = root
    for depth, step in enumerate(path):
        if depth and place.kinds and "object" not in place.kinds:
            key = ".".join(path[:depth])
            text = f"{word}: {key!r} has no fields: expected {_kinds_of(place)}."
            raise UsageError(text, printable(f"Write {_to_write(key, place)}"))
        if not (raw or place.may_have(step)):
            hint = printable(did_you_mean(step, place.names)) or _known(place)
            raise UsageError(f"{word}: unknown parameter {step!r}.", hint)
        place = place.member(step)
    return place


def _known(place: SchemaPlace) -> str:
    return printable(f"It has: {', '.join(place.names)}.") if place.names else ""


def _typed(word: str, text: str, place: SchemaPlace) -> object:
    choices = place.choices
    if choices:
        return _chosen(word, text, choices)
    kinds = place.kinds
    if not kinds or "string" in kinds:
        return text
    value = _value(word, text)
    if isinstance(value, float) and "number" not in kinds:
        value = _whole(text, value)
    if not place.allows(value):
        raise UsageError(f"{word}: expected {_kinds_of(place)}.", _how_to_write(word, place))
    return value


def _chosen(word: str, text: str, choices: list[object]) -> object:
    """Return the one of `choices` that `text` is: as text if that is among them."""
    if text in choices:
        return text
    value = _value(word, text)
    for choice in choices:
        if choice == value and isinstance(choice, bool) == isinstance(value, bool):
            return choice
    shown_choices = [json.dumps(choice, ensure_ascii=False) for choice in choices[:_SHOWN]]
    more = len(choices) - len(shown_choices)
    *first, last = [*shown_choices, f"{more} more"] if more else shown_choices
    expected = f"{', '.join(first)} or {last}" if first else last
    raise UsageError(printable(f"{word}: expected {expected}."))


def _value(word: str, text: str) -> object:
    """Return the JSON that `text` is, else the text."""
    try:
        return json_from(word, text)
    except ValueError:
        return text


def _whole(text: str, value: float) -> int | float:
    """Return the integer for `3.0` or `1e3`, as in JSON Schema; `value` if it is not whole."""
    exact = Decimal(text.strip())
    return int(exact) if exact == int(exact) else value


def _kinds_of(place: SchemaPlace) -> str:
    return " or ".join(_IN_WORDS.get(kind, kind) for kind in sorted(place.kinds))


def _to_write(key: str, place: SchemaPlace) -> str:
    """Return how a member is written: `stops:=[...]`, `trip.city=...`."""
    first = [*place.required, *place.names][:1]
    if first:
        return f"{key}.{first[0]}=..."
    if not place.kinds & {"array", "object"} or "string" in place.kinds:
        return f"{key}=..."
    return f"{key}:=[...]" if "array" in place.kinds else f"{key}:={{...}}"


def _how_to_write(word: str, place: SchemaPlace) -> str:
    key, first = word.partition("=")[0], place.names[:1]
    if first:
        return printable(f"Write {key}.{first[0]}=... for its fields, or {key}:=JSON.")
    return f"Write {key}:=JSON." if {"object", "array"} & place.kinds else ""


def _json(word: str, text: str) -> object:
    try:
        return json_from(word, text)
    except ValueError:
        hint = "Text in JSON has quotes: 'k:=\"text\"'."
        raise UsageError(f"{word}: expected JSON.", hint) from None


def json_from(where: str, text: str | bytes) -> object:
    """Return the value that `text` is; `where` it stands is said where it is refused.

    Raises:
        ValueError: it is not JSON.
        UsageError: a name occurs twice in an object, a number is too large, or half of a
            surrogate pair is missing.
    """
    try:
        value = from_json(text, allow_inf_nan=False)
    except ValueError:
        _refuse_half_a_pair(where, text)
        raise
    place = next(_infinite(value, ""), None)
    if place is not None:  # it would go out as null
        at = f" at {place}" if place else ""
        raise UsageError(
            f"{where}: expected a number of at most 1.8e308{at}.",
            "Larger ones can be sent as text, in quotes.",
        )
    _refuse_repeated(where, text)
    return value


def _refuse_repeated(where: str, text: str | bytes) -> None:
    def look(pairs: list[tuple[str, object]]) -> None:
        seen = set[str]()
        for name, _ in pairs:
            if name in seen:
                raise UsageError(f"{where}: {name!r} is given twice in one object.")
            seen.add(name)

    # Of the values nothing is needed, and Python reads no integer of very many digits.
    json.loads(text, object_pairs_hook=look, parse_int=str, parse_float=str)


def _refuse_half_a_pair(where: str, text: str | bytes) -> None:
    try:
        json.dumps(json.loads(text), ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = f"\\u{ord(error.object[error.start]):04x}"
        raise UsageError(
            f"{where}: {half} is half of a surrogate pair, which is not a character.",
            "Write both halves, as in \\ud83d\\ude00, or the character itself.",
        ) from None
    except (ValueError, RecursionError):
        return  # it is not JSON for another reason


def _infinite(value: Any, place: str) -> Iterator[str]:
    """Yield where in `value` a number was too large to be read."""
    if isinstance(value, float) and isinf(value):
        yield place
    elif isinstance(value, dict):
        for name, inner in cast("JsonObject", value).items():
            yield from _infinite(inner, pointer_below(place, name))
    elif isinstance(value, list):
        for index, inner in enumerate(cast("list[Any]", cast(object, value))):
            yield from _infinite(inner, f"{place}/{index}")
