"""What the specification says of itself and its drafts, compared with two live sides."""

from __future__ import annotations

import json
import re
from typing import Any, get_args

import pytest
from jsonschema import Draft202012Validator

from kinwire import Context, Host, Server
from kinwire.mcpl import Channels, McplHost, McplServer, PushedEvent, Scopes
from kinwire_protocols import mcpl
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcpl import models
from tests.generated.messages import DOCUMENTS, validator
from tests.runtime.mcpl.fixtures_pairs import MEMORY, feature, live_pair, raw_server, sent
from tests.spec.fenced import blocks_of, values_of
from tests.spec.texts import text_of
from tests.specified import OURS

pytestmark = pytest.mark.anyio

(DOCUMENT,) = [one for one in DOCUMENTS if one.name == "mcpl"]


def headings(level: int) -> list[str]:
    return re.findall(rf"^{'#' * level} (.+)$", text_of("mcpl"), re.MULTILINE)


def offered(connection: Any) -> JsonObject:
    found: JsonObject = (connection.greeting.capabilities.experimental or {})["mcpl"]
    return found


@pytest.mark.spec("mcpl-mcp-live-mcpl-protocol-specification-1")
async def test_what_is_spoken_is_the_version_of_the_text() -> None:
    said = dict(re.findall(r"^\*\*(\w+):\*\* (.+?) *$", text_of("mcpl"), re.MULTILINE))
    assert (said["Status"], said["Date"]) == ("Draft", "March 2026")
    assert said["Version"] == mcpl.PROTOCOL.version == "0.4.1-draft"
    assert headings(1)[0].startswith(mcpl.PROTOCOL.title)
    async with live_pair(McplServer(feature_sets=MEMORY), McplHost()) as (connection, _):
        assert said["Version"].startswith(f"{offered(connection)['version']}.")


def cited(value: Any) -> set[str]:
    """Return the sections that a part of the document names as its source."""
    if isinstance(value, list):
        return set[str]().union(*map(cited, value))
    if not isinstance(value, dict):
        return set()
    own = {value["section"]} if isinstance(value.get("section"), str) else set[str]()
    return own.union(*map(cited, value.values()))


@pytest.mark.spec("mcpl-table-of-contents-1")
def test_the_protocol_covers_the_fifteen_parts_and_the_two_appendices() -> None:
    parts = [one for one in headings(2) if re.match(r"\d+\. |Appendix ", one)]
    numbers = [re.split(r"[.:] ?", one.removeprefix("Appendix "))[0] for one in parts]
    assert numbers == [*map(str, range(1, 16)), "A", "B"]
    listed = re.findall(r"^(\d+)\. \[(.+)\]\(#", text_of("mcpl"), re.MULTILINE)
    assert [f"{number}. {name}" for number, name in listed] == parts[:15]
    below = {one.split(" ")[0] for one in headings(3)}
    sections = cited(DOCUMENT.content) - {OURS}
    assert len(sections) > 30
    assert sections <= {*numbers, *below}


DRAFT = re.compile(r"(\d)\.(\d)\.(\d)-draft")


@pytest.mark.spec("mcpl-changelog-1")
def test_earlier_drafts_are_listed_newest_first() -> None:
    drafts = [DRAFT.match(one) for one in headings(3) if DRAFT.match(one)]
    listed = [tuple(map(int, one.groups())) for one in drafts if one is not None]
    spoken = DRAFT.match(mcpl.PROTOCOL.version)
    assert spoken is not None
    assert listed == sorted(listed, reverse=True)
    assert tuple(map(int, spoken.groups())) > listed[0]


@pytest.mark.spec("mcpl-0.1.0-draft-january-2026-1")
async def test_a_server_of_the_first_draft_is_recognized(
    caplog: pytest.LogCaptureFixture,
) -> None:
    *_, first = [one for one in headings(3) if DRAFT.match(one)]
    assert first == "0.1.0-draft (January 2026)"
    live = McplHost(enabled=["*"])
    async with raw_server({"version": first[:3]}) as raw, Host("h", "1", extensions=[live]) as host:
        assert live.of(await host.connect(raw.transport)) is not None
    assert "version: expected 0.4, got '0.1'" in caplog.text


@pytest.mark.spec("mcpl-0.2.0-draft-january-2026-1")
async def test_an_offer_counts_only_in_experimental() -> None:
    live = McplHost(enabled=["*"])
    elsewhere: JsonObject = {"pushEvents": True, "featureSets": {}}
    async with (
        raw_server({}, experimental={}, mcpl=elsewhere) as raw,
        Host("h", "1", extensions=[live]) as host,
    ):
        assert live.of(await host.connect(raw.transport)) is None
        await raw.session.raw("ping")
        assert raw.received("featureSets/update") == []
    async with raw_server(elsewhere) as raw, Host("h", "1", extensions=[live]) as host:
        assert live.of(await host.connect(raw.transport)) is not None


@pytest.mark.spec("mcpl-0.2.0-draft-january-2026-2")
async def test_an_event_goes_out_with_an_id_and_a_time_and_without_what_went() -> None:
    events: list[PushedEvent] = []

    async def take(event: PushedEvent) -> mcpl.PushEventResult:
        events.append(event)
        return mcpl.PushEventResult(accepted=True)

    live = McplServer(feature_sets=MEMORY)
    async with live_pair(live, McplHost(enabled=["*"], on_push=take)) as (connection, _):
        await connection.mcp.ping()
        await live.hosts[0].push("memory.proactive", "Now")
        (params,) = sent(connection, "server", "push/event")
    assert params.keys() == {"featureSet", "eventId", "timestamp", "payload"}
    assert params["payload"] == {"content": [{"type": "text", "text": "Now"}]}
    assert events[0].params.event_id == params["eventId"]


@pytest.mark.spec("mcpl-0.2.0-draft-january-2026-4")
async def test_what_a_server_calls_required_is_switched_by_the_host_all_the_same() -> None:
    sets = {"spy": {"description": "S", "uses": ["pushEvents"], "required": True}}
    live = McplHost()
    async with (
        raw_server({"featureSets": sets}) as raw,
        Host("h", "1", extensions=[live]) as host,
    ):
        side = live.of(await host.connect(raw.transport))
        assert side is not None
        assert side.enabled == []
        await raw.session.raw("ping")
        assert raw.received("featureSets/update") == [{"enabled": [], "disabled": ["spy"]}]


def notes(**declared: Any) -> tuple[McplServer, Server]:
    live = McplServer(
        feature_sets={"notes.edit": feature("tools", **declared)}, tools={"note": "notes.edit"}
    )
    server = Server("notes", "1", extensions=[live])

    @server.tool
    async def note(text: str, context: Context) -> None:
        """Keep a note."""
        state = live.state_of(context)
        state.save([*(state.given if isinstance(state.given, list) else []), text])

    return live, server


def scope_of(tool: str, arguments: JsonObject) -> tuple[str, str, JsonObject | None]:
    return "notes.edit", f"/notes/{arguments['text']}", None


NOTES = Scopes(
    lists={"notes.edit": mcpl.ScopeRules(whitelist=["/notes/*"], blacklist=["/notes/x"])},
    scope_of=scope_of,
)


@pytest.mark.spec("mcpl-0.2.0-draft-january-2026-5", "mcpl-7-2")
async def test_scopes_are_allowed_or_denied_and_state_rolls_back_and_branches() -> None:
    live, server = notes(scoped=True, rollback=True)
    async with live_pair(live, McplHost(enabled=["*"], scopes=NOTES), server) as (connection, side):
        for text in ("a", "b"):
            await connection.mcp.tools_call(name="note", arguments={"text": text})
        state = await side.state("notes.edit")
        first = state.tree.checkpoints[0].id
        assert (await state.roll_back(first)).success
        await connection.mcp.tools_call(name="note", arguments={"text": "c"})
        assert state.tree.data == ["a", "c"]
        assert len(state.tree[first].children) == 2
        asking = mcpl.ClientStub(live.hosts[0].session)
        for label, approved in (("/notes/y", True), ("/notes/x", False)):
            scope = mcpl.Scope(label=label)
            answer = await asking.scope_elevate(feature_set="notes.edit", scope=scope)
            assert answer.approved is approved


@pytest.mark.spec("mcpl-0.3.0-draft-february-2026-2", "mcpl-6.4-2", "mcpl-5.2-4")
async def test_enabled_sets_are_sent_after_the_handshake() -> None:
    live = McplServer(feature_sets=MEMORY)
    policy = McplHost(enabled=["memory.*"], disabled=["memory.proactive"])
    async with live_pair(live, policy) as (connection, _):
        await connection.mcp.ping()
        (asked,) = sent(connection, "client", "initialize")
        handshake = json.dumps([asked, connection.greeting.model_dump(mode="json")])
        assert "enabled" not in handshake
        assert asked["capabilities"]["experimental"]["mcpl"]["featureSets"] is True
        on = sorted(set(MEMORY) - {"memory.proactive"})
        assert sent(connection, "client", "featureSets/update") == [
            {"enabled": on, "disabled": ["memory.proactive"]}
        ]
        assert live.hosts[0].enabled == on


@pytest.mark.spec("mcpl-0.3.0-draft-february-2026-3", "mcpl-8-6", "mcpl-7.7-2")
async def test_updates_and_tool_calls_of_a_set_carry_scopes() -> None:
    live, server = notes(scoped=True, rollback=True)
    async with live_pair(live, McplHost(enabled=["*"], scopes=NOTES), server) as (connection, _):
        for text in ("a", "b"):
            await connection.mcp.tools_call(name="note", arguments={"text": text})
        (update,) = sent(connection, "client", "featureSets/update")
        assert update["scopes"]["notes.edit"]["blacklist"] == ["/notes/x"]
        _, call = sent(connection, "client", "tools/call")
        assert sent(connection, "server", "tools/call") == []
        assert offered(connection)["featureSets"]["notes.edit"]["uses"] == ["tools"]
    assert call == {
        "name": "note",
        "arguments": {"text": "b"},
        "scope": {"label": "/notes/b"},
        "state": ["a"],
    }


@pytest.mark.spec("mcpl-5-1", "mcpl-14.1-1")
async def test_after_the_handshake_each_side_knows_what_the_other_can_do() -> None:
    live = McplServer(feature_sets=MEMORY, channels=[], blocking=True)

    @live.on.context_before_inference
    async def recall(params: mcpl.BeforeInferenceParams) -> mcpl.BeforeInferenceResult:
        return mcpl.BeforeInferenceResult()

    host = McplHost(channels=Channels())
    async with live_pair(live, host) as (connection, side):
        (serving,) = live.hosts
        (asked,) = sent(connection, "client", "initialize")
        theirs = asked["capabilities"]["experimental"]["mcpl"]
        assert side.feature_sets.keys() == MEMORY.keys()
        methods = mcpl.PROTOCOL.methods
        can = {name for name in methods if connection.session.denial_reason(methods[name]) is None}
        assert {"context/beforeInference", "state/rollback"} <= can
        assert not {"context/afterInference", "channels/publish", "channels/open"} & can
        may = {name for name in methods if serving.session.denial_reason(methods[name]) is None}
        assert {"channels/register", "channels/incoming"} <= may
        assert not {"push/event", "inference/request", "model/info"} & may  # nobody serves them
    assert "channels" in theirs
    assert "channels" in offered(connection)


GOOD: list[JsonObject] = [
    {"type": "text", "text": "a"},
    {"type": "image", "data": "AA==", "mimeType": "image/png"},
    {"type": "image", "uri": "a:b"},
    {"type": "audio", "data": "AA==", "mimeType": "audio/wav"},
    {"type": "resource", "uri": "a:b"},
]
BAD: list[JsonObject] = [
    {"type": "text"},
    {"type": "text", "text": 1},
    {"type": "image"},
    {"type": "audio", "uri": 1},
    {"type": "video", "uri": "a:b"},
    {"type": "resource"},
]
SETS: list[tuple[JsonObject, bool]] = [
    ({"description": "A", "uses": ["tools"]}, True),
    ({"description": "A"}, False),
    ({"uses": []}, False),
    ({"description": "A", "uses": "tools"}, False),
]


@pytest.mark.spec("mcpl-B-1")
def test_schemas_and_enumerations_match_the_appendix() -> None:
    appendix = text_of("mcpl").partition("## Appendix B")[2].partition("\n## ")[0]
    shown = [Draft202012Validator(*values_of(one)) for one in blocks_of("# \n" + appendix)]
    ours = [validator("mcpl", "Block"), validator("mcpl", "FeatureSet")]
    for values, good in ((GOOD, True), (BAD, False)):
        for value in values:
            assert shown[0].is_valid(value) is ours[0].is_valid(value) is good
    for value, good in SETS:
        assert shown[1].is_valid(value) is ours[1].is_valid(value) is good
    enumerations = dict(re.findall(r"^\*\*(\w+):\*\* `(.+)`$", appendix, re.MULTILINE))
    assert list(enumerations) == ["Position", "FinishReason"]
    for name, words in enumerations.items():
        assert list(get_args(getattr(models, name).__value__)) == json.loads(
            f"[{words.replace(' | ', ',')}]"
        )
