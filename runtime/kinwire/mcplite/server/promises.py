"""Promises of a server of MCP-lite: begun here, redeemed in any process with the same records.

`rules/promises.py` decides, `open_works.py` runs the work, `signs.py` knows which processes live.
"""

from __future__ import annotations

__all__ = ("PromiseBoard",)

import math
import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import anyio

from kinwire.mcplite.rules.limits import LiteLimits
from kinwire.mcplite.rules.promise_calls import (
    checked_key,
    owner_of,
    redeem_params,
    repeatable_as,
)
from kinwire.mcplite.rules.promises import (
    TOKEN_SIZE,
    PendingPromise,
    PromiseRecord,
    Redeemed,
    Refused,
    cancelled,
    promise_meta,
    redeemed,
    repeated_token,
    token_name,
    token_of,
    unavailable,
)
from kinwire.mcplite.rules.results import failure_body, text_content
from kinwire.mcplite.server.open_works import OpenWorks
from kinwire.mcplite.server.promise_records import PromiseRecords, RepeatedCall
from kinwire.mcplite.server.source import Put, ToolRun
from kinwire.mcplite.server.work import OpenWork, Perform
from kinwire.rpc.errors import RpcError
from kinwire.storage.clock import Clock
from kinwire.storage.errors import StorageError
from kinwire.storage.records import Records
from kinwire_protocols.base import JsonObject
from kinwire_protocols.jsonrpc.errors import InvalidParamsError

_OVER = 0.1  # seconds before a deadline at which a promise is given
_PART = 0.25  # or this part of what is left, if it is less
_STORED_WITHIN = 5.0  # seconds that an answer waits for the store


@dataclass(frozen=True, slots=True)
class _Asker:
    """Who waits for the work of a call, and how."""

    run: ToolRun
    token: str
    """Of the promise, if it has one already."""
    after: float | None
    """After how many seconds it gets a promise; None for never."""
    send: Put | None
    """Takes the parts; None to have one result."""

    @property
    def patience(self) -> float:
        """How many seconds it waits for the result."""
        if self.after is None:
            return math.inf
        patience = math.inf if self.send is not None else self.after
        deadline = self.run.caller.deadline
        if deadline is None:
            return patience
        left = deadline - anyio.current_time()
        return max(0.0, min(patience, left - min(_OVER, left * _PART)))


class PromiseBoard:
    """Begins work that may be promised, and redeems promises."""

    def __init__(
        self,
        records: Records | None,
        limits: LiteLimits,
        *,
        clock: Clock = time.time,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        """Keep promises in `records`; without them they are in memory, for this process alone."""
        self._store = PromiseRecords(records, clock)
        self._limits, self._sleep = limits, sleep
        self.works = OpenWorks(self._store, limits, is_shared=records is not None, sleep=sleep)

    async def answer(
        self, run: ToolRun, perform: Perform, *, after: float | None, send: Put | None
    ) -> JsonObject:
        """Return the result of a tool, or a promise if it takes longer than `after` seconds.

        It is never a promise if `after` is None. With an idempotency key in the `_meta` of the
        call, a repetition gets what comes of the first call. Parts go to `send`; then it waits for
        the end, or for the deadline of the caller.

        Raises:
            ToolError: there are too many promises.
            RpcError: an error of the protocol.
            StorageError: the promise cannot be stored.
        """
        owner = owner_of(run.caller.principal)
        key = run.call.meta.get("idempotency_key")
        if key is not None:
            return await self._repeatable(run, perform, checked_key(key), owner, after, send)
        work = self.works.begin(run, perform, owner)
        return await self._attended(work, _Asker(run, "", after, send))

    async def redeem(self, run: ToolRun, send: Put | None) -> JsonObject:
        """Return what `redeem` answers: the final result, or another promise (section 3.6).

        With `send` it waits for the end, and sends the parts until then. All tokens that cannot be
        redeemed get the same failure after the same time.

        Raises:
            InvalidParamsError: the arguments are not those of `redeem`.
            StorageError: the records cannot be used.
        """
        started = anyio.current_time()
        params = redeem_params(run.call.arguments)
        name, owner = token_name(params.promise), owner_of(run.caller.principal)
        if params.action == "cancel":
            made = await self._cancelled(name, owner)
        else:
            asker = _Asker(run, params.promise, 0.0, send)
            made = await self._redeemed(name, owner, asker)
        if made is not None:
            return made
        passed = anyio.current_time() - started
        await self._sleep(max(0.0, self._limits.refusal_time - passed))
        return failure_body(unavailable())

    async def _attended(self, work: OpenWork, asker: _Asker) -> JsonObject:
        if asker.after is None or asker.send is not None:
            work.go.set()
        try:
            await _wait(work, asker)
            if not work.over.is_set() and asker.after is not None:
                return await self._promise(work, asker)
            await work.over.wait()
        except BaseException:
            if not asker.token and work.record is None:
                work.cancel()  # nobody has a token for it
            raise
        finally:
            work.go.set()
        if work.key is not None:  # a repetition must find it
            await self.works.stored(work, _STORED_WITHIN)
            self.works.fetched(work.name)
        return _outcome_of(work)

    async def _promise(self, work: OpenWork, asker: _Asker) -> JsonObject:
        """Return a promise for work that is not over; its record is written first."""
        token = asker.token or _new_token()
        if work.record is None:
            async with work.turn:
                if work.over.is_set():
                    return _outcome_of(work)
                await self.works.record(work, token_name(token))
        assert work.record is not None
        return self._promise_body(work.record, token)

    def _promise_body(self, record: PromiseRecord, token: str) -> JsonObject:
        meta = promise_meta(record, token, now=self._store.now(), limits=self._limits)
        return {"_meta": meta}

    # -- calls with an idempotency key --

    async def _repeatable(
        self,
        run: ToolRun,
        perform: Perform,
        key: str,
        owner: str,
        after: float | None,
        send: Put | None,
    ) -> JsonObject:
        place, call = repeatable_as(run.call, owner, key)
        await self.works.claims.clear(place)
        known = await self._store.repeated(place)
        if known is None:
            known = RepeatedCall(call, _new_token())
            token = repeated_token(known.nonce, owner, key)
            work = await self.works.claim(run, perform, owner, token_name(token), place, known)
            if work is not None:
                return await self._attended(work, _Asker(run, token, after, send))
            known = await self._store.repeated(place) or known
        if known.call != call:
            raise InvalidParamsError(
                "_meta#/idempotency_key: expected a key that is new, or the same call again, got "
                "another call. Use a new key for each call."
            )
        asker = _Asker(run, repeated_token(known.nonce, owner, key), after, send)
        return await self._joined(owner, asker)

    async def _joined(self, owner: str, asker: _Asker) -> JsonObject:
        name = token_name(asker.token)
        work = self.works.open.get(name)
        if work is not None:
            return await self._attended(work, asker)
        made = await self._redeemed(name, owner, asker)
        return failure_body(unavailable()) if made is None else made

    # -- redeeming --

    async def _redeemed(self, name: str, owner: str, asker: _Asker) -> JsonObject | None:
        """Return the final result, or a promise if it is not there in time; None if refused."""
        while True:
            decision = await self._decided(name, owner)
            if isinstance(decision, Refused):
                return None
            if isinstance(decision, Redeemed):
                return decision.result
            record = decision.record
            if asker.patience <= 0:
                return self._promise_body(record, asker.token)
            await self._await_change(name, record, asker)

    async def _await_change(self, name: str, record: PromiseRecord, asker: _Asker) -> None:
        """Wait until there may be news of a promise, at most until it expires."""
        left = max(0.0, min(record.expires_at - self._store.now(), asker.patience))
        work = self.works.open.get(name)
        if work is None:
            await self._store.wait(name, record, min(left, self._limits.poll))
        elif asker.send is not None:
            await work.follow(asker.send, left)
            await self.works.stored(work, left)
        else:
            await self.works.stored(work, left)

    async def _decided(self, name: str, owner: str) -> Refused | PendingPromise | Redeemed:
        try:
            return await self._decided_by_store(name, owner)
        except StorageError:
            self.works.store_is_away()
            raise

    async def _decided_by_store(self, name: str, owner: str) -> Refused | PendingPromise | Redeemed:
        while True:
            found = await self._store.find(name)
            record, revision = (None, 0) if found is None else found
            decision = redeemed(record, owner, now=self._store.now(), limits=self._limits)
            if isinstance(decision, PendingPromise):
                lost = await self.works.lost(name, decision.record)
                if lost is None:
                    return decision
                await self._store.write(name, lost, revision)
            elif isinstance(decision, Redeemed) and decision.write is not None:
                if await self._store.write(name, decision.write, revision) is not None:
                    self.works.fetched(name)
                    return decision
            else:
                return decision

    async def _cancelled(self, name: str, owner: str) -> JsonObject | None:
        """Cancel a promise; return its result if it was over, None if it is refused."""
        while True:
            decision = await self._decided(name, owner)
            if isinstance(decision, Refused):
                return None
            if isinstance(decision, Redeemed):
                return decision.result
            if await self._cancel(name, decision.record):
                return {"content": text_content("The promise is cancelled.")}

    async def _cancel(self, name: str, record: PromiseRecord) -> bool:
        found = await self._store.find(name)
        given_up = cancelled(record)
        if found is None or found[0] != record or given_up is None:
            return False
        if await self._store.write(name, given_up, found[1]) is None:
            return False
        await self.works.cancel(name, record.worker)
        return True


async def _wait(work: OpenWork, asker: _Asker) -> None:
    if asker.send is None:
        await work.wait(asker.patience)
    else:
        await work.follow(asker.send, asker.patience)


def _outcome_of(work: OpenWork) -> JsonObject:
    """Return what came of work that is over.

    Raises:
        RpcError: it ended by this error.
    """
    if isinstance(work.outcome, RpcError):
        raise work.outcome
    return failure_body(unavailable()) if work.outcome is None else work.outcome


def _new_token() -> str:
    return token_of(secrets.token_bytes(TOKEN_SIZE))
