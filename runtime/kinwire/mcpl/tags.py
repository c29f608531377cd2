"""Which requests of a server name a feature set, and what it has to declare for them (MCPL 6.5)."""

from __future__ import annotations

__all__ = ("FEATURE_SET_REQUESTS",)

from collections.abc import Mapping
from typing import Any, Final

from kinwire_protocols.mcpl.methods import INFERENCE_REQUEST, PUSH_EVENT, SCOPE_ELEVATE
from kinwire_protocols.peer import Method

FEATURE_SET_REQUESTS: Final[Mapping[Method[Any, Any], str | None]] = {
    PUSH_EVENT: "pushEvents",
    INFERENCE_REQUEST: "inferenceRequest",
    SCOPE_ELEVATE: None,  # any set may act in scopes, whatever it uses
}
