"""The parameters of a user's function, read from its signature, and their JSON schema."""

from __future__ import annotations

__all__ = ("Parameters", "place_of")

import inspect
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from functools import lru_cache
from typing import Annotated, Any, NamedTuple, NotRequired, get_args, get_origin, get_type_hints

from pydantic import ConfigDict, Field, PydanticUserError, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind
from pydantic_core import PydanticSerializationError
from typing_extensions import TypedDict

from kinwire.mcp.context import Context
from kinwire.rpc.errors import KinwireError
from kinwire.support.json_values import not_finite
from kinwire_protocols.base import JsonObject
from kinwire_protocols.nearest import nearest
from kinwire_protocols.problems import Problem, problems

# Strictness is an option of each call: here it would not apply to the fields of users' models.
_CLOSED = ConfigDict(extra="forbid", allow_inf_nan=False)


class Parameters:
    """The named parameters of one function, without the `Context`."""

    def __init__(
        self,
        function: Callable[..., Any],
        descriptions: dict[str, str],
        error_type: type[KinwireError],
    ) -> None:
        """Read the signature of `function`; `descriptions` come from its docstring.

        Raises:
            KinwireError: an `error_type`: a parameter cannot be filled from a JSON object.
        """
        hints = _hints(function, error_type)
        self.context_name: str | None = None
        """The parameter for the `Context`, None if the function has none."""
        self.context_kind: type[Context] = Context
        """Which class that parameter wants: `Context`, or one of an extension."""
        self.hints: dict[str, Any] = {}
        """The types of the other parameters."""
        fields: list[_Field] = []
        for parameter in _signature(function, error_type):
            name, hint = parameter.name, hints[parameter.name]
            if isinstance(hint, type) and issubclass(hint, Context):
                self.context_name, self.context_kind = name, hint
            else:
                self.hints[name] = hint
                fields.append(_Field(name, hint, parameter.default, descriptions.get(name)))
        self.adapter, self.schema = _adapter(function, fields, error_type)
        """What validates a JSON object and returns the keyword arguments, and its JSON schema."""
        del self.schema["title"]
        self.names = tuple(self.schema.get("properties", ()))
        """The names of its properties, in order."""

    def problems(self, error: ValidationError, given: Mapping[str, object]) -> Iterator[Problem]:
        """Yield the problems in `error`, which `adapter` raised for `given`."""
        for problem in problems(error, given):
            name = problem.pointer[1:]
            if name in given and name not in self.names:
                near = nearest(name, self.names)
                known = ", ".join(self.names) or "none"
                hint = f"did you mean {near!r}?" if near else f"known: {known}"
                problem = replace(problem, expected=f"no argument of this name ({hint})")
            yield problem


class _Schema(GenerateJsonSchema):
    """Generate JSON schema without titles, and without defaults that are not JSON."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def encode_default(self, dft: Any) -> Any:
        if not_finite(dft) is not None:
            raise PydanticSerializationError("a number that JSON does not have")
        return super().encode_default(dft)

    def emit_warning(self, kind: JsonSchemaWarningKind, detail: str) -> None:
        pass


def _hints(function: Callable[..., Any], error_type: type[KinwireError]) -> dict[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    except NameError as error:
        raise error_type(
            f"{place_of(function)}: expected annotations with names of its module, got {error}. "
            "Define or import the type at the top of the module."
        ) from None


def _signature(
    function: Callable[..., Any], error_type: type[KinwireError]
) -> Iterator[inspect.Parameter]:
    for parameter in inspect.signature(function).parameters.values():
        where = f"{place_of(function)}#{parameter.name}"
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise error_type(
                f"{where}: expected a named parameter, got {parameter}. "
                "Name each argument that callers may give."
            )
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise error_type(
                f"{where}: expected a parameter to be given by name, got a positional-only one. "
                "Remove the slash from the signature."
            )
        if parameter.annotation is parameter.empty:
            raise error_type(
                f"{where}: expected a type annotation, got none. "
                f"Write `{parameter.name}: str`, or the type it has."
            )
        yield parameter


class _Field(NamedTuple):
    """What a parameter says of its field of the JSON object."""

    name: str
    hint: Any
    default: Any
    description: str | None

    def annotation(self) -> Any:
        """Return the type for the field, with all that is said."""
        hint, default = self.hint, self.default
        if self.description is not None:
            # First, so that a description in the annotation wins over the docstring's.
            hint = _described(hint, self.description)
        if default is inspect.Parameter.empty:
            return hint
        field = default if isinstance(default, FieldInfo) else Field(default=default)
        return (
            Annotated[hint, field] if field.is_required() else NotRequired[Annotated[hint, field]]
        )


def _described(hint: Any, description: str) -> Any:
    if get_origin(hint) is Annotated:
        kind, *marks = get_args(hint)
        return Annotated[(kind, Field(description=description), *marks)]
    return Annotated[hint, Field(description=description)]


_Closed = tuple[TypeAdapter[dict[str, Any]], JsonObject]


def _adapter(
    function: Callable[..., Any], fields: list[_Field], error_type: type[KinwireError]
) -> _Closed:
    try:
        return _closed(fields)
    except PydanticUserError:
        pass
    for field in fields:
        try:
            _closed([field])
        except PydanticUserError as error:
            reason = str(error).splitlines()[0]
            raise error_type(
                f"{place_of(function)}#{field.name}: expected a type that JSON can hold. {reason} "
                "Use JSON types, dataclasses, pydantic models, enums or dates."
            ) from None
    raise AssertionError("a field that fails among others fails alone")


def _closed(fields: list[_Field]) -> _Closed:
    """Return the adapter for `fields`, and its schema, which nobody else has.

    Programs that make a server for each connection register the same functions again and again.
    """
    key = tuple(fields)
    try:
        adapter, schema = _made(key, repr(key))  # to Python, 1, 1.0 and True are equal
    except TypeError:  # a default cannot be hashed
        adapter, schema = _made.__wrapped__(key, "")
    return adapter, deepcopy(schema)


@lru_cache(maxsize=256)
def _made(fields: tuple[_Field, ...], _: str) -> _Closed:
    make: Any = TypedDict  # checkers know the form with literal names only
    shape: Any = make("Arguments", {field.name: field.annotation() for field in fields})
    shape.__pydantic_config__ = _CLOSED
    adapter = TypeAdapter[dict[str, Any]](shape)
    return adapter, adapter.json_schema(schema_generator=_Schema)


def place_of(function: Callable[..., Any]) -> str:
    """Return where `function` is defined, for messages."""
    return f"{function.__module__}.{function.__qualname__}"
