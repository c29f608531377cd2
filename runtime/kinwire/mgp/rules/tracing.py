"""The trace that a request belongs to: where it stands in params, and how it is passed on.

MGP 0.2.0 section 6.5; `traceparent` is that of W3C Trace Context.
"""

from __future__ import annotations

__all__ = ("trace_in", "traceparent", "with_trace")

import re
from hashlib import sha256
from typing import Any, Final

from kinwire.rpc.codec import is_object
from kinwire_protocols.base import JsonObject

_LONGEST = 200  # characters of a trace id of a peer
_PARENT: Final = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?")
_HEX: Final = re.compile(r"[0-9a-f]{32}")


def trace_in(params: JsonObject) -> str | None:
    """Return the trace id of params: `trace_id`, that of `_mgp`, or that of `_meta`.

    Of a `traceparent` in `_meta` it is the part that names the trace.
    """
    for found in (params, params.get("_mgp"), params.get("_meta")):
        if is_object(found):
            trace_id = found.get("trace_id")
            if isinstance(trace_id, str) and 0 < len(trace_id) <= _LONGEST:
                return trace_id
    return _of_parent(params.get("_meta"))


def with_trace(params: JsonObject, trace_id: str, span: str) -> JsonObject:
    """Return params that carry the trace; `span` are 16 hexadecimal digits that name this request.

    A `traceparent` that is there stays.
    """
    meta: Any = params.get("_meta")
    meta = dict(meta) if is_object(meta) else {}
    meta.setdefault("traceparent", traceparent(trace_id, span))
    return {**params, "trace_id": trace_id, "_meta": meta}


def traceparent(trace_id: str, span: str) -> str:
    """Return the `traceparent` of a trace id: its hexadecimal digits, else a digest of it."""
    digits = trace_id.replace("-", "").lower()
    if _HEX.fullmatch(digits) is None or not digits.strip("0"):
        digits = sha256(trace_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return f"00-{digits}-{span}-01"


def _of_parent(meta: Any) -> str | None:
    parent = meta.get("traceparent") if is_object(meta) else None
    found = _PARENT.fullmatch(parent) if isinstance(parent, str) else None
    return None if found is None else found[1]
