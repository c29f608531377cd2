"""State of servers: sent with tool calls, stored with their results, rolled back (MCPL 8).

`rules/checkpoint_tree.py` has the trees. One record is written for each checkpoint, and one for the
head. A checkpoint is written before what refers to it, so the process may end at any moment.
"""

from __future__ import annotations

__all__ = ("ServerState", "StateMode", "StatefulCalls", "States", "StoredTree")

import logging
from typing import Any, Literal

import anyio
from pydantic import MISSING, ValidationError

from kinwire.mcp.extension import Next
from kinwire.mcpl.errors import StateNotRecordedError, StateRefusedError
from kinwire.mcpl.host.tool_sets import ToolSets
from kinwire.mcpl.rules.checkpoint_tree import CheckpointTree, StateError
from kinwire.mcpl.rules.checkpoints import Checkpoint
from kinwire.mcpl.rules.feature_sets import FeatureSets
from kinwire.rpc.errors import CapabilityNotNegotiatedError, InvalidResponseError
from kinwire.rpc.session import Session
from kinwire.storage.records import Record, Records
from kinwire.support.json_values import short_digest
from kinwire_protocols import mcp, mcpl
from kinwire_protocols.base import JsonObject, from_wire, to_wire
from kinwire_protocols.mcp.methods import TOOLS_CALL
from kinwire_protocols.mcpl.augments import (
    TOOLS_CALL_PARAMS_CHECKPOINT,
    TOOLS_CALL_PARAMS_STATE,
    TOOLS_CALL_RESULT_STATE,
)
from kinwire_protocols.mcpl.methods import STATE_ROLLBACK
from kinwire_protocols.mcpl.models import RollbackResult, StateUpdate
from kinwire_protocols.peer import Method
from kinwire_protocols.problems import problems

logger = logging.getLogger("kinwire.mcpl")

StateMode = Literal["tree", "latest", "none"]


class States:
    """The checkpoint trees of one host, by key of the server and feature set."""

    def __init__(self, mode: StateMode, records: Records | None) -> None:
        self.mode = mode
        self._records = records
        self._trees: dict[tuple[str, str], StoredTree] = {}
        self._turn = anyio.Lock()

    async def of(self, server: str, feature_set: str) -> StoredTree:
        """Return the tree of a set, loaded from the records if this process has not used it yet."""
        stored = self._trees.get((server, feature_set))
        if stored is not None:
            return stored
        async with self._turn:
            stored = self._trees.get((server, feature_set))
            if stored is None:
                place = f"state/{server}/{short_digest(feature_set)}/"
                tree = CheckpointTree() if self.mode == "tree" else CheckpointTree(checkpoints=1)
                stored = StoredTree(tree, self._records, place)
                await stored.load()
                self._trees[server, feature_set] = stored
            return stored

    def forget(self, server: str) -> None:
        """Remove the trees of a server from the memory of this process."""
        for key in [key for key in self._trees if key[0] == server]:
            del self._trees[key]


class StoredTree:
    """The checkpoint tree of one set of one server, with its copy in records."""

    def __init__(self, tree: CheckpointTree, records: Records | None, place: str) -> None:
        self.tree = tree
        self.turns = 0
        """How often the head was moved by a rollback: a call sent before it does not move it."""
        self._records = records
        self._place = place
        self._unwritten: set[str] = set()  # writing them failed: children write all
        self._turn = anyio.Lock()

    async def load(self) -> None:
        """Load the records."""
        if self._records is None:
            return
        found = [record async for record in self._records.scan(f"{self._place}checkpoint/")]
        for record in sorted(found, key=_order_of):
            self._restore(record)
        head = await self._records.get(f"{self._place}head")
        if head is not None and isinstance(head.value, str) and head.value in self.tree:
            self.tree.head = head.value

    async def record(self, update: StateUpdate, *, base: str | None, turns: int) -> None:
        """Record the checkpoint of a call; return when it is written.

        `base` and `turns` are the head and `turns` as they were when the call was sent.

        Raises:
            StateError: the checkpoint is invalid; nothing has changed.
            StorageError: it is recorded, but could not be written.
        """
        async with self._turn:
            recorded = self.tree.record(update, base=base, advance=turns == self.turns)
            if recorded.warning is not None:
                logger.warning("checkpoint %.60r: %s", update.checkpoint, recorded.warning)
            if self._records is None:
                return
            if recorded.is_new:
                self._unwritten.add(update.checkpoint)
                patch = None if recorded.warning else update.patch
                await self._write(recorded.checkpoint, patch)
            for child in recorded.rebased:
                await self._write(child, None)
            await self._write_head()
            for gone in recorded.pruned:
                await self._records.delete(self._key(gone.id))
                self._unwritten.discard(gone.id)

    async def put_head(self, checkpoint: str | None) -> None:
        """Let the next call build on a checkpoint, or on no state."""
        async with self._turn:
            self.turns += 1
            if checkpoint is None:
                self.tree.head = None
            else:
                is_new = checkpoint not in self.tree
                self.tree.roll_back(checkpoint)
                if is_new:
                    await self._write(self.tree[checkpoint], None)
            await self._write_head()

    async def _write_head(self) -> None:
        if self._records is not None:
            await self._records.put(f"{self._place}head", self.tree.head)

    async def _write(self, checkpoint: Checkpoint, patch: list[Any] | None) -> None:
        if self._records is None:
            return
        value: JsonObject = {
            "checkpoint": checkpoint.id,
            "parent": checkpoint.parent,
            "order": checkpoint.order,
        }
        if patch is not None and checkpoint.parent not in self._unwritten:
            value["patch"] = [to_wire(one) for one in patch]
        elif checkpoint.data is not MISSING:
            value["data"] = checkpoint.data
        await self._records.put(self._key(checkpoint.id), value)
        self._unwritten.discard(checkpoint.id)

    def _restore(self, record: Record) -> None:
        try:
            members = dict(record.value)
            order = members.pop("order")
            self.tree.restore(from_wire(StateUpdate, members), order)
        except (KeyError, TypeError, ValueError) as error:
            logger.warning("checkpoint %.80r is left out: %s", record.key, error)

    def _key(self, checkpoint: str) -> str:
        return f"{self._place}checkpoint/{short_digest(checkpoint)}"


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
        """Ask the server to return to a checkpoint, and return its answer.

        If it succeeds, the next call builds on that checkpoint.

        Raises:
            CheckpointNotFoundError: the server no longer has it.
            StorageError: both sides have returned to it, but the host could not write that.
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
        """Let the next call build on no state: for a server that has lost the head."""
        await self._stored.put_head(None)


class StatefulCalls:
    """Adds state to the tool calls of one server, and records the state of their results."""

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
        reason = self._denial_reason(feature_set)
        if reason is not None:
            raise CapabilityNotNegotiatedError(STATE_ROLLBACK.name, None, reason)
        stored = await self._states.of(self._session.identity.key, feature_set)
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
        stored = await self._states.of(self._session.identity.key, feature_set)
        base, turns = stored.tree.head, stored.turns
        result = await go_on(_with_state(params, stored.tree))
        try:
            await _record(stored, params.name, result, base=base, turns=turns)
        except StateRefusedError:
            raise
        except Exception as error:
            raise StateNotRecordedError(params.name, result) from error
        return result

    async def _set_of(self, tool: str) -> str | None:
        """Return the set whose state a tool uses: its own, else the only one with `rollback`."""
        marked = await self._tools.declared_of(tool, self._sets)
        if marked is not None:
            return marked
        stateful = [name for name, one in self._sets.declared.items() if one.rollback]
        return stateful[0] if len(stateful) == 1 else None

    def _denial_reason(self, feature_set: str) -> str | None:
        declared = self._sets.declared.get(feature_set)
        if declared is None or not declared.rollback:
            return f"the server does not declare rollback for {feature_set:.60}"
        if self._states.mode != "tree":
            return "this host keeps no checkpoints to return to"
        return None


async def _record(
    stored: StoredTree, tool: str, result: mcp.CallToolResult, *, base: str | None, turns: int
) -> None:
    """Record the state in the result of a tool call."""
    try:
        update = TOOLS_CALL_RESULT_STATE.read(result)
        if update is not None:
            await stored.record(update, base=base, turns=turns)
    except ValidationError as error:
        state = to_wire(result).get("state")
        raise StateRefusedError(tool, f"{problems(error, state)[0]}", result) from None
    except StateError as error:
        raise StateRefusedError(tool, str(error), result) from None


def _order_of(record: Record) -> int:
    """Return when a checkpoint was recorded; 0 if the record does not say."""
    try:
        return int(record.value["order"])
    except (KeyError, TypeError, ValueError):
        return 0


def _with_state(
    params: mcp.CallToolRequestParams, tree: CheckpointTree
) -> mcp.CallToolRequestParams:
    """Return the params with the state, or with the checkpoint if the server keeps the state."""
    if tree.head is None:
        return params
    if tree.data is not MISSING:
        return TOOLS_CALL_PARAMS_STATE.write(params, tree.data)
    return TOOLS_CALL_PARAMS_CHECKPOINT.write(params, tree.head)
