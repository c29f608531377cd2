"""What a JSON schema says of a place in a value: which types and which members it may have.

The schema may be a peer's, so nothing in it is taken for granted.
"""

from __future__ import annotations

__all__ = ("SchemaPlace", "referred")

from collections.abc import Callable, Iterable, Iterator
from typing import cast

from pydantic_core import SchemaError, SchemaValidator, core_schema

from kinwire.rpc.codec import is_object
from kinwire.support.json_values import steps_of
from kinwire_protocols.base import JsonObject

_TYPES: dict[str, tuple[type, ...]] = {
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
    "string": (str,),
}

_MOST = 1000  # values that a schema lists: more of them cannot be listed

# Stand for a part of a schema that leaves all open, or that is not to be seen.
_MORE: JsonObject = {"additionalProperties": True}
_ANY: JsonObject = {"type": list(_TYPES), **_MORE}

# What takes members that `properties` does not name, and what may name more of them.
_REST = ("additionalProperties", "patternProperties", "unevaluatedProperties")
_IN_CASES = ("if", "then", "else", "dependentSchemas", "dependencies")


class SchemaPlace:
    """A place in a value, as all schemas that hold there describe it.

    `closed` says that members without a name in the schema are errors, even where the schema allows
    them: a protocol's own types do, so that later versions of it can be read.
    """

    def __init__(self, schemas: Iterable[object], root: JsonObject, *, closed: bool) -> None:
        self._root = root
        self._closed = closed
        self._schemas = [schema for schema in schemas if is_object(schema)]
        self._branches = list(_branches(self._schemas, root))

    @property
    def kinds(self) -> set[str]:
        """Return the JSON types that the value may have, an empty set if the schema is silent."""
        kinds = {kind for branch in self._branches for kind in _own_kinds(branch)}
        may_be_null = kinds and any(map(_is_nullable, self._branches))
        return kinds | {"null"} if may_be_null else kinds

    @property
    def names(self) -> list[str]:
        """Return the named members, in the order of the schema."""
        return list(dict.fromkeys(name for branch in self._branches for name in _members(branch)))

    @property
    def choices(self) -> list[object] | None:
        """Return the values that the schema lists if it allows no others, else None."""
        return _any_of(self._schemas, self._root, {})

    @property
    def required(self) -> list[str]:
        """Return the members that an object must have; nothing where the schema leaves a choice."""
        if len(self._schemas) != 1:
            return []
        needed = (
            _list(schema.get("required"))
            for schema in _branches(self._schemas, self._root, _needed_in)
        )
        return list(dict.fromkeys(name for names in needed for name in names if type(name) is str))

    def allows(self, value: object) -> bool:
        """Return whether `value` has one of the types."""
        return any(type(value) in _TYPES.get(kind, ()) for kind in self.kinds)

    def may_have(self, name: str) -> bool:
        """Return whether the value may have a member of this name."""
        names = self.names
        if not names or name in names:
            return True
        return not self._closed and any(_lets_in(branch, name) for branch in self._branches)

    def member(self, name: str) -> SchemaPlace:
        """Return the place that the member called `name` has in this one."""
        inner = [_member(branch, name) for branch in self._branches]
        # `_meta` is where anybody may put anything.
        return SchemaPlace(inner, self._root, closed=self._closed and name != "_meta")


def _combined_in(schema: JsonObject) -> list[object]:
    choices = [one for word in ("anyOf", "oneOf") for one in _list(schema.get(word))]
    anything = [_unseen(schema) for one in choices if one is True or one == {}]
    return [*choices, *anything, *_list(schema.get("allOf"))]


def _unseen(schema: JsonObject) -> JsonObject:
    """Return what stands in `schema` for a part that leaves all open or is not to be seen."""
    return _MORE if "type" in schema else _ANY


def _needed_in(schema: JsonObject) -> list[object]:
    """Return the other schemas that an object has to fit."""
    needed = _list(schema.get("allOf"))
    for word in ("anyOf", "oneOf"):
        objects = [one for one in _list(schema.get(word)) if _may_be_object(one)]
        needed = [*needed, *(objects if len(objects) == 1 else ())]
    return needed


def _may_be_object(schema: object) -> bool:
    kinds = set(_own_kinds(schema)) if is_object(schema) else set[str]()
    return not kinds or "object" in kinds


def _any_of(
    schemas: list[JsonObject], root: JsonObject, known: dict[int, list[object] | None]
) -> list[object] | None:
    found = [_listed(schema, root, known) for schema in schemas]
    values = [value for listed in found for value in listed or ()]
    return values if found and None not in found and len(values) <= _MOST else None


def _listed(
    schema: JsonObject, root: JsonObject, known: dict[int, list[object] | None]
) -> list[object] | None:
    """Return the only values that fit, None if there are others; `known` are those looked at."""
    if id(schema) not in known:
        known[id(schema)] = None  # while it is looked at: it may lead to itself
        found = _looked_up(schema, root, known)
        known[id(schema)] = [*found, None] if found and _is_nullable(schema) else found
    return known[id(schema)]


def _looked_up(
    schema: JsonObject, root: JsonObject, known: dict[int, list[object] | None]
) -> list[object] | None:
    own = [schema["const"]] if "const" in schema else _list(schema.get("enum"))
    if own:
        return own
    if schema.get("type") == "null":
        return [None]
    reference = schema.get("$ref")
    if isinstance(reference, str):
        target = referred(root, reference)
        return _listed(target, root, known) if is_object(target) else None
    for word in ("anyOf", "oneOf"):
        choices = _list(schema.get(word))
        if choices and all(map(is_object, choices)):
            return _any_of(cast("list[JsonObject]", choices), root, known)
    parts = (_listed(one, root, known) for one in _list(schema.get("allOf")) if is_object(one))
    return next((part for part in parts if part), None)


def _branches(
    schemas: Iterable[object],
    root: JsonObject,
    inner: Callable[[JsonObject], list[object]] = _combined_in,
) -> Iterator[JsonObject]:
    """Yield the schemas, those that they refer to and those `inner` to them, each once."""
    waiting, seen = list(schemas), set[int]()
    for schema in waiting:  # grows in the loop; ends, as the parts of a schema are finite
        if not is_object(schema) or id(schema) in seen:
            continue
        seen.add(id(schema))
        yield schema
        reference = schema.get("$ref")
        if isinstance(reference, str):
            target = referred(root, reference)
            waiting.append(_unseen(schema) if target is None else target)
        waiting.extend(inner(schema))


def referred(root: object, reference: str) -> object:
    """Return what `#` or `#/...` leads to in `root`, None if it leads nowhere or is another."""
    found: object = root if reference == "#" or reference.startswith("#/") else None
    for name in steps_of(reference):
        if is_object(found):
            found = found.get(name)
        else:
            items = _list(found)
            found = items[int(name)] if name.isdecimal() and int(name) < len(items) else None
    return found


def _members(branch: JsonObject) -> JsonObject:
    members = branch.get("properties")
    return members if is_object(members) else {}


def _lets_in(branch: JsonObject, name: str) -> bool:
    """Return whether a member without a name of its own may be meant in the branch."""
    if name in _list(branch.get("required")):
        return True
    if branch.get("additionalProperties") is False:
        return any(_fits(pattern, name) is not False for pattern in _patterns(branch))
    return any(word in branch for word in (*_REST, *_IN_CASES))


def _member(branch: JsonObject, name: str) -> object:
    """Return the schema of the member called `name`, None if any value may do."""
    members, patterns = _members(branch), _patterns(branch)
    if name in members:
        return members[name]
    fitting = [pattern for pattern in patterns if _fits(pattern, name) is not False]
    if not fitting:
        return branch.get("additionalProperties")
    certain = len(fitting) == 1 and _fits(fitting[0], name)
    return patterns[fitting[0]] if certain else None


def _patterns(branch: JsonObject) -> JsonObject:
    patterns = branch.get("patternProperties")
    return patterns if is_object(patterns) else {}


def _fits(pattern: str, name: str) -> bool | None:
    """Return whether `name` fits, None if the pattern cannot be read.

    The pattern may be a peer's: here, unlike in `re`, none takes more than linear time.
    """
    try:
        return SchemaValidator(core_schema.str_schema(pattern=pattern)).isinstance_python(name)
    except SchemaError:
        return None


def _is_nullable(schema: JsonObject) -> bool:
    return schema.get("nullable") is True  # as in OpenAPI 3.0


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _own_kinds(schema: JsonObject) -> Iterator[str]:
    kind = schema.get("type")
    yield from [kind] if isinstance(kind, str) else map(str, _list(kind))
    for value in [schema["const"]] if "const" in schema else _list(schema.get("enum")):
        yield from (kind for kind, types in _TYPES.items() if type(value) in types)
