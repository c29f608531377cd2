"""Lists of a message whose items are read one by one, so that a wrong one loses only itself.

The rows here are those of the protocol document but for the type of these params or results.
"""

from __future__ import annotations

__all__ = (
    "LOOSE_BEFORE",
    "LOOSE_REGISTER",
    "LooseRegister",
    "LooseReply",
    "valid_items",
    "with_valid_injections",
)

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Final, TypeVar, cast

from pydantic import (
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    ValidationError,
    model_validator,
)

from kinwire.mcpl.rules.channels import MOST_CHANNELS
from kinwire.rpc.codec import is_object
from kinwire_protocols.base import Message, from_wire
from kinwire_protocols.mcp.models import EmptyResult
from kinwire_protocols.mcpl.methods import CHANNELS_REGISTER, CONTEXT_BEFORE_INFERENCE
from kinwire_protocols.mcpl.models import (
    BeforeInferenceParams,
    BeforeInferenceResult,
    ChannelDescriptor,
    ChannelsRegisterParams,
    ContextInjection,
)
from kinwire_protocols.peer import Method
from kinwire_protocols.problems import problems

M = TypeVar("M", bound=Message)


class LooseRegister(ChannelsRegisterParams):
    """The valid channels of a `channels/register`; interceptors get them as typed as others."""

    _wrong: list[str] = PrivateAttr(default_factory=list)

    @property
    def wrong(self) -> list[str]:
        """What is wrong with each of the other channels, and where."""
        return self._wrong

    @model_validator(mode="wrap")
    @classmethod
    def _read_one_by_one(
        cls, value: Any, handler: ModelWrapValidatorHandler[LooseRegister]
    ) -> LooseRegister:
        given: object = value.get("channels") if is_object(value) else None
        if not isinstance(given, list):
            return handler(value)
        # More entries cannot be valid, and each would be one line of the log.
        items = cast("list[object]", given)[:MOST_CHANNELS]
        channels, wrong = valid_items(items, ChannelDescriptor)
        made = handler({**value, "channels": channels})
        made._wrong = wrong
        return made


class LooseReply(Message):
    """The result of `context/beforeInference`, with injections of any shape."""

    feature_set: Annotated[str | None, Field(alias="featureSet")] = None
    context_injections: Annotated[list[Any] | None, Field(alias="contextInjections")] = None


LOOSE_REGISTER: Final[Method[LooseRegister, EmptyResult]] = replace(
    cast("Any", CHANNELS_REGISTER), params=LooseRegister
)
LOOSE_BEFORE: Final[Method[BeforeInferenceParams, BeforeInferenceResult]] = replace(
    cast("Any", CONTEXT_BEFORE_INFERENCE), result=LooseReply
)


def with_valid_injections(
    reply: BeforeInferenceResult | LooseReply,
) -> tuple[BeforeInferenceResult, list[str]]:
    """Return the reply with the injections that are valid, and what is wrong with the others."""
    if not isinstance(reply, LooseReply):
        return reply, []
    found, wrong = valid_items(reply.context_injections or (), ContextInjection)
    checked = BeforeInferenceResult(feature_set=reply.feature_set, context_injections=found)
    return checked, [f"contextInjections{problem}" for problem in wrong]


def valid_items(items: Sequence[object], kind: type[M]) -> tuple[list[M], list[str]]:
    """Return the items that are a `kind`, and what is wrong with each of the others.

    A problem begins with the place: `/1/label: expected a value, got nothing`.
    """
    found: list[M] = []
    wrong: list[str] = []
    for place, item in enumerate(items):
        try:
            found.append(from_wire(kind, item))
        except ValidationError as error:
            wrong.append(f"/{place}{problems(error, item)[0]}")
    return found, wrong
