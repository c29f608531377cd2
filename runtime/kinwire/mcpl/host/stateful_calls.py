"""State on its way: out with a tool call, back with its result, and rollback (MCPL 8.4 to 8.7)."""

from __future__ import annotations

__all__ = ("ServerState", "StatefulCalls")

from pydantic import MISSING, ValidationError

from kinwire.mcp.extension import Next
from kinwire.mcpl.errors import StateRefusedError
from kinwire.mcpl.host.states import States, StoredTree
from kinwire.mcpl.host.tool_sets import ToolSets
from kinwire.mcpl.rules.checkpoint_tree import CheckpointTree, StateError
from kinwire.mcpl.rules.feature_sets import FeatureSets
from kinwire.rpc.errors import CapabilityNotNegotiatedError, InvalidResponseError
from kinwire.rpc.session import Session
from kinwire_protocols import mcp, mcpl
from kinwire_protocols.base import to_wire
from kinwire_protocols.mcp.methods import TOOLS_CALL
from kinwire_protocols.mcpl.augments import (
    TOOLS_CALL_PARAMS_CHECKPOINT,
    TOOLS_CALL_PARAMS_STATE,
    TOOLS_CALL_RESULT_STATE,
)
from kinwire_protocols.mcpl.methods import STATE_ROLLBACK
from kinwire_protocols.mcpl.models import RollbackResult
from kinwire_protocols.peer import Method
from kinwire_protocols.problems import problems


class ServerState:
    """The checkpoints of one feature set of a server. Get it from `ServerPeer.state(...)`."""

    def __init__(self, session: Session, feature_set: str, stored: StoredTree) -> None:
        self._session = session
        self._feature_set = feature_set
        self._stored = stored

    @property
    def tree(self) -> CheckpointTree:
        """The checkpoints that the host keeps; `tree.render()` draws them."""
        return self._stored.tree

    async def roll_back(self, checkpoint: str) -> RollbackResult:
        """Have the server return to a checkpoint, and return what it says.

        Only if it did, the next call builds on that checkpoint.

        Raises:
            CheckpointNotFoundError: the server does not have it any more.
            RpcError, ConnectionClosedError, RequestTimeoutError, InvalidResponseError: as for
                `Session.call`.
        """
        result = await mcpl.ServerStub(self._session).state_rollback(
            feature_set=self._feature_set, checkpoint=checkpoint
        )
        if result.checkpoint != checkpoint:
            raise InvalidResponseError(
                f"state/rollback#/checkpoint: expected {checkpoint!r:.60}, "
                f"got {result.checkpoint!r:.60}. The head stays where it was."
            )
        if result.success:
            await self._stored.put_head(checkpoint)
        return result

    async def reset(self) -> None:
        """Have the next call build on nothing: for a server that has lost the head."""
        await self._stored.put_head(None)


class StatefulCalls:
    """The state of one server's sets."""

    def __init__(
        self, session: Session, sets: FeatureSets, tools: ToolSets, states: States
    ) -> None:
        self._session = session
        self._sets = sets
        self._tools = tools
        self._states = states
        if states.mode != "none":
            session.intercept_outbound(self._carry, TOOLS_CALL)

    async def of(self, feature_set: str) -> ServerState:
        """Return the checkpoints of a set.

        Raises:
            CapabilityNotNegotiatedError: the set does not declare `rollback`, or the host keeps
                no checkpoints to return to.
        """
        reason = self._why_not(feature_set)
        if reason is not None:
            raise CapabilityNotNegotiatedError(STATE_ROLLBACK.name, None, reason)
        stored = await self._states.of(self._session.peer_id, feature_set)
        return ServerState(self._session, feature_set, stored)

    async def _carry(
        self,
        params: mcp.CallToolRequestParams,
        method: Method[mcp.CallToolRequestParams, mcp.CallToolResult],
        go_on: Next[mcp.CallToolRequestParams, mcp.CallToolResult],
    ) -> mcp.CallToolResult:
        feature_set = await self._set_of(params.name)
        if feature_set is None:
            return await go_on(params)
        stored = await self._states.of(self._session.peer_id, feature_set)
        base, turns = stored.tree.head, stored.turns
        result = await go_on(_with_state(params, stored.tree))
        try:
            update = TOOLS_CALL_RESULT_STATE.read(result)
            if update is not None:
                await stored.record(update, base=base, turns=turns)
        except ValidationError as error:
            state = to_wire(result).get("state")
            raise StateRefusedError(params.name, f"{problems(error, state)[0]}", result) from None
        except StateError as error:
            raise StateRefusedError(params.name, str(error), result) from None
        return result

    async def _set_of(self, tool: str) -> str | None:
        """Return the set whose state a tool works on: as it is marked, else the only stateful."""
        marked = await self._tools.declared_of(tool, self._sets)
        if marked is not None:
            return marked
        stateful = [name for name, one in self._sets.declared.items() if one.rollback]
        return stateful[0] if len(stateful) == 1 else None

    def _why_not(self, feature_set: str) -> str | None:
        declared = self._sets.declared.get(feature_set)
        if declared is None or not declared.rollback:
            return f"the server does not declare rollback for {feature_set:.60}"
        if self._states.mode != "tree":
            return "this host keeps no checkpoints to return to"
        return None


def _with_state(
    params: mcp.CallToolRequestParams, tree: CheckpointTree
) -> mcp.CallToolRequestParams:
    """Return the params with the state, or with the checkpoint where the server keeps it."""
    if tree.head is None:
        return params
    if tree.data is not MISSING:
        return TOOLS_CALL_PARAMS_STATE.write(params, tree.data)
    return TOOLS_CALL_PARAMS_CHECKPOINT.write(params, tree.head)
