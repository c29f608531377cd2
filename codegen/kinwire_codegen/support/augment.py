"""Members that one protocol adds to another's messages.

Nobody owns a message: each protocol reads and writes its own members, and all others stay as they
are. A member that is absent reads as None; where null is a value of its own, as `pydantic.MISSING`.
Writing that value takes the member out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, cast, overload

from pydantic import MISSING

from .base import JsonObject, Message, RpcError, from_wire, to_wire
from .lazy import LazyFields

if TYPE_CHECKING:
    from pydantic import TypeAdapter

__all__ = ("AnyAugment", "Augment", "ErrorAugment", "EveryAugment")

M = TypeVar("M", bound=Message)
Any_M = TypeVar("Any_M", bound=Message)
E = TypeVar("E", bound=RpcError)
V = TypeVar("V")


@dataclass(frozen=True, kw_only=True)
class _Member(LazyFields, Generic[V]):
    """One member and its type. `V` is what it reads as, the value for absent included."""

    protocol: str
    """The protocol that adds it."""
    to: str
    """What it is added to: `mcp#Tool`, `tools/call params`, `every error`."""
    member: str
    """Its name on the wire."""
    type: Any = field(compare=False)
    """Its type, or a `Lazy` of it."""
    nullable: bool = False
    """Whether null is a value of its own, so that absent is `MISSING`."""
    sender: Literal["client", "server", "both"]
    """Who writes it."""
    errors: tuple[type[RpcError], ...] = ()
    """What it adds to the errors of the method."""
    section: str

    @cached_property
    def _adapter(self) -> TypeAdapter[Any]:
        from pydantic import ConfigDict, TypeAdapter

        return TypeAdapter(self.type, config=ConfigDict(strict=True, allow_inf_nan=False))

    @property
    def _absent(self) -> Any:
        return MISSING if self.nullable else None

    def _read(self, members: JsonObject) -> V:
        value: Any = members.get(self.member, self._absent)
        if value is self._absent:
            absent: V = value
            return absent
        if isinstance(value, Message):  # as this side's program put it there
            value = to_wire(value)
        if isinstance(self.type, type):
            return cast(V, from_wire(cast("type[Message]", self.type), value))
        made: V = self._adapter.validate_python(value, by_alias=True, by_name=False)
        return made

    def _written(self, members: JsonObject, value: V) -> JsonObject:
        if value is self._absent:
            return {name: kept for name, kept in members.items() if name != self.member}
        return {**members, self.member: self._encoded(value)}

    def _encoded(self, value: V) -> Any:
        if isinstance(self.type, type):
            wanted: type[Message] = self.type
            if not isinstance(value, wanted):
                raise TypeError(
                    f"{self.to} {self.member}: expected {wanted.__name__}, got {value!r:.60}. "
                    f"Make one: {wanted.__name__}(...), or from_wire({wanted.__name__}, ...)"
                    " of JSON."
                )
            return to_wire(value)
        return self._adapter.dump_python(self._adapter.validate_python(value))

    def _of(self, message: Message) -> JsonObject:
        """Return the members among which this one stands."""
        return (
            to_wire(message) if _declares(type(message), self.member) else message.model_extra or {}
        )

    def _copied(self, message: Any_M, value: V) -> Any_M:
        if _declares(type(message), self.member):
            return from_wire(type(message), self._written(to_wire(message), value))
        copied = message.model_copy()
        object.__setattr__(
            copied, "__pydantic_extra__", self._written(message.model_extra or {}, value)
        )
        return copied


@dataclass(frozen=True, kw_only=True)
class Augment(_Member[V], Generic[M, V]):
    """A member of one type of message, `M`."""

    message: Any = field(compare=False)
    """The type `M`, or a `Lazy` of it."""

    def read(self, message: M | JsonObject) -> V:
        """Return the member of a message, or of its JSON as it came.

        Raises:
            pydantic.ValidationError: the member does not fit its type.
        """
        return self._read(message if isinstance(message, dict) else self._of(message))

    @overload
    def write(self, message: M, value: V) -> M: ...
    @overload
    def write(self, message: JsonObject, value: V) -> JsonObject: ...
    def write(self, message: M | JsonObject, value: V) -> M | JsonObject:
        """Return a copy of the message with that member.

        Raises:
            TypeError: `value` is not a message of the member's type.
            pydantic.ValidationError: it does not fit a type that is not a message.
        """
        if isinstance(message, dict):
            return self._written(message, value)
        return self._copied(message, value)


@dataclass(frozen=True, kw_only=True)
class EveryAugment(_Member[V]):
    """A member of the params, or of the result, of every method."""

    def read(self, message: Message | JsonObject) -> V:
        """Return the member of a message, or of its JSON as it came.

        Raises:
            pydantic.ValidationError: the member does not fit its type.
        """
        return self._read(message if isinstance(message, dict) else self._of(message))

    @overload
    def write(self, message: Any_M, value: V) -> Any_M: ...
    @overload
    def write(self, message: JsonObject, value: V) -> JsonObject: ...
    def write(self, message: Any_M | JsonObject, value: V) -> Any_M | JsonObject:
        """Return a copy of the message with that member.

        Raises:
            TypeError: `value` is not a message of the member's type.
            pydantic.ValidationError: it does not fit a type that is not a message.
        """
        if isinstance(message, dict):
            return self._written(message, value)
        return self._copied(message, value)


@dataclass(frozen=True, kw_only=True)
class ErrorAugment(_Member[V]):
    """A member of the data of every error."""

    def read(self, error: RpcError | JsonObject) -> V:
        """Return the member of the data of an error, or of an `error` member's JSON.

        Raises:
            pydantic.ValidationError: the member does not fit its type.
        """
        return self._read(_members(_data(error)))

    @overload
    def write(self, error: E, value: V) -> E: ...
    @overload
    def write(self, error: JsonObject, value: V) -> JsonObject: ...
    def write(self, error: E | JsonObject, value: V) -> E | JsonObject:
        """Return a copy of the error with that member in its data.

        Raises:
            TypeError: the data is not an object, so it has no members; or `value` is not of the
                member's type.
        """
        data = _data(error)
        if data is not None and not isinstance(data, dict):
            raise TypeError(
                f"{self.protocol} {self.member}: expected data that is an object, got {data!r:.60}"
            )
        written = self._written(_members(_data(error)), value) or None
        if isinstance(error, dict):
            bare = {name: kept for name, kept in error.items() if name != "data"}
            return bare if written is None else {**bare, "data": written}
        return type(error)(error.message, data=written, code=error.code)


AnyAugment = Augment[Any, Any] | EveryAugment[Any] | ErrorAugment[Any]


@cache
def _declares(kind: type[Message], member: str) -> bool:
    return any((field.alias or name) == member for name, field in kind.__pydantic_fields__.items())


def _data(error: RpcError | JsonObject) -> object:
    return error.get("data") if isinstance(error, dict) else error.data


def _members(data: object) -> JsonObject:
    return cast(JsonObject, data) if isinstance(data, dict) else {}
