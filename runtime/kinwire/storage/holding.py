"""A name in a store, and the options that it was opened with last."""

from __future__ import annotations

__all__ = ("Holding", "Kind", "holding_from", "options_text")

import json
from dataclasses import asdict, dataclass
from typing import Literal

from kinwire.storage.log import Retention
from kinwire.storage.values import decoded, unreadable

Kind = Literal["log", "records"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """What a store holds under one name."""

    kind: Kind
    name: str
    durable: bool
    retention: Retention | None = None
    """For logs."""


def options_text(holding: Holding) -> str:
    """Return the options of `holding` as JSON, without kind and name."""
    retention = asdict(holding.retention or Retention()) if holding.kind == "log" else {}
    return json.dumps({"durable": holding.durable, **retention})


def holding_from(kind: Kind, name: str, text: str) -> Holding:
    """Return what `options_text` was given.

    Raises:
        StorageDamagedError: `text` is nothing that it returns.
    """
    place = f"options of {kind} {name!r}"
    options = decoded(text, place)
    try:
        durable: bool = options.pop("durable")
        retention = Retention(**options) if kind == "log" else None
    except (AttributeError, KeyError, TypeError) as error:
        raise unreadable(place, error) from None
    return Holding(kind=kind, name=name, durable=durable, retention=retention)
