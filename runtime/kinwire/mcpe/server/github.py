"""Events of GitHub's webhooks: `EventIngest(events, github_event, secret="...")`."""

from __future__ import annotations

__all__ = ("github_event",)

import re
from collections.abc import Mapping
from typing import Any

from kinwire.mcpe.server.new_event import new_event
from kinwire.rpc.codec import is_object
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcpe.models import MCPEvent

_NAME = re.compile(r"[a-z0-9_-]{1,64}")
_LONGEST_TAG = 256


def github_event(headers: Mapping[str, str], payload: JsonObject) -> MCPEvent | None:
    """Return the event of a request of GitHub; None for `ping`, and for another request.

    Its type is `github.push`, or with the action `github.pull_request.opened`. The name of the
    branch or tag that was pushed is a tag of it, and so is the full name of the repository. The
    delivery's id is its `sourceEventId`, so that what GitHub sends again is published once.
    """
    name, action = headers.get("x-github-event", ""), payload.get("action")
    if not _NAME.fullmatch(name) or name == "ping":
        return None
    ending = f".{action}" if isinstance(action, str) and _NAME.fullmatch(action) else ""
    return new_event(
        f"github.{name}{ending}",
        payload,
        tags=_tags(payload),
        source_event_id=headers.get("x-github-delivery") or None,
    )


def _tags(payload: JsonObject) -> list[str]:
    found: list[Any] = []
    ref, repository = payload.get("ref"), payload.get("repository")
    if isinstance(ref, str):
        found.append(ref.removeprefix("refs/heads/").removeprefix("refs/tags/"))
    if is_object(repository):
        found.append(repository.get("full_name"))
    return [one for one in found if isinstance(one, str) and 0 < len(one) <= _LONGEST_TAG]
