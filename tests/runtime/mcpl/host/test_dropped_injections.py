"""Injections that the host does not use are reported, each by an event of its own."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from kinwire import Host
from kinwire.mcpl import Hooks, InjectionLimits, McplHost
from kinwire.storage import open_store
from kinwire_protocols import mcp, mcpl
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcpl.methods import CONTEXT_BEFORE_INFERENCE
from tests.runtime.mcpl.fixtures_hooks import BEFORE, Speaker, before, hooked, texts
from tests.runtime.mcpl.fixtures_pairs import raw_server

pytestmark = [pytest.mark.anyio, pytest.mark.spec("mcpl-13.4-1")]

SOUND = mcpl.AudioBlock(data="AAAA", mime_type="audio/wav")


async def dropped(speaker: Speaker, hooks: Hooks, *, used: list[str]) -> list[dict[str, Any]]:
    """Ask a speaker, and return the events of what was not used."""
    async with open_store("memory:") as store:
        log = await store.log("audit")
        async with hooked(speaker, hooks=hooks, audit=log) as live:
            found = await live.before_inference(before())
        assert texts(found.system) == used
        written = [one.value for one in await log.read()]
    events = [one for one in written if one["sender"] == "server"]
    assert len(written) == len(events) + 2  # the update of sets, and the hook as a whole
    for one in events:
        assert one["method"] == "context/beforeInference"
        assert (one["serverId"], one["inferenceId"]) == (speaker.name, "inf_1")
    return events


def placed(position: Any, content: Any = "x") -> mcpl.ContextInjection:
    return mcpl.ContextInjection(namespace="facts", position=position, content=content)


def refuse(injection: Any) -> bool:
    return not any("Ignore" in text for text in texts([injection]))


def judge(injection: Any) -> bool:
    raise ValueError("the list of words is gone")


LARGE = InjectionLimits(size=10, hook_size=12)
ONLY_SYSTEM = InjectionLimits(positions={"*": frozenset({"system"})})
ONLY_TEXT = InjectionLimits(types=frozenset({"text"}))
DROPPED = [
    pytest.param(["fine", "x" * 11], Hooks(limits=LARGE), "more than 10", id="over its size"),
    pytest.param(["fine", "x" * 9], Hooks(limits=LARGE), "more than 12", id="over the hook's size"),
    pytest.param(
        ["fine", placed("afterUser")],
        Hooks(limits=ONLY_SYSTEM),
        "'facts' at afterUser: memory.all may not inject at afterUser",
        id="a place it may not have",
    ),
    pytest.param(["fine", "Ignore it"], Hooks(accept=refuse), "does not accept", id="not accepted"),
    pytest.param(
        ["fine", [mcp.TextContent(text="and"), SOUND]],
        Hooks(limits=ONLY_TEXT),
        "a block of type audio of an injection of 'memory' at system: it has nothing",
        id="a block that is not supported",
    ),
    pytest.param(
        ["fine", [mcp.TextContent(text="and"), mcpl.ResourceBlock(uri="memory://gone")]],
        Hooks(),
        "a block of type resource",
        id="a resource that there is not",
    ),
    pytest.param(
        ["fine", [mcp.TextContent(text="and"), mcpl.ImageBlock(uri="https://a.example/s3cret")]],
        Hooks(),
        "a block of type image of an injection of 'memory' at system: the host fetches nothing",
        id="an address without a guard",
    ),
]


@pytest.mark.parametrize(("brought", "hooks", "why"), DROPPED)
async def test_what_is_dropped_is_an_event_that_says_why(
    brought: list[Any], hooks: Hooks, why: str
) -> None:
    speaker = Speaker("memory")
    speaker.before = brought
    used = ["fine", "and"] if isinstance(brought[1], list) else ["fine"]
    (event,) = await dropped(speaker, hooks, used=used)
    assert event["reason"].startswith("left out ")
    assert why in event["reason"]
    assert (event["featureSet"], event["outcome"]) == ("memory.all", "failure")
    assert "s3cret" not in str(event)


async def test_what_could_not_be_judged_is_not_used() -> None:
    speaker = Speaker("memory")
    speaker.before = ["one", "two"]
    events = await dropped(speaker, Hooks(accept=judge), used=[])
    assert ["could not judge it" in one["reason"] for one in events] == [True, True]


async def test_a_server_that_brings_much_that_is_dropped_does_not_fill_the_log() -> None:
    speaker = Speaker("memory")
    speaker.before = ["x" * 11] * 150
    events = await dropped(speaker, Hooks(limits=LARGE), used=[])
    assert len(events) == 101
    assert events[-1]["reason"] == "left out 50 more"


async def test_what_names_a_set_that_may_not_say_it_is_dropped() -> None:
    offer = {
        "contextHooks": {"beforeInference": True},
        "featureSets": {"m.all": {"description": "M", "uses": [BEFORE]}},
    }

    async def recall(params: Any, request: Any) -> JsonObject:
        known = {"namespace": "n", "position": "system", "content": "Known"}
        return {"featureSet": "m.all", "contextInjections": [known, {**known, "featureSet": "z"}]}

    async with open_store("memory:") as store:
        log = await store.log("audit")
        live = McplHost(enabled=["*"], audit=log)
        async with (
            raw_server(offer, {CONTEXT_BEFORE_INFERENCE: recall}) as raw,
            Host("h", "1", extensions=[live]) as opened,
        ):
            await opened.connect(raw.transport)
            assert texts((await live.before_inference(before())).system) == ["Known"]
        (event,) = [one.value for one in await log.read() if one.value["sender"] == "server"]
    assert "contextInjections/1: " in event["reason"]
    assert "Unknown feature set" in event["reason"]


async def test_what_is_read_too_late_is_dropped_and_what_was_there_is_used() -> None:
    speaker = Speaker("memory")

    @speaker.server.resource("memory://slow")
    async def slow() -> str:
        """A fact that nobody remembers."""
        await anyio.sleep_forever()
        return ""

    speaker.before = ["fine", [mcpl.ResourceBlock(uri="memory://slow")], "behind it"]
    events = await dropped(speaker, Hooks(before_timeout=0.1), used=["fine"])
    assert [one["outcome"] for one in events] == ["timeout", "timeout"]
    assert all(one["reason"].endswith("it was late") for one in events)
