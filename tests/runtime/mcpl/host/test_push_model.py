"""The inbox of a host against a dull model: each event is handed over as often as it must be."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from kinwire.mcpl import PushedEvent
from kinwire.mcpl.host.event_inbox import EventInbox
from kinwire.mcpl.rules.content import blocks_of
from kinwire.mcpl.rules.push import REUSED
from kinwire_protocols.mcpl import PushEventParams, PushEventPayload, PushEventResult
from tests.runtime.mcpl.fixtures_long_runs import BRIEF, long_run

pytestmark = pytest.mark.spec("mcpl-9.4-1")

WINDOW = 86_400
BUSY = PushEventResult(accepted=False, reason="busy")


class Sender:
    """As much of a server as an inbox needs to know."""

    def __init__(self, id: str) -> None:
        self.id = self.key = id


class InboxAgainstModel(RuleBasedStateMachine):
    """The model keeps every event that was ever handed over, and how that ended."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.Runner()
        self.now, self.behaviour, self.seconds = 0.0, "takes", count()
        self.handed: list[PushedEvent] = []
        self.senders = {name: Sender(name) for name in "ab"}
        self.real = EventInbox(self._take, 0.001, 1e9, None, lambda: self.now)
        # By server and event: its body, the answer if there was one, and when it was written down.
        self.model: dict[tuple[str, str], tuple[str, PushEventResult | None, float]] = {}

    async def _take(self, event: PushedEvent) -> PushEventResult:
        self.handed.append(event)
        if self.behaviour == "fails":
            raise RuntimeError("it failed")
        if self.behaviour == "hangs":
            await asyncio.sleep(3600)
        if self.behaviour == "refuses":
            return BUSY
        return PushEventResult(accepted=True, inference_id=f"inf_{len(self.handed)}")

    def teardown(self) -> None:
        self.loop.close()

    @rule(hours=st.integers(1, 20))
    def wait(self, hours: int) -> None:
        self.now += hours * 3600

    @rule(
        server=st.sampled_from("ab"),
        event=st.sampled_from("xyz"),
        body=st.sampled_from("12"),
        behaviour=st.sampled_from(["takes", "takes", "refuses", "fails", "hangs"]),
        times=st.integers(1, 3),
    )
    def push(self, server: str, event: str, body: str, behaviour: str, times: int) -> None:
        self.behaviour = behaviour
        for _time in range(times):
            self.push_once(server, event, body)

    def push_once(self, server: str, event: str, body: str) -> None:
        self.handed.clear()
        known = self.model.get((server, event))
        if known is not None and self.now - known[2] >= WINDOW:
            known = None
        answer = self.loop.run(self.answered(server, event, body))
        if known is not None and known[0] != body:
            assert (answer, self.handed) == (REUSED, [])
        elif known is not None and known[1] is not None:
            assert (answer, self.handed) == (known[1], [])
        else:
            (handed,) = self.handed
            assert handed.again is (known is not None)
            self.remember(server, event, body, answer)

    def remember(self, server: str, event: str, body: str, answer: Any) -> None:
        if self.behaviour == "hangs":  # nobody knows what became of it
            self.model[server, event] = (body, None, self.now)
        elif self.behaviour == "takes":
            assert answer.accepted
            self.model[server, event] = (body, answer, self.now)
        else:  # it was not taken: it may come again as new, also as another
            assert answer == (BUSY if self.behaviour == "refuses" else "it failed")
            self.model.pop((server, event), None)

    async def answered(self, server: str, event: str, body: str) -> Any:
        params = PushEventParams(
            feature_set="s",
            event_id=event,
            timestamp=f"2026-01-23T14:00:{next(self.seconds) % 60:02}Z",  # means nothing
            payload=PushEventPayload(content=blocks_of(body)),
        )
        sender: Any = self.senders[server]
        try:
            return await self.real.take(sender, params)
        except RuntimeError as error:
            return str(error)


TestInbox = InboxAgainstModel.TestCase
TestInbox.settings = BRIEF
TestInboxAtLength = long_run(InboxAgainstModel)
