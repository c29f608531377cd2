"""Lists of a message whose items are read one by one, so that a wrong one loses only itself.

The rows here are those of the protocol document but for the items, which are plain JSON.
"""

from __future__ import annotations

__all__ = ("LOOSE_BEFORE", "LOOSE_REGISTER", "LooseRegister", "LooseReply", "valid_items")

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Final, TypeVar, cast

from pydantic import Field, ValidationError

from kinwire_protocols.base import Message, from_wire
from kinwire_protocols.mcp.models import EmptyResult
from kinwire_protocols.mcpl.methods import CHANNELS_REGISTER, CONTEXT_BEFORE_INFERENCE
from kinwire_protocols.mcpl.models import BeforeInferenceParams, BeforeInferenceResult
from kinwire_protocols.peer import Method
from kinwire_protocols.problems import problems

M = TypeVar("M", bound=Message)


class LooseRegister(Message):
    """The params of `channels/register`, with channels of any shape."""

    channels: list[Any]


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
