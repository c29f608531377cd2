"""State in a server's tools: the state of a call, and the checkpoint after it (MCPL 8).

`save` makes a checkpoint of the state after the call, and sends a patch or the data, whichever is
smaller. The host keeps the state, so the server needs no store: it recognizes its checkpoints by
the form of their ids, even after a restart.
"""

from __future__ import annotations

__all__ = ("CallState", "ServedState")

import secrets
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from pydantic import MISSING

from kinwire.mcp.extension import Next
from kinwire.mcpl.rules.checkpoint_tree import must_fit
from kinwire.mcpl.rules.json_diff import patch_between
from kinwire.mcpl.rules.json_patch import MOST_OPERATIONS
from kinwire.rpc.codec import Id
from kinwire.rpc.request import Request
from kinwire.rpc.session import Session
from kinwire.support.bounded import LruDict
from kinwire.support.json_values import digest, strict_text, text
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject, from_wire
from kinwire_protocols.mcp.methods import TOOLS_CALL
from kinwire_protocols.mcpl.augments import (
    TOOLS_CALL_PARAMS_CHECKPOINT,
    TOOLS_CALL_PARAMS_STATE,
    TOOLS_CALL_RESULT_STATE,
)
from kinwire_protocols.mcpl.errors import CheckpointNotFoundError
from kinwire_protocols.mcpl.models import FeatureSet, RollbackParams, RollbackResult, StateUpdate

_MOST_INDEXED = 1000  # checkpoints of a feature set in one session


class CallState:
    """The state of one tool call. Get it from `McplServer.state_of(context)`."""

    def __init__(
        self, index: CheckpointIndex | None, params: mcp.CallToolRequestParams | None
    ) -> None:
        self._index = index
        self.given: Any = MISSING
        """The state that the host has sent; MISSING if it has sent none."""
        self.checkpoint: str | None = None
        """The checkpoint that the call builds on, if the server keeps the state itself."""
        self.update: StateUpdate | None = None
        """The update that is sent with the result."""
        if params is not None:
            self.given = TOOLS_CALL_PARAMS_STATE.read(params)
            if self.given is MISSING:
                self.checkpoint = TOOLS_CALL_PARAMS_CHECKPOINT.read(params)

    def save(self, after: Any) -> None:
        """Save the state after the call at the host, as a new checkpoint.

        Raises:
            ValueError: `after` is not JSON, or has more than 4 MiB as JSON or more than 60 levels:
                hosts would refuse it.
        """
        if self._index is None:
            return  # a host that speaks only MCP keeps no state
        self.update = self._index.checkpoint(self.given, after)

    def note(self, checkpoint: str, parent: str | None = None) -> None:
        """Send a checkpoint whose state the server keeps itself."""
        if self._index is not None:
            self.update = StateUpdate(checkpoint=checkpoint, parent=parent or self.checkpoint)


class CheckpointIndex:
    """The checkpoints of one host and feature set, by the digest of their state."""

    def __init__(self, feature_set: str) -> None:
        self._feature_set = feature_set
        self._ids = LruDict[str, str](_MOST_INDEXED)  # digest -> latest id
        self._current: tuple[str, str] | None = None

    def checkpoint(self, before: Any, after: Any) -> StateUpdate:
        """Return the checkpoint that follows `before`."""
        try:
            whole = strict_text(after)
        except ValueError as error:
            raise ValueError(f"state: {error}. Save what is to be kept as text.") from None
        must_fit("state", after, len(whole.encode("utf-8", "surrogatepass")))
        made: JsonObject = {"checkpoint": self._new_id()}
        if before is MISSING:
            made |= {"parent": None, "data": after}
        else:
            parent = self._id_of(digest(before))
            if parent is not None:  # else the host knows the parent
                made["parent"] = parent
            patch = patch_between(before, after)
            smaller = len(text(patch)) < len(whole) and len(patch) <= MOST_OPERATIONS
            made |= {"patch": patch} if smaller else {"data": after}
        self._keep(digest(after), made["checkpoint"])
        return from_wire(StateUpdate, made)

    def returned_to(self, checkpoint: str) -> bool:
        """Return to a checkpoint; return False if it is not one of this set."""
        nonce, _, check = checkpoint.removeprefix("chk_").rpartition("-")
        if check != self._check(nonce) or not checkpoint.startswith("chk_"):
            return False
        found = [key for key in self._ids if self._ids.peek(key) == checkpoint]
        self._current = (found[0], checkpoint) if found else None
        return True

    def _id_of(self, content: str) -> str | None:
        if self._current is not None and self._current[0] == content:
            return self._current[1]
        return self._ids.get(content)

    def _keep(self, content: str, checkpoint: str) -> None:
        self._ids.put(content, checkpoint)
        self._current = (content, checkpoint)

    def _new_id(self) -> str:
        nonce = secrets.token_hex(8)
        return f"chk_{nonce}-{self._check(nonce)}"

    def _check(self, nonce: str) -> str:
        return sha256(f"{self._feature_set}/{nonce}".encode()).hexdigest()[:8]


class ServedState:
    """The state of the tool calls of one host."""

    def __init__(
        self, session: Session, declared: Mapping[str, FeatureSet], tools: Mapping[str, str]
    ) -> None:
        self._declared = declared
        self._tools = tools
        self._indexes: dict[str, CheckpointIndex] = {}
        self._calls: dict[Id | None, CallState] = {}  # a call always has an id
        session.intercept_inbound(self._serve, TOOLS_CALL)

    def of(self, request_id: Id | None) -> CallState | None:
        """Return the state of a pending call."""
        return self._calls.get(request_id)

    async def roll_back(self, params: RollbackParams) -> RollbackResult:
        """Return to a checkpoint whose state the host keeps and sends with the next call."""
        if not self._of(params.feature_set).returned_to(params.checkpoint):
            raise CheckpointNotFoundError(data={"checkpoint": params.checkpoint})
        return RollbackResult(checkpoint=params.checkpoint, success=True)

    async def _serve(
        self,
        params: mcp.CallToolRequestParams,
        request: Request,
        go_on: Next[mcp.CallToolRequestParams, mcp.CallToolResult],
    ) -> mcp.CallToolResult:
        feature_set = self._set_of(params.name)
        if feature_set is None:
            return await go_on(params)
        state = self._calls[request.id] = CallState(self._of(feature_set), params)
        try:
            result = await go_on(params)
        finally:
            del self._calls[request.id]
        if state.update is None:
            return result
        return TOOLS_CALL_RESULT_STATE.write(result, state.update)

    def _set_of(self, tool: str) -> str | None:
        """Return the set of a tool, or else the only set with `rollback`."""
        if tool in self._tools:
            return self._tools[tool]
        stateful = [name for name, one in self._declared.items() if one.rollback]
        return stateful[0] if len(stateful) == 1 else None

    def _of(self, feature_set: str) -> CheckpointIndex:
        return self._indexes.setdefault(feature_set, CheckpointIndex(feature_set))
