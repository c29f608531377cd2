"""MGP errors with their recovery hints: the `_mgp` object in the data of an error (MGP 14.4).

The errors themselves are in `kinwire_protocols.mgp`; the table `ERROR_RULES` there says what holds
for each where an error does not say it.
"""

from __future__ import annotations

__all__ = ("recovery_of", "refusal", "rule_of", "typed")

from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from kinwire.rpc.codec import is_object
from kinwire.support.arguments import (
    COUNT,
    FLAG,
    OBJECT,
    SECONDS_OR_ZERO,
    TEXT,
    ArgumentCheck,
    ValueKind,
)
from kinwire.support.sanitize import printable
from kinwire_protocols.base import JsonObject, RpcError, from_wire
from kinwire_protocols.mgp.models import ErrorRecovery
from kinwire_protocols.mgp.tables import ERROR_RULES, WORD_ALIASES

if TYPE_CHECKING:
    from kinwire_protocols.mgp.models import ErrorRule

E = TypeVar("E", bound=RpcError)

_ERROR = ValueKind(
    "an error class of MGP",
    "errors.AccessDeniedError",
    lambda value: _is_mgp_error(value),
)
_RECOVERY_OF = ArgumentCheck(
    "recovery_of",
    "recovery_of(error)",
    {"error": ValueKind("an RpcError", "error", lambda value: isinstance(value, RpcError))},
)
_REFUSAL = ArgumentCheck(
    "refusal",
    'refusal(errors.AccessDeniedError, "...")',
    {"error": _ERROR, "message": TEXT},
    details=OBJECT.or_none,
    retry_after=SECONDS_OR_ZERO.or_none,
    retryable=FLAG.or_none,
    max_retries=COUNT.or_none,
    fallback_tool=TEXT.or_none,
)


def refusal(
    error: type[E],
    message: str,
    *,
    details: JsonObject | None = None,
    retry_after: float | None = None,
    retryable: bool | None = None,
    max_retries: int | None = None,
    fallback_tool: str | None = None,
) -> E:
    """Return an error of MGP that says how to recover from it (MGP 14.4, 14.5).

    Category, `retryable` and `retry_strategy` are those of the error's row in `ERROR_RULES`;
    `retryable` may be passed. `retry_after` is in seconds; on the wire it is `retry_after_ms`.
    `details` reach the peer: they must not contain secrets. `message` becomes one line: it may have
    names in it that a peer has chosen, and escapes stand for signs that are not visible.

    Raises:
        TypeError: `error` is not an error class of MGP, or an argument has the wrong type.
        ValueError: a number is out of range.
    """
    given = {
        "retryable": retryable,
        "max_retries": max_retries,
        "fallback_tool": fallback_tool,
        "details": details,
    }
    _REFUSAL.check(error=error, message=message, retry_after=retry_after, **given)
    members = _defaults(_rules_by_class()[error])
    members.update((name, value) for name, value in given.items() if value is not None)
    if retry_after is not None:
        members["retry_after_ms"] = round(retry_after * 1000)
    if not members["retryable"]:
        members.pop("retry_strategy", None)
    return error(printable(message), data={"_mgp": members})


def rule_of(error: RpcError) -> ErrorRule | None:
    """Return the row of `ERROR_RULES` for an error; None if it is not an error of MGP."""
    return _rules_by_class().get(type(error))


def recovery_of(error: RpcError) -> ErrorRecovery:
    """Return what an error says about recovery, with the defaults of its row in `ERROR_RULES`.

    Fields of `_mgp` with a wrong type are ignored, and other names of categories and strategies
    are read (MGP 14.5). An error that says nothing and is not an error of MGP is not retryable.

    Raises:
        TypeError: it is not an `RpcError`.
    """
    _RECOVERY_OF.check(error=error)
    rule = rule_of(error)
    members: JsonObject = {"retryable": False} if rule is None else _defaults(rule)
    said = error.data.get("_mgp") if is_object(error.data) else None
    if is_object(said):
        members.update(_readable(said))
    return from_wire(ErrorRecovery, members)


def typed(error: RpcError) -> RpcError:
    """Return an error of a peer that speaks MGP by its class.

    A raw call has no row that gives errors their classes, so the code decides.
    """
    kind = _classes_by_code().get(error.code) if error.name is None else None
    return error if kind is None else kind(error.message, data=error.data)


def _defaults(rule: ErrorRule) -> JsonObject:
    members: JsonObject = {"category": rule.category, "retryable": rule.retryable}
    if rule.retry_strategy is not None:
        members["retry_strategy"] = rule.retry_strategy
    return members


def _readable(said: JsonObject) -> JsonObject:
    """Return the fields that fit their types, with today's words for the older ones."""
    fields = {name: _standard_word(value) for name, value in said.items() if value is not None}
    try:
        from_wire(ErrorRecovery, fields)
    except ValidationError as problems:
        wrong = {problem["loc"][0] for problem in problems.errors() if problem["loc"]}
        return {name: value for name, value in fields.items() if name not in wrong}
    return fields


def _standard_word(value: Any) -> Any:
    known = isinstance(value, str) and value in WORD_ALIASES
    return WORD_ALIASES[value].means if known else value


def _is_mgp_error(value: object) -> bool:
    return isinstance(value, type) and value in _rules_by_class()


@cache
def _rules_by_class() -> dict[type[RpcError], ErrorRule]:
    from kinwire_protocols.mgp.methods import PROTOCOL

    return {PROTOCOL.errors[rule.error]: rule for rule in ERROR_RULES.values()}


@cache
def _classes_by_code() -> dict[int, type[RpcError]]:
    return {kind.default_code: kind for kind in _rules_by_class()}
