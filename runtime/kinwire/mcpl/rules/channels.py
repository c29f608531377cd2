"""The channels of one connection, and what is allowed on each of them (MCPL 14.2, 14.5).

The rules are the same on both sides, and independent of scopes.
"""

from __future__ import annotations

__all__ = (
    "CHANNEL_SIZE",
    "MOST_CHANNELS",
    "MOST_MESSAGES",
    "OBSERVE",
    "PUBLISH",
    "SEND_AGAIN",
    "THINKING",
    "THINKING_SET",
    "ChannelRegistry",
    "sees",
)

from collections.abc import Iterable, Sequence
from typing import Final

from kinwire.mcpl.rules.scopes import LABEL_SIZE
from kinwire.support.json_values import text
from kinwire_protocols.base import to_wire
from kinwire_protocols.mcpl.errors import ChannelNotPermittedError, UnknownChannelError
from kinwire_protocols.mcpl.models import ChannelDescriptor

PUBLISH: Final = "channels.publish"
OBSERVE: Final = "channels.observe"
THINKING: Final = "thinking"
"""The channel for the thoughts of a host: it can only be observed."""
THINKING_SET: Final = "channels.thinking"
"""The feature set that observes it, and no other channel."""
MOST_CHANNELS: Final = 1000
"""Channels of one connection."""
CHANNEL_SIZE: Final = 64 * 1024
"""The longest description of a channel, in characters of JSON."""
MOST_MESSAGES: Final = 100
"""Messages in one `channels/incoming`."""
SEND_AGAIN: Final = "send it again"
"""How the reason ends with which a host refuses a message that it may accept later."""


class ChannelRegistry:
    """The channels that one side knows, by id, in the order in which they were added."""

    def __init__(self, channels: Sequence[ChannelDescriptor] = ()) -> None:
        """Start with these channels.

        Raises:
            ValueError: an id is invalid, or two are the same.
        """
        self._known: dict[str, ChannelDescriptor] = {}
        for problem in self.register(channels):
            raise ValueError(f"channels{problem}")

    @property
    def known(self) -> list[ChannelDescriptor]:
        """The channels."""
        return list(self._known.values())

    def find(self, channel_id: str) -> ChannelDescriptor | None:
        """Return the channel with that id, or None."""
        return self._known.get(channel_id)

    def register(self, channels: Sequence[ChannelDescriptor]) -> list[str]:
        """Add these channels, each in the place of an earlier one with its id.

        Invalid ones are left out; return why, a clause each with the place.
        """
        problems: list[str] = []
        came: set[str] = set()
        for place, channel in enumerate(channels):
            problem = self._problem(channel, came)
            if problem is None:
                came.add(channel.id)
                self._known[channel.id] = channel
            else:
                problems.append(f"/{place}{problem}")
        return problems

    def problems(self, channels: Sequence[ChannelDescriptor]) -> list[str]:
        """Return what `register` would return, without a change."""
        copy = ChannelRegistry()
        copy._known = dict(self._known)
        return copy.register(channels)

    def change(
        self,
        added: Iterable[ChannelDescriptor],
        removed: Iterable[str],
        updated: Iterable[ChannelDescriptor],
    ) -> list[str]:
        """Apply changes, except for invalid ones; return why those are invalid, a clause each."""
        problems = [
            f"removed: expected a channel that is known, got {channel_id!r:.60}"
            for channel_id in removed
            if self._known.pop(channel_id, None) is None
        ]
        for channel in updated:
            problem = _size_problem(channel)
            if channel.id not in self._known:
                problem = f"expected a channel that is known, got {channel.id!r:.60}"
            if problem is None:
                self._known[channel.id] = channel
            else:
                problems.append(f"updated: {problem}")
        for channel in added:
            if channel.id in self._known:
                problems.append(f"added: {_again(channel.id)}")
            else:
                problems += [f"added{problem}" for problem in self.register([channel])]
        return problems

    def put(self, channel: ChannelDescriptor) -> str | None:
        """Add or replace a channel that was opened; return why not."""
        known = self._known.pop(channel.id, None)
        problem = next(iter(self.register([channel])), None)
        if problem is not None and known is not None:
            self._known[channel.id] = known
        return problem

    def remove(self, channel_id: str) -> None:
        """Remove a channel, if it is known."""
        self._known.pop(channel_id, None)

    def publish_refusal(
        self, channel_id: str
    ) -> ChannelNotPermittedError | UnknownChannelError | None:
        """Return the error for publishing to a channel, or None if it is allowed."""
        if channel_id == THINKING:
            return _not_permitted(channel_id, "nothing is published where thoughts are")
        channel = self._known.get(channel_id)
        if channel is None:
            return UnknownChannelError(data={"channelId": channel_id})
        if channel.direction == "inbound":
            return _not_permitted(channel_id, "messages only come in there")
        return None

    def incoming_problem(self, channel_id: str) -> str | None:
        """Return why no message can come in on a channel, as a clause, or None if one can."""
        channel = self._known.get(channel_id)
        if channel is None:
            return "unknown channel: register it first"
        return "messages only go out on that channel" if channel.direction == "outbound" else None

    def _problem(self, channel: ChannelDescriptor, came: set[str]) -> str | None:
        channel_id = channel.id
        if not 0 < len(channel_id) <= LABEL_SIZE or channel_id == THINKING:
            return (
                f"/id: expected an id of 1 to {LABEL_SIZE} characters that is not {THINKING!r}, "
                f"got {channel_id!r:.60}"
            )
        if channel_id in came:
            return f"/id: {_again(channel_id)}"
        if channel_id not in self._known and len(self._known) >= MOST_CHANNELS:
            return f"/id: expected at most {MOST_CHANNELS} channels"
        problem = _size_problem(channel)
        return None if problem is None else f": {problem}"


def sees(feature_set: str, channel_id: str) -> bool:
    """Return whether an observing set may see a channel, with regard to thoughts."""
    return (feature_set == THINKING_SET) is (channel_id == THINKING)


def _again(channel_id: str) -> str:
    return f"expected an id that no other channel has, got {channel_id!r:.60} again"


def _size_problem(channel: ChannelDescriptor) -> str | None:
    size = len(text(to_wire(channel)))
    if size > CHANNEL_SIZE:
        return f"expected a channel of at most {CHANNEL_SIZE} characters, got {size}"
    return None


def _not_permitted(channel_id: str, why: str) -> ChannelNotPermittedError:
    return ChannelNotPermittedError(
        f"Channel not permitted: {channel_id:.128}: {why}", data={"channelId": channel_id}
    )
