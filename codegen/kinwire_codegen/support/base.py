"""What every generated message is built on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from operator import is_
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Literal,
    Never,
    TypeVar,
    cast,
    get_args,
    get_origin,
    overload,
)

from pydantic import (
    BaseModel,
    ConfigDict,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ValidationError,
)
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic.fields import FieldInfo

    from .lenient import Noticed

__all__ = (
    "JsonObject",
    "Message",
    "OpenUnion",
    "RpcError",
    "Shorthand",
    "UnknownVariant",
    "UnreadVariant",
    "error_to_wire",
    "from_wire",
    "to_wire",
)

JsonObject = dict[str, Any]
"""A JSON object as Python holds it."""

# A C call is cheaper than a lambda: it runs once for every member that may be absent.
_is_none = partial(is_, None)


class _Signature:
    """`__signature__` of a class that is not built yet."""

    def __get__(self, instance: object, owner: type[BaseModel]) -> Any:
        from .descriptions import signature_of

        if instance is not None:
            raise AttributeError("__signature__")
        return signature_of(owner)


class _DescribedFields:
    """`model_fields`, with the descriptions of the fields."""

    def __get__(self, instance: object, owner: type[BaseModel]) -> Any:
        from .descriptions import described_fields

        described_fields(owner)
        return BaseModel.__dict__["model_fields"].__get__(instance, owner)


_SIGNATURE: Any = _Signature()


class Message(BaseModel):
    """A message or a part of one.

    Members that a peer sent and this version does not know are kept and go out again. An optional
    member that is None is absent on the wire, as is one that was not given and has a default; where
    null has another meaning than absent, the absent member is `pydantic.MISSING`. Instances are
    built by Python names, read from the wire by `from_wire`, and immutable:
    `model_copy(update=...)` makes another one.
    """

    if TYPE_CHECKING:
        # At run time pydantic would evaluate the annotation again for each subclass.
        __constants__: ClassVar[JsonObject]
        """The required fields with one value only: not needed when making one, always written."""
    else:
        __constants__ = {}

    model_config = ConfigDict(
        extra="allow",
        frozen=True,
        strict=True,
        validate_by_name=True,
        validate_by_alias=False,
        serialize_by_alias=True,
        allow_inf_nan=False,
        defer_build=True,
        protected_namespaces=(),
    )

    if not TYPE_CHECKING:

        def model_dump(self, **options: Any) -> JsonObject:
            """Return the fields that go on the wire."""
            return super().model_dump(**({"exclude_unset": True} | options))

        def model_dump_json(self, **options: Any) -> str:
            """Return the fields that go on the wire, as text."""
            return super().model_dump_json(**({"exclude_unset": True} | options))

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        """Have `inspect.signature` show the fields also before the class is built."""
        super().__pydantic_init_subclass__(**options)
        cls.__signature__ = _SIGNATURE
        constants = {
            name: field.default
            for name, field in cls.__pydantic_fields__.items()
            if type(field.default) in _CONSTANT and _is_constant(field.annotation)
        }
        if constants or cls.__constants__:
            cls.__constants__ = constants
            type.__setattr__(cls, "__init__", _init_with_constants)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler, /
    ) -> JsonObject:
        """Return the JSON Schema of the class with the descriptions of its fields."""
        from .descriptions import describe_schema

        schema = handler(core_schema)
        describe_schema(handler.resolve_ref_schema(schema), cls)
        return schema

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[BaseModel], handler: GetCoreSchemaHandler, /
    ) -> CoreSchema:
        """Leave members out that are None because they are absent; a required null stays.

        A constant has its default only where a message is made: one that is read must have it.
        """
        schema = handler(source)
        node: Any = schema
        while node is not None and node.get("type") != "model-fields":
            node = node.get("schema")
        constants = source.__constants__ if issubclass(source, Message) else {}
        for name, field in node["fields"].items() if node else ():
            inner = field["schema"]
            if inner["type"] == "default" and inner.get("default", 0) is None:
                field["serialization_exclude_if"] = _is_none
            elif inner["type"] == "default" and name in constants:
                field["schema"] = inner["schema"]
        return schema


_CONSTANT = (str, int, bool)


def _is_constant(annotation: object) -> bool:
    return get_origin(annotation) is Literal and len(get_args(annotation)) == 1


def _init_with_constants(self: Message, /, **data: Any) -> None:
    kind = type(self)
    if not kind.__pydantic_complete__:
        kind.model_rebuild()
    kind.__pydantic_validator__.validate_python(kind.__constants__ | data, self_instance=self)


# Messages inside of others are then read without a call of Python each.
vars(_init_with_constants)["__pydantic_base_init__"] = True
Message.__signature__ = _SIGNATURE
type.__setattr__(Message, "model_fields", _DescribedFields())

M = TypeVar("M", bound=Message)


@overload
def from_wire(kind: type[M], value: object, noticed: Noticed | None = None) -> M: ...
@overload
def from_wire(kind: object, value: object, noticed: Noticed | None = None) -> Any: ...
def from_wire(kind: Any, value: object, noticed: Noticed | None = None) -> Any:
    """Return `value`, decoded JSON, as a `kind`; wire names only.

    `kind` is a message, or any other type of the bindings, such as a union. What the table of
    lenient readings has is accepted; `noticed` is called for each.

    Raises:
        pydantic.ValidationError: the value does not fit; each error says where.
    """
    try:
        # Models are built on first use; until then the validator in the class is a slow stand-in.
        if not kind.__pydantic_complete__:
            kind.model_rebuild()
        validator = kind.__pydantic_validator__
    except AttributeError:
        from .constraints import adapter_of  # few processes need it

        validator = adapter_of(kind).validator
    try:
        return validator.validate_python(value, by_alias=True, by_name=False)
    except ValidationError as error:
        refused = error
    from .lenient import IN_VALUES, read_again  # few processes need it

    validate = partial(validator.validate_python, by_alias=True, by_name=False)
    return read_again(refused, value, validate, noticed, IN_VALUES, kind)


@overload
def to_wire(message: Message) -> JsonObject: ...
@overload
def to_wire(message: object) -> Any: ...
def to_wire(message: Any) -> Any:
    """Return `message` as the JSON that goes on the wire: a message as an object."""
    try:
        serializer = message.__pydantic_serializer__
    except AttributeError:
        return _other_to_wire(message)
    return serializer.to_python(message, exclude_unset=True)


def _other_to_wire(value: object) -> Any:
    if isinstance(value, list):
        return [to_wire(one) for one in cast("list[object]", value)]
    if isinstance(value, dict):
        return {name: to_wire(one) for name, one in cast("dict[str, object]", value).items()}
    return value


@dataclass(frozen=True, slots=True)
class Shorthand:
    """Marks a list whose short form is a string: the list of one `kind` with it as `member`.

    The short form is read, from the wire and from Python, and never written.
    """

    kind: type[Message]
    member: str
    """The name of the field in Python."""

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler, /
    ) -> CoreSchema:
        """Try the list first, so that only a string costs a call."""
        short = core_schema.no_info_after_validator_function(self._item, core_schema.str_schema())
        return core_schema.union_schema([handler(source), short], mode="left_to_right")

    def _item(self, value: str) -> list[Message]:
        kind = self.kind
        if not kind.__pydantic_complete__:
            kind.model_rebuild()
        made = kind.__constants__ | {self.member: value}
        return [kind.__pydantic_validator__.validate_python(made)]


class UnknownVariant(Message):
    """An object of a tagged union that was read and has a tag that the protocol does not define.

    It is only read: a message that is made with one is refused. A message that was read and is
    sent on keeps it as it was.
    """

    @property
    def fields(self) -> JsonObject:
        """Its JSON object as it came, with the tag."""
        return to_wire(self)

    if TYPE_CHECKING:
        # Comparing the tag of a union shows checkers which of the known messages it is.
        def __getattr__(self, name: str) -> Never: ...


class UnreadVariant:
    """Marks an object with an unknown tag that is to be read as an `UnknownVariant`."""

    __slots__ = ("fields",)

    def __init__(self, fields: JsonObject) -> None:
        self.fields = fields

    def __getattr__(self, name: str) -> str:
        """Return the tag of the marker, whatever field has the tag."""
        return _UNREAD


_UNREAD = "(unread)"


@dataclass(frozen=True, slots=True)
class OpenUnion:
    """Marks a union of messages that one field distinguishes, and `UnknownVariant`."""

    tag: str
    """The name of the field on the wire."""

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler, /
    ) -> CoreSchema:
        """Add the marker as one more choice: objects with a known tag cost nothing more."""
        kinds = [kind for kind in get_args(source) if kind is not UnknownVariant]
        choices: dict[Any, CoreSchema] = {}
        names = [self.tag]  # JSON has it under the name of the wire, and messages under their own
        for kind in kinds:
            for attribute, tags in self._tags(kind):
                names.append(attribute)
                choices |= dict.fromkeys(tags, handler.generate_schema(kind))
        paths: list[list[str | int]] = [[name] for name in dict.fromkeys(names)]
        context: dict[str, str | int | float] = {
            "discriminator": self.tag,
            "expected_tags": ", ".join(map(repr, choices)),
        }

        def unmarked(value: object) -> UnknownVariant:
            if isinstance(value, UnreadVariant):
                return from_wire(UnknownVariant, value.fields)
            raise PydanticCustomError("unknown_variant", _UNKNOWN, context)

        choices[_UNREAD] = core_schema.no_info_plain_validator_function(unmarked)
        return core_schema.tagged_union_schema(
            choices,
            self.tag if len(paths) == 1 else paths,
            custom_error_type="unknown_variant",
            custom_error_message=_UNKNOWN,
            custom_error_context=context,
            serialization=core_schema.simple_ser_schema("any"),
        )

    def __get_pydantic_json_schema__(
        self, core_schema: CoreSchema, handler: GetJsonSchemaHandler, /
    ) -> JsonObject:
        """Return the JSON Schema of the known messages: only those may be written."""
        whole = cast("dict[str, Any]", core_schema)
        choices = {tag: one for tag, one in whole["choices"].items() if tag != _UNREAD}
        known = {**whole, "choices": choices}
        del known["serialization"]
        return handler(cast(CoreSchema, known))

    def _tags(self, kind: Any) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield the attribute and the tags of a message, or of all messages of a union."""
        fields: dict[str, FieldInfo] | None = getattr(kind, "__pydantic_fields__", None)
        for name, field in (fields or {}).items():
            if self.tag == (field.alias or name):
                yield name, get_args(field.annotation)
        if fields is None:
            union = getattr(kind, "__value__", kind)
            inner = get_args(union)
            inner = get_args(inner[0]) if get_origin(union) is Annotated else inner or (union,)
            for one in inner:
                if one is not UnknownVariant:
                    yield from self._tags(one)


_UNKNOWN = "Input should have '{discriminator}' set to one of {expected_tags}"


class RpcError(Exception):
    """An error that travels in a JSON-RPC response.

    Each error of a protocol is a subclass, since protocols give one code different meanings.
    `protocol` and `name` say which it is; both are None for an error that nobody declared.
    """

    protocol: ClassVar[str | None] = None
    name: ClassVar[str | None] = None
    default_code: ClassVar[int] = -32603
    default_message: ClassVar[str] = "Internal error"

    code: int
    message: str
    data: Any
    """JSON, on both sides alike: a message that is given becomes what it is on the wire."""

    def __init__(
        self, message: str | None = None, *, data: Any = None, code: int | None = None
    ) -> None:
        self.code = self.default_code if code is None else code
        self.message = self.default_message if message is None else message
        _must_be(self, "message", self.message, str, "a string")
        _must_be(self, "code", self.code, int, "a whole number")
        self.data = to_wire(data) if isinstance(data, Message) else data
        super().__init__(self.message)

    def __str__(self) -> str:
        return f"{self.message} ({self.name or 'error'} {self.code})"


def _must_be(error: RpcError, name: str, value: object, kind: type, words: str) -> None:
    if not isinstance(value, kind) or isinstance(value, bool):
        call = f'{type(error).__name__}("...", data=..., code={error.default_code})'
        raise TypeError(
            f"{type(error).__name__}.{name}: expected {words}, got {type(value).__name__}. "
            f"Write {call}"
        )


def error_to_wire(error: RpcError) -> JsonObject:
    """Return `error` as the `error` member of a response; its data says which one it is."""
    body: JsonObject = {"code": error.code, "message": error.message}
    data: object = error.data
    if error.protocol is not None and (data is None or isinstance(data, dict)):
        members = cast(JsonObject, data or {})
        data = {**members, "protocol": error.protocol, "name": error.name}
    if data is not None:
        body["data"] = data
    return body
