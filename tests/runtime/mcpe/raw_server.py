"""A server of MCPE in raw JSON, written from the specification alone."""

from __future__ import annotations

__all__ = ("CAPABILITY", "EVENT", "RawServer", "structured")

import json
from collections.abc import Callable
from typing import Any

from tests.runtime.raw_end import Json, RawEnd

CAPABILITY: Json = {
    "protocolVersion": "2025-01-01",
    "protocolName": "mcpe",
    "serverInfo": {"name": "elsewhere", "version": "0"},
    "subscriptions": {
        "maxActive": 100,
        "maxFiltersPerSubscription": 10,
        "supportsPause": True,
        "supportsExpiration": True,
        "supportsBatching": True,
    },
    "filters": {
        "supportsWildcardTypes": True,
        "supportsTagFiltering": True,
        "supportsPriorityFiltering": True,
    },
    "delivery": {
        "supportedChannels": ["realtime", "cron"],
        "supportedPriorities": [],
        "supportsMultiChannel": True,
    },
}

EVENT: Json = {
    "id": "f47ac10b-58cc-4372-a567-0e02b2c3d479",
    "type": "github.push",
    "data": {"branch": "main"},
    "metadata": {"timestamp": "2025-01-15T10:30:00Z", "priority": "normal"},
}

NAMES = ("subscribe", "unsubscribe", "list", "pause", "resume", "update")


def structured(value: Json, **more: Any) -> Json:
    """Return a result of `tools/call` that says `value`."""
    text = {"type": "text", "text": json.dumps(value)}
    return {"content": [text], "structuredContent": value, **more}


class RawServer(RawEnd):
    """A server, as a transport: `await host.connect(raw)`.

    `capabilities` is what it answers with; `answers` has the result of a tool, or a function of
    its arguments that returns it. Without one, a subscription is made, listed and removed.
    """

    def __init__(self, capabilities: Json | None = None, **answers: Any) -> None:
        super().__init__()
        offered = {"experimental": {"mcpe": CAPABILITY}} if capabilities is None else capabilities
        self.capabilities: Json = {"tools": {}, **offered}
        self.tools = [f"events_{name}" for name in NAMES]
        self.answers: dict[str, Json | Callable[[Json], Json]] = {
            "events_subscribe": self._subscribed,
            "events_list": lambda arguments: structured({"subscriptions": self.subscriptions}),
            "events_unsubscribe": structured({"success": True}),
            **answers,
        }
        self.subscriptions: list[Json] = []
        self.token: str | None = None
        self.behind: list[Json] = []
        """Params of `events/event` that are sent right behind a subscription, without its id."""

    def calls(self, tool: str) -> list[Json]:
        """Return the params of the calls of a tool."""
        return [one for one in self.of("tools/call") if one["name"] == f"events_{tool}"]

    def event(self, id: str, event: Json = EVENT, **more: Any) -> None:
        """Send an event."""
        self.say(method="events/event", params={"subscriptionId": id, "event": event, **more})

    def reply_to(self, message: Json) -> Json | None:
        return {"result": self._answer(message["method"], message.get("params", {}))}

    def _answer(self, method: str, params: Json) -> Json:
        if method == "initialize":
            return {
                "protocolVersion": "2024-11-05",
                "capabilities": self.capabilities,
                "serverInfo": {"name": "elsewhere", "version": "0"},
            }
        if method == "tools/list":
            return {
                "tools": [{"name": one, "inputSchema": {"type": "object"}} for one in self.tools]
            }
        answer = self.answers[params["name"]]
        return answer(params["arguments"]) if callable(answer) else answer

    def _subscribed(self, arguments: Json) -> Json:
        id = f"00000000-0000-4000-8000-{len(self.subscriptions):012}"
        made = {
            "id": id,
            "clientId": "c",
            **arguments,
            "status": "active",
            "createdAt": "2025-01-15T10:00:00Z",
            "updatedAt": "2025-01-15T10:00:00Z",
        }
        self.subscriptions.append(made)
        more: Json = {} if self.token is None else {"_meta": {"mcpe/recoveryToken": self.token}}
        return structured(made, **more)

    def _take(self, message: Json) -> None:
        super()._take(message)
        if message.get("params", {}).get("name") == "events_subscribe":
            for params in self.behind:
                self.event(self.subscriptions[-1]["id"], **params)
