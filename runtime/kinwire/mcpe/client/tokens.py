"""The tokens by which servers know this client again (MCPE 11.1)."""

from __future__ import annotations

__all__ = ("RecoveryTokens", "with_token")

import logging

from kinwire.managers.durable_map import DurableMap, text_codec
from kinwire.managers.peer_records import PeerRecords
from kinwire.mcpe.client.memory import ServerMemory
from kinwire.mcpe.rules.meta import RECOVERY_TOKEN, text_in
from kinwire.storage.errors import StorageError
from kinwire.storage.records import Records
from kinwire.support.sanitize import sanitize_for_log
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject, to_wire
from kinwire_protocols.mcp.methods import TOOLS_CALL

logger = logging.getLogger("kinwire.mcpe")


class RecoveryTokens:
    """The token of each server; with records they outlive the process.

    If those fail, calls and connections go on: the token is in memory.
    """

    def __init__(self, records: Records | None) -> None:
        kept = None if records is None else PeerRecords(records)
        self._tokens = DurableMap[str, str](
            *(kept, "mcpe/tokens/", text_codec(str, str)), limit=None
        )

    async def find_for(self, memory: ServerMemory, key: str) -> None:
        """Have the memory of a server know the token that was kept under its key."""
        if memory.token is not None:
            return
        try:
            memory.remember(await self._tokens.find(key))
        except StorageError as error:
            logger.error("the token of a server of events is not read: %s", sanitize_for_log(error))

    async def take_from(self, result: JsonObject, memory: ServerMemory, key: str) -> None:
        """Keep the token that a result has, if it is a new one."""
        if not memory.remember(text_in(result.get("_meta"), RECOVERY_TOKEN)):
            return
        try:
            await self._tokens.put(key, memory.token or "")
        except StorageError as error:
            logger.error("the token of a server of events is not kept: %s", sanitize_for_log(error))


def with_token(params: mcp.CallToolRequestParams, token: str | None) -> mcp.CallToolRequestParams:
    """Return the params of a call that says who this client is."""
    if token is None:
        return params
    meta = {} if params.meta is None else to_wire(params.meta)
    body = {**to_wire(params), "_meta": {**meta, RECOVERY_TOKEN: token}}
    return TOOLS_CALL.decode_params(body)
