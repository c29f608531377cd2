"""Trace ids: read wherever a peer has put one, and written in two places (MGP 6.5).

This version has `trace_id` in the params; later ones have `traceparent` of W3C Trace Context in
`_meta`.
"""

from __future__ import annotations

__all__ = ("trace_id_in", "traceparent")

import re
from collections.abc import Iterator
from hashlib import sha256
from uuid import UUID

from kinwire.rpc.codec import is_object
from kinwire_protocols.base import JsonObject

_LONGEST = 128  # characters
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_PARENT = re.compile(r"[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}.*")


def trace_id_in(message: JsonObject) -> str | None:
    """Return the trace id of a request or notification, from the JSON as it came; None without one.

    It is looked for in the params, in `_mgp` there, next to the params, and in `_meta`.
    """
    for found in _candidates(message):
        if isinstance(found, str) and 0 < len(found) <= _LONGEST and found.isprintable():
            return found
    return None


def traceparent(trace_id: str, span: str) -> str:
    """Return the `traceparent` for a trace id, which need not be a UUID.

    `span` is 16 hexadecimal digits, not all zero.
    """
    try:
        plain = _UUID.fullmatch(trace_id)  # as the kernel makes them
        digits = UUID(trace_id).hex if plain is None else trace_id.replace("-", "")
    except ValueError:
        digits = sha256(trace_id.encode(errors="backslashreplace")).hexdigest()[:32]
    return f"00-{digits}-{span}-01"


def _candidates(message: JsonObject) -> Iterator[object]:
    params = message.get("params")
    params = params if is_object(params) else {}
    yield params.get("trace_id")
    for place in (params.get("_mgp"), message, params.get("_meta")):
        if is_object(place):
            yield place.get("trace_id")
    meta = params.get("_meta")
    if is_object(meta) and isinstance(meta.get("traceparent"), str):
        match = _PARENT.fullmatch(meta["traceparent"])
        yield None if match is None else str(UUID(match[1]))
