"""The arguments of a tool: their JSON schema, made from a signature, and the check of a call."""

from __future__ import annotations

__all__ = ("ToolArguments",)

import inspect
import types
from collections.abc import Callable, Iterator
from dataclasses import replace
from difflib import get_close_matches
from typing import Annotated, Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints

from pydantic import ConfigDict, Field, PydanticUserError, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind
from pydantic_core import to_json
from typing_extensions import TypedDict

from kinwire.context import Context
from kinwire.errors import ToolDefinitionError
from kinwire_protocols.base import JsonObject
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.problems import Problem, problems

# Strictness is asked for in each call: here it would not reach into models of the user.
_CLOSED = ConfigDict(extra="forbid", allow_inf_nan=False)

_TOLD = 20  # problems in one answer; a long array may be wrong in every place

# Decoded JSON of these types is what the function takes; anything else is made from JSON text.
_PLAIN = frozenset({str, int, float, bool, type(None), Any, object, list, dict})


class ToolArguments:
    """What one function may be called with."""

    def __init__(self, function: Callable[..., Any], descriptions: dict[str, str]) -> None:
        """Read the signature of `function`; `descriptions` are those of its docstring.

        Raises:
            ToolDefinitionError: a parameter cannot be filled from a JSON object.
        """
        hints = _hints(function)
        self.context_name: str | None = None
        """The parameter that takes the `Context`, if there is one."""
        fields: dict[str, Any] = {}
        for parameter in _parameters(function):
            name, hint = parameter.name, hints[parameter.name]
            if hint is Context:
                self.context_name = name
            else:
                fields[name] = _field(parameter, hint, descriptions.get(name))
        self._adapter = _adapter(function, fields)
        self._from_text = not all(_is_plain(hints[name]) for name in fields)
        self.names = tuple(fields)
        self.schema: JsonObject = self._adapter.json_schema(schema_generator=_Schema)
        del self.schema["title"]

    def check(self, tool: str, arguments: JsonObject) -> dict[str, Any]:
        """Return what the function is to be called with.

        Raises:
            InvalidParamsError: the arguments break the schema; `data.problems` says where.
        """
        try:
            if self._from_text:
                return self._adapter.validate_json(to_json(arguments), strict=True)
            return self._adapter.validate_python(arguments, strict=True)
        except ValidationError as error:
            found = list(self._problems(error, arguments))
            raise InvalidParamsError(
                f"Tool {tool!r}: {found[0]}",
                data={"tool": tool, "problems": [problem.to_json() for problem in found[:_TOLD]]},
            ) from None

    def _problems(self, error: ValidationError, arguments: JsonObject) -> Iterator[Problem]:
        strangers = {f"/{name}" for name in arguments if name not in self.names}
        for problem in problems(error, arguments):
            expected = problem.expected
            if problem.pointer in strangers:
                near = get_close_matches(problem.pointer[1:], self.names, n=1)
                known = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(self.names)}"
                expected = f"no argument of this name ({known})"
            yield replace(problem, pointer="/arguments" + problem.pointer, expected=expected)


class _Schema(GenerateJsonSchema):
    """JSON schema without titles that repeat a name; silent on defaults that JSON cannot hold."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def emit_warning(self, kind: JsonSchemaWarningKind, detail: str) -> None:
        pass


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    except NameError as error:
        raise ToolDefinitionError(
            f"{_place(function)}: expected annotations with names of its module, got {error}. "
            "Define or import the type at the top of the module."
        ) from None


def _parameters(function: Callable[..., Any]) -> Iterator[inspect.Parameter]:
    for parameter in inspect.signature(function).parameters.values():
        where = f"{_place(function)}#{parameter.name}"
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise ToolDefinitionError(
                f"{where}: expected a named parameter, got {parameter}. "
                "Name each argument that callers may give."
            )
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise ToolDefinitionError(
                f"{where}: expected a parameter to be given by name, got a positional-only one. "
                "Remove the slash from the signature."
            )
        if parameter.annotation is parameter.empty:
            raise ToolDefinitionError(
                f"{where}: expected a type annotation, got none. "
                f"Write `{parameter.name}: str`, or the type it has."
            )
        yield parameter


def _field(parameter: inspect.Parameter, hint: Any, description: str | None) -> Any:
    if description is not None:
        # First, so that a description in the annotation wins over the docstring's.
        hint = _described(hint, description)
    default = parameter.default
    if default is parameter.empty:
        return hint
    field = default if isinstance(default, FieldInfo) else Field(default=default)
    return Annotated[hint, field] if field.is_required() else NotRequired[Annotated[hint, field]]


def _described(hint: Any, description: str) -> Any:
    if get_origin(hint) is Annotated:
        kind, *marks = get_args(hint)
        return Annotated[(kind, Field(description=description), *marks)]
    return Annotated[hint, Field(description=description)]


def _adapter(function: Callable[..., Any], fields: dict[str, Any]) -> TypeAdapter[dict[str, Any]]:
    try:
        return _closed(fields)
    except PydanticUserError:
        pass
    for name, hint in fields.items():
        try:
            _closed({name: hint})
        except PydanticUserError as error:
            reason = str(error).splitlines()[0]
            raise ToolDefinitionError(
                f"{_place(function)}#{name}: expected a type that JSON can hold. {reason} "
                "Use JSON types, dataclasses, pydantic models, enums or dates."
            ) from None
    raise AssertionError("a field that fails among others fails alone")


def _closed(fields: dict[str, Any]) -> TypeAdapter[dict[str, Any]]:
    make: Any = TypedDict  # checkers know the form with literal names only
    shape: Any = make("Arguments", fields)
    shape.__pydantic_config__ = _CLOSED
    adapter = TypeAdapter[dict[str, Any]](shape)
    adapter.json_schema(schema_generator=_Schema)
    return adapter


def _is_plain(hint: Any) -> bool:
    origin = get_origin(hint)
    if origin is None:
        return hint in _PLAIN
    if origin is Literal:
        return all(type(choice) in _PLAIN for choice in get_args(hint))
    if origin is Annotated:
        return _is_plain(get_args(hint)[0])
    return origin in (list, dict, Union, types.UnionType) and all(map(_is_plain, get_args(hint)))


def _place(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{function.__qualname__}"
