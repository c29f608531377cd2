"""Method rows, and what stubs and handlers are written against."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from inspect import iscoroutinefunction, signature
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    Literal,
    Protocol,
    TypeVar,
    cast,
    overload,
    runtime_checkable,
)

from pydantic import ValidationError
from pydantic_core import MISSING, InitErrorDetails, PydanticCustomError

from .base import JsonObject, Message, RpcError, from_wire, to_wire
from .jsonrpc.errors import InvalidParamsError, MethodNotFoundError
from .lazy import LazyFields
from .nearest import nearest
from .problems import problems

if TYPE_CHECKING:
    from .augment import AnyAugment
    from .lenient import Noticed
    from .tool_methods import ToolMethod

__all__ = (
    "Handlers",
    "Method",
    "NoParams",
    "On",
    "Peer",
    "ProtocolTable",
    "RaisesShapeErrors",
    "Register",
    "check_handlers",
    "error_kind",
    "given",
)

P = TypeVar("P")
R = TypeVar("R")

Kind = Literal["request", "notification", "either"]
Sender = Literal["client", "server", "both"]
Status = Literal["stable", "considered", "deprecated"]


class NoParams(Message):
    """The params of a method that has none."""


def given(**members: Any) -> dict[str, Any]:
    """Return the members that are not `MISSING`."""
    return {name: value for name, value in members.items() if value is not MISSING}


def _by_name(method: str, positions: tuple[str, ...], value: object) -> JsonObject:
    """Return params by position as an object.

    Raises:
        pydantic.ValidationError: they are not an array, or it has too many items.
    """
    items = cast("list[object]", value) if isinstance(value, list) else []
    if (value is None or isinstance(value, list)) and len(items) <= len(positions):
        return dict(zip(positions, items, strict=False))
    said = "Input should be an array of at most {most} items"
    fault: InitErrorDetails = {
        "type": PydanticCustomError("positions", said, {"most": len(positions)}),
        "input": value,
    }
    raise ValidationError.from_exception_data(method, [fault])


def _by_position(method: str, positions: tuple[str, ...], body: JsonObject) -> list[Any]:
    left = next((at for at, name in enumerate(positions) if name not in body), len(positions))
    late = [name for name in positions[left:] if name in body]
    if late:
        raise ValueError(
            f"{method}: {late[0]!r} goes by position, and {positions[left]!r} before it is not"
            f" given. Give {positions[left]!r} too."
        )
    return [body[name] for name in positions[:left]]


@dataclass(frozen=True, kw_only=True)
class Method(LazyFields, Generic[P, R]):
    """One row of a protocol's method table. `R` is None for a notification."""

    name: str
    """The name on the wire."""
    protocol: str
    attribute: str
    """The name in Python, on stubs, handlers and `on`."""
    kind: Kind
    sender: Sender
    params: Any = field(compare=False)
    """The type `P`, or a `Lazy` of it; `NoParams` if the method has none."""
    result: Any = field(compare=False)
    """The type `R`, or a `Lazy` of it; None for a notification."""
    positions: tuple[str, ...] = ()
    """The fields of the params in their order on the wire, if they are an array there."""
    errors: tuple[type[RpcError], ...] = ()
    gate: str | None = None
    """The capability that must be negotiated, as side:path; None for none."""
    section: str
    aliases: tuple[str, ...] = ()
    """Other wire names of the same method."""
    status: Status = "stable"
    """`considered`: the specification may get it; there is no stub and no handler for it."""
    serial: bool = False
    """Whether arrivals must be handled one after another, in order."""

    @property
    def names(self) -> tuple[str, ...]:
        """The name on the wire and its aliases."""
        return (self.name, *self.aliases)

    def decode_params(self, value: object, noticed: Noticed | None = None) -> P:
        """Return params from the wire; absent params (None) are an empty object or array.

        `noticed` is called for each lenient reading.

        Raises:
            pydantic.ValidationError: the value does not fit.
        """
        if self.positions:
            value = _by_name(self.name, self.positions, value)
        made: P = from_wire(self.params, {} if value is None else value, noticed)
        return made

    def params_to_wire(self, params: P) -> Any:
        """Return params as JSON: an array where they go by position, None where it takes none.

        Raises:
            ValueError: a position is left out, and a later one is given.
        """
        body: Any = to_wire(params)
        if self.params is NoParams and not body:
            return None
        return _by_position(self.name, self.positions, body) if self.positions else body

    def decode_result(self, value: object, noticed: Noticed | None = None) -> R:
        """Return a result from the wire; `noticed` is called for each lenient reading.

        Raises:
            pydantic.ValidationError: the value does not fit.
            TypeError: the method is a notification and has no result.
        """
        if self.result is None:
            raise TypeError(f"{self.name} is a notification: it has no result")
        made: R = from_wire(self.result, value, noticed)
        return made

    def decode_error(self, value: JsonObject) -> RpcError:
        """Return an `error` member from the wire, for the caller to raise.

        It is the error of this row that its data names, or else that has its code. Without one it
        is a plain `RpcError`, as one code means other things in other protocols.
        """
        code, data = value["code"], value.get("data")
        kind = error_kind(self.errors, code, data) or RpcError
        return kind(value["message"], data=data, code=code)


@dataclass(frozen=True, kw_only=True)
class ProtocolTable:
    """One protocol as its document gives it."""

    name: str
    title: str
    version: str
    capability: str | None
    """Where its offer sits below `capabilities`, as a dotted path; None for none."""
    capability_aliases: tuple[str, ...] = ()
    """Other places where a peer's offer is looked for."""
    offers: Mapping[str, type[Message]] = field(default_factory=dict[str, type[Message]])
    """The types of what the `client` and the `server` offer there."""
    methods: Mapping[str, Method[Any, Any]]
    errors: Mapping[str, type[RpcError]]
    error_data: Mapping[str, type[Message]] = field(default_factory=dict[str, type[Message]])
    """The types of what errors have as `data`, by the name of the error."""
    added_errors: Mapping[str | None, tuple[type[RpcError], ...]] = field(
        default_factory=dict[str | None, tuple[type[RpcError], ...]]
    )
    """Errors that it adds to other protocols' methods, by wire name; None for every method."""
    tools_in: str | None = None
    """The module that has its tools; None if it defines none."""
    augments_in: str | None = None
    """The module that has what it adds to messages of others; None if it adds nothing."""

    @property
    def tools(self) -> Mapping[str, ToolMethod[Any, Any]]:
        """The tools that it defines, by wire name. Their module is loaded by this."""
        found: Mapping[str, ToolMethod[Any, Any]]
        found = {} if self.tools_in is None else import_module(self.tools_in).TOOLS
        return found

    @property
    def augments(self) -> tuple[AnyAugment, ...]:
        """What it adds to messages of others. Their module is loaded by this."""
        found: tuple[AnyAugment, ...]
        found = () if self.augments_in is None else import_module(self.augments_in).AUGMENTS
        return found

    def method(self, name: str) -> Method[Any, Any] | None:
        """Return the method of that wire name, also of one of its aliases."""
        found = self.methods.get(name)
        if found is None:
            found = next((row for row in self.methods.values() if name in row.aliases), None)
        return found


class Peer(Protocol):
    """The other end of a connection, as stubs need it."""

    async def call(self, method: Method[P, R], params: P, /) -> R:
        """Send a request and return its result.

        Raises:
            RpcError: the peer answered with an error.
        """
        ...

    async def notify(self, method: Method[P, Any], params: P, /) -> None:
        """Send a notification."""
        ...


@runtime_checkable
class RaisesShapeErrors(Protocol):
    """An optional part of a peer: its own error for a tool's result that does not fit."""

    def shape_error(self, where: str, error: ValidationError, value: object, /) -> Exception:
        """Return the error to raise for `error`, which refused `value` as a result of `where`."""
        ...


class Register(Generic[P, R]):
    """Registers the function it is called with (a decorator) and returns that function.

    The function takes the params, or the params and the context of the request.
    """

    def __init__(
        self, add: Callable[[Method[Any, Any], Callable[..., Any]], None], method: Method[P, R]
    ) -> None:
        self._add = add
        self._method = method

    @overload
    def __call__(self, handler: Callable[[P], Awaitable[R]], /) -> Callable[[P], Awaitable[R]]: ...
    @overload
    def __call__(
        self, handler: Callable[[P, Any], Awaitable[R]], /
    ) -> Callable[[P, Any], Awaitable[R]]: ...
    def __call__(self, handler: Callable[..., Any], /) -> Callable[..., Any]:
        self._add(self._method, handler)
        return handler


class On:
    """Registration points: one attribute a method, and a call for rows of your own."""

    def __init__(self, add: Callable[[Method[Any, Any], Callable[..., Any]], None]) -> None:
        self._add = add

    def __call__(self, method: Method[P, R]) -> Register[P, R]:
        """Return the registration point of `method`."""
        return Register(self._add, method)


def error_kind(
    declared: tuple[type[RpcError], ...], code: object, data: object
) -> type[RpcError] | None:
    """Return which of the `declared` errors is meant, None if that is open.

    It is the one that the data names, or else the only one of that code.
    """
    said = cast(JsonObject, data) if isinstance(data, dict) else {}
    if "protocol" in said and "name" in said:
        for kind in declared:
            if (kind.protocol, kind.name) == (said["protocol"], said["name"]):
                return kind
    claiming = [kind for kind in declared if kind.default_code == code]
    return claiming[0] if len(claiming) == 1 else None


def check_handlers(cls: type, known: set[str], what: Literal["method", "tool"]) -> None:
    """Refuse a class of handlers that one of its functions would never be called of.

    Raises:
        TypeError: it is not a handler, or its name is not `known`; the message says how to fix it.
    """
    for name, value in vars(cls).items():
        if name in known:
            if not iscoroutinefunction(value):
                raise TypeError(f"{cls.__qualname__}.{name}: a handler is an `async def`.")
            _must_take_the_same(cls, name, value)
            continue
        if name.startswith("_") or not iscoroutinefunction(value):
            continue
        near = nearest(name, known)
        hint = (
            f" Did you mean {near!r}?" if near else " Begin helpers of your own with an underscore."
        )
        raise TypeError(f"{cls.__qualname__}.{name}: no {what} of this side has that name.{hint}")


def _must_take_the_same(cls: type, name: str, handler: Callable[..., Any]) -> None:
    inherited = [vars(base)[name] for base in cls.__mro__[1:] if name in vars(base)]
    if not inherited:  # the generated class itself
        return
    # What a decorator wraps is not what is called; of the inherited ones the last is generated.
    taken, given = signature(handler, follow_wrapped=False), signature(inherited[-1])
    try:
        taken.bind(*given.parameters)
    except TypeError:
        expected = ", ".join(given.parameters)
        got = ", ".join(map(str, taken.parameters.values()))
        raise TypeError(
            f"{cls.__qualname__}.{name}: expected parameters ({expected}), got ({got})."
        ) from None


class Handlers:
    """Base of the generated handler classes: override the methods that you serve."""

    rows: ClassVar[Mapping[str, Method[Any, Any]]] = {}
    """The methods that this side receives, by wire name."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        check_handlers(cls, {row.attribute for row in cls.rows.values()} | {"dispatch"}, "method")

    async def dispatch(self, name: str, params: object = None) -> Any:
        """Handle one arrived message and return its result as JSON, None for a notification.

        Raises:
            RpcError: what the peer is to be answered: an unknown method, bad params, or an error
                that the handler raised.
        """
        row = self.rows.get(name)
        if row is None:
            raise MethodNotFoundError(f"Method not found: {name:.60}")
        try:
            decoded = row.decode_params(params)
        except ValidationError as error:
            found = problems(error, params)
            raise InvalidParamsError(
                f"{name}#{found[0]}", data={"problems": [p.to_json() for p in found]}
            ) from None
        result = await getattr(self, row.attribute)(decoded)
        return None if result is None else to_wire(result)
