"""Opens the channels that servers register, as the policy of the host says (MCPL 14.3)."""

from __future__ import annotations

__all__ = ("ChannelOpener", "MayOpen")

import logging
from collections.abc import Callable, Iterable, Sequence

from kinwire.mcpl.host.server_peer import ServerPeer
from kinwire.rpc.errors import KinwireError, RpcError
from kinwire.support.patterns.server_channels import ChannelPattern
from kinwire.support.sanitize import sanitize_for_log
from kinwire_protocols.mcpl.methods import CHANNELS_OPEN
from kinwire_protocols.mcpl.models import ChannelDescriptor

logger = logging.getLogger("kinwire.mcpl")

MayOpen = Callable[[ServerPeer, ChannelDescriptor], bool]
"""Returns whether a channel that a server has registered is opened."""


class ChannelOpener:
    """Opens channels when they are registered, each once in a session."""

    def __init__(self, policy: Sequence[str] | MayOpen) -> None:
        """Compile the patterns.

        Raises:
            ValueError: a pattern is invalid.
        """
        self._may_open = policy if callable(policy) else _matching(policy)

    def registered(self, server: ServerPeer, channels: Iterable[ChannelDescriptor]) -> None:
        """Open those of new channels that the policy names, in the background."""
        if server.session.denial_reason(CHANNELS_OPEN) is not None:
            return
        chosen = [one for one in channels if self._is_chosen(server, one)]
        server.channels.opened |= {one.id for one in chosen}

        async def open_each() -> None:
            for channel in chosen:
                await _open(server, channel)

        if chosen:
            server.session.start_soon(open_each)

    def _is_chosen(self, server: ServerPeer, channel: ChannelDescriptor) -> bool:
        if (
            channel.id in server.channels.opened
            or server.channels.registry.find(channel.id) is None
        ):
            return False
        try:
            return self._may_open(server, channel)
        except Exception:
            logger.exception("%s: Channels.open failed for %.60r", server.id, channel.id)
            return False


def _matching(patterns: Sequence[str]) -> MayOpen:
    compiled = [ChannelPattern.read(pattern) for pattern in patterns]

    def may_open(server: ServerPeer, channel: ChannelDescriptor) -> bool:
        server_id = server.session.identity.server_id
        return any(pattern.matches(server_id, channel.id) for pattern in compiled)

    return may_open


async def _open(server: ServerPeer, channel: ChannelDescriptor) -> None:
    try:
        await server.channels.open_registered(channel)
    except (KinwireError, RpcError) as error:
        server.channels.opened.discard(channel.id)
        name, why = sanitize_for_log(channel.id), sanitize_for_log(error)
        logger.warning("%s: %s was not opened: %s", server.id, name, why)
