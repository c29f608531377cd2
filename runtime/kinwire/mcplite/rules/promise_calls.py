"""What a call says about promises: whose it is, its idempotency key, and arguments of `redeem`."""

from __future__ import annotations

__all__ = ("checked_key", "owner_of", "redeem_params", "repeatable_as")

from pydantic import ValidationError

from kinwire.mcplite.rules.calls import ToolCall
from kinwire.support.json_values import digest, strict_text
from kinwire_protocols.base import JsonObject, from_wire
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.mcplite.models import RedeemParams

_KEY_SIZE = 1024  # characters of an idempotency key


def owner_of(principal: object) -> str:
    """Return the digest of a principal by which its promises are stored.

    Raises:
        ValueError: it is not a JSON value, which other processes would know again.
    """
    return digest("principal", strict_text(principal))


def checked_key(key: object) -> str:
    """Return an idempotency key.

    Raises:
        InvalidParamsError: it is not a short text.
    """
    if not isinstance(key, str) or not 0 < len(key) <= _KEY_SIZE:
        raise InvalidParamsError(
            f"_meta#/idempotency_key: expected a text of 1 to {_KEY_SIZE} characters"
        )
    return key


def repeatable_as(call: ToolCall, owner: str, key: str) -> tuple[str, str]:
    """Return digests of the place of a key, and of the call that it stands for.

    A call that brings answers to questions is another one than the call that was asked.
    """
    asked, answers = call.meta.get("elicitation_context"), call.meta.get("elicitation_answers")
    if answers is None:
        return digest(owner, key), digest(call.name, call.arguments)
    return digest(owner, key, asked), digest(call.name, call.arguments, answers)


def redeem_params(arguments: JsonObject) -> RedeemParams:
    """Return the arguments of `redeem` (section 3.6).

    Raises:
        InvalidParamsError: they do not fit.
    """
    try:
        return from_wire(RedeemParams, arguments)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)[0]
        place = "/".join(map(str, found["loc"]))
        raise InvalidParamsError(f"redeem: /arguments/{place}: {found['msg']}") from None
