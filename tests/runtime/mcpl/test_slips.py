"""Mistakes in a server or a host: reported where they are made, with what was meant."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire import Host, Server
from kinwire.mcpl import McplHost, McplServer, PushedEvent
from kinwire_protocols import mcpl
from kinwire_protocols.mcpl.methods import STATE_ROLLBACK
from tests.each import each
from tests.runtime.mcpl.fixtures_hooks import AFTER, after
from tests.runtime.mcpl.fixtures_pairs import feature, live_pair

pytestmark = pytest.mark.spec("mcpl-6.1-1")

SETS = {"notes.edit": feature("tools"), "notes.remind": feature("pushEvents")}

DECLARED: list[Any] = [
    pytest.param({"tools": {"x": "notes.edti"}}, "tools['x']: ", "'notes.edit'", id="tool"),
    pytest.param({"tools": {"x": "undeclared"}}, "tools['x']: ", "also_uses", id="undeclared"),
    pytest.param({"also_uses": ["pushEvent"]}, "also_uses: ", "'pushEvents'", id="later use"),
    pytest.param({"sets": {"a": "pushEvent"}}, "['a'].uses: ", "'pushEvents'", id="use"),
    pytest.param({"sets": {"a": "hooks"}}, "['a'].uses: ", "channels.observe", id="near use"),
    pytest.param({"sets": {"a": "telepathy"}}, "['a'].uses: ", "channels.observe", id="no use"),
    *(
        pytest.param({"sets": {name: "tools"}}, "feature_sets: ", "Rename that set", id=repr(name))
        for name in ("a b", "a\tb", "a\n", " a", ".a", "a.", "a..b", "\u200b", "\ud800")
    ),
]


@each(("options", "place", "hint"), DECLARED)
def test_what_a_server_says_of_itself_is_refused_where_it_cannot_be(
    options: dict[str, Any], place: str, hint: str
) -> None:
    sets = {name: feature(use) for name, use in options.pop("sets", {}).items()}
    with pytest.raises(ValueError, match="expected") as raised:
        McplServer(feature_sets={**SETS, **sets}, **options)
    assert place in str(raised.value)
    assert hint in str(raised.value)


def test_tools_may_be_of_sets_that_come_later_where_that_is_said() -> None:
    McplServer(feature_sets=SETS, tools={"x": "later"}, also_uses=["tools"])
    McplServer(feature_sets={"näher": feature()}, tools={"x": "näher"})


@pytest.mark.anyio
@pytest.mark.parametrize("added", [{"a b": feature("tools")}, {"a": feature("pushEvent")}])
async def test_a_set_that_comes_later_is_looked_at_too(added: Any) -> None:
    live = McplServer(feature_sets=SETS)
    async with live_pair(live, McplHost(enabled=["*"])) as (_, server):
        with pytest.raises(ValueError, match="feature_sets"):
            await live.change(added=added)
        assert sorted(live.hosts[0].sets.declared) == sorted(server.feature_sets) == sorted(SETS)


@pytest.mark.anyio
async def test_a_refusal_names_the_set_on_one_line() -> None:
    live = McplServer(feature_sets=SETS, enabled_at_first=False)

    async def take(event: PushedEvent) -> mcpl.PushEventResult:
        return mcpl.PushEventResult(accepted=True)

    async with live_pair(live, McplHost(on_push=take)) as (connection, server):
        await connection.mcp.ping()
        (side,) = live.hosts
        with pytest.raises(mcpl.FeatureSetNotEnabledError, match=r"enabled: 'notes\.remind'"):
            await side.push("notes.remind", "x")
        with pytest.raises(mcpl.UnknownFeatureSetError, match=r"set: 'no\\nbody' \("):
            await side.push("no\nbody", "x")
        params = mcpl.RollbackParams(feature_set="nobody", checkpoint="c")
        with pytest.raises(mcpl.UnknownFeatureSetError, match="set: 'nobody'"):
            await server.session.call(STATE_ROLLBACK, params)


def test_a_role_on_the_other_side_is_refused_where_it_is_passed() -> None:
    with pytest.raises(TypeError, match=r"got McplHost, which handles .* Pass it to a Host"):
        Server("s", "1", extensions=[McplHost()])
    with pytest.raises(TypeError, match=r"got McplServer, which handles .* Pass it to a Server"):
        Host("h", "1", extensions=[changing()])


@pytest.mark.anyio
async def test_a_hook_that_returns_text_is_reported_by_name(
    caplog: pytest.LogCaptureFixture,
) -> None:
    live, host = (
        McplServer(feature_sets={"a": feature(AFTER)}, blocking=True),
        McplHost(enabled=["a"]),
    )

    @live.on.context_after_inference
    async def change(params: mcpl.AfterInferenceParams) -> Any:
        return "x"

    async with live_pair(live, host):
        assert await host.after_inference(after("x")) == "x"
    assert "context/afterInference: expected AfterInferenceResult, got str" in caplog.text


def changing(**options: Any) -> McplServer:
    live = McplServer(feature_sets={"a": feature(AFTER), "b": feature(AFTER)}, **options)

    @live.on.context_after_inference
    async def change(params: mcpl.AfterInferenceParams) -> mcpl.AfterInferenceResult:
        name, _, said = params.assistant_message.partition(" ")
        return mcpl.AfterInferenceResult(feature_set=name, modified_response=said or None)

    return live


@pytest.mark.anyio
async def test_an_ignored_change_of_a_response_is_logged_once_a_set(
    caplog: pytest.LogCaptureFixture,
) -> None:
    live, host = changing(), McplHost(enabled=["*"])
    server = Server("memory", "1", extensions=[live])
    for _session in range(2):
        async with live_pair(live, host, server) as (connection, _):
            for text in ("a", "a x", "a y", "b x"):
                assert await host.after_inference(after(text)) == text
            await connection.mcp.ping()
    told = [one for one in caplog.messages if "no host waits" in one]
    assert [one.split()[1] for one in told] == ["'a'", "'b'"]
    assert all("McplServer(blocking=True)" in one for one in told)


@pytest.mark.spec("mcpl-10.5-3")
@pytest.mark.anyio
async def test_an_awaited_change_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    host = McplHost(enabled=["*"])
    async with live_pair(changing(blocking=True), host):
        assert await host.after_inference(after("a x")) == "x"
    assert "no host waits" not in caplog.text


@pytest.mark.anyio
async def test_a_pattern_without_a_match_is_logged_and_counts_later(
    caplog: pytest.LogCaptureFixture,
) -> None:
    live = McplServer(feature_sets=SETS)
    async with live_pair(live, McplHost()) as (_, server):
        await server.enable("notes.*", "*", "notes.edit")
        assert not [one for one in caplog.messages if "names none" in one]
        await server.enable("nope.*", "notes.edit")
        await server.disable("notes.edti")
        told = [one for one in caplog.messages if "names none" in one]
    assert [one.split()[1] for one in told] == ["'nope.*'", "'notes.edti'"]
    assert all(one.startswith(f"{server.id}: ") for one in told)
    async with live_pair(McplServer(feature_sets={}), McplHost()) as (_, server):
        with pytest.raises(ValueError, match="expected a name"):
            await server.enable("no*pe")


@pytest.mark.anyio
async def test_a_missing_tool_is_logged_when_tools_are_listed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    live = McplServer(feature_sets=SETS, tools={"ad_note": "notes.edit", "zz": "notes.edit"})
    server = Server("notes", "1", extensions=[live])

    @server.tool
    async def add_note() -> str:
        """Add a note."""
        return "added"

    async with live_pair(live, McplHost(enabled=["*"]), server) as (connection, _):
        for _again in range(2):
            await connection.mcp.tools_list()
    told = [one for one in caplog.messages if "no tool is called" in one]
    assert len(told) == 2
    assert told[0].endswith("no tool is called 'ad_note'. Did you mean 'add_note'?")
    assert "'zz'. A tool that is not named" in told[1]
