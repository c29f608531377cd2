"""What clients ask for reaches the server that has it, and answers come as the server sent them."""

from __future__ import annotations

from functools import partial
from typing import Any

import anyio
import pytest

from kinwire import Limits
from kinwire.managers import listing
from kinwire.mgp import MgpKernel, ServerPolicy
from kinwire.mgp.gateway import lists
from kinwire.rpc.codec import EncodedObject
from tests.runtime.mgp.gateway.fixtures_gateway import (
    RawClient,
    asking,
    full_server,
    gateway_of,
    last_id,
)
from tests.runtime.mgp.raw_peers import NOTHING, Json, RawServer, codes, tool

pytestmark = pytest.mark.anyio

LINK = "mgp://two/note:1"


async def test_every_request_reaches_the_server_that_the_name_says() -> None:
    sent: list[tuple[str, Json, Json]] = [
        (
            "tools/call",
            {"name": "two__t", "arguments": {"a": 1}},
            {"name": "t", "arguments": {"a": 1}},
        ),
        ("prompts/get", {"name": "two__p", "x": [1]}, {"name": "p", "x": [1]}),
        ("resources/read", {"uri": LINK, "_meta": {"k": 1}}, {"uri": "note:1", "_meta": {"k": 1}}),
        ("resources/subscribe", {"uri": LINK}, {"uri": "note:1"}),
        ("resources/unsubscribe", {"uri": LINK}, {"uri": "note:1"}),
        (
            "completion/complete",
            {
                "ref": {"type": "ref/prompt", "name": "two__p"},
                "argument": {"name": "a", "value": ""},
            },
            {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": ""}},
        ),
        (
            "completion/complete",
            {
                "ref": {"type": "ref/resource", "uri": "mgp://two/note:{id}"},
                "argument": {"name": "id", "value": "1"},
            },
            {
                "ref": {"type": "ref/resource", "uri": "note:{id}"},
                "argument": {"name": "id", "value": "1"},
            },
        ),
    ]
    one, two, client = full_server(), full_server(), RawClient()
    async with gateway_of({"one": one, "two": two}, client):
        for number, (method, params, inner) in enumerate(sent):
            reply = await client.ask(number, method, params)
            assert "result" in reply, reply
            assert two.of(method)[-1] == inner
            assert one.of(method) == []


async def test_lists_are_merged_and_named_by_server() -> None:
    one, two, client = full_server("t", "u"), full_server(), RawClient()
    async with gateway_of({"one": one, "Two": two}, client):
        found = {
            method: (await client.ask(method, method))["result"]
            for method in (
                "tools/list",
                "prompts/list",
                "resources/list",
                "resources/templates/list",
            )
        }
    names = sorted(entry["name"] for entry in found["tools/list"]["tools"])
    assert names[:2] == ["one__t", "one__u"]
    assert names[2].startswith("two-")
    assert {"name": "one__p", "arguments": [{"name": "a"}]} in found["prompts/list"]["prompts"]
    assert {entry["uri"] for entry in found["resources/list"]["resources"]} == {
        "mgp://one/note:1",
        "mgp://%54wo/note:1",
    }
    templates = found["resources/templates/list"]["resourceTemplates"]
    assert {"uriTemplate": "mgp://one/note:{id}", "name": "T"} in templates


async def test_a_result_is_passed_on_with_all_that_is_unknown_or_wrong_in_it() -> None:
    odd: list[Any] = [
        {"type": "hologram", "data": {"deep": [1, None]}},
        {"text": "no type"},
        {"type": "text", "text": 5, "annotations": "wrong"},
        "not a block",
        {"type": "resource_link", "uri": "note:1", "name": "R", "extra": 1},
        {"type": "resource", "resource": {"uri": "note:1", "text": "x", "extra": 1}},
        {"type": "resource", "resource": "wrong"},
    ]
    result = {"content": odd, "structuredContent": {"uri": "note:1"}, "_meta": {"a": 1}, "more": 2}
    outer = [
        *odd[:4],
        {**odd[4], "uri": "mgp://s/note:1"},
        {**odd[5], "resource": {**odd[5]["resource"], "uri": "mgp://s/note:1"}},
        odd[6],
    ]
    messages = [{"role": "user", "content": block} for block in odd[3:6]] + ["wrong"]
    prompt = {"messages": messages, "description": 7}
    contents = {"contents": [{"uri": "note:1/a", "what": "?"}, {"no": "uri"}, 3]}
    raw = full_server(tools_call=result, prompts_get=prompt, resources_read=contents)
    client = RawClient()
    async with gateway_of({"s": raw}, client):
        called = await client.ask(1, "tools/call", {"name": "s__t"})
        got = await client.ask(2, "prompts/get", {"name": "s__p"})
        read = await client.ask(3, "resources/read", {"uri": "mgp://s/note:1"})
    assert called["result"] == {**result, "content": outer}
    blocks = [one["content"] for one in got["result"]["messages"][:3]]
    assert (blocks, got["result"]["messages"][3]) == (outer[3:6], "wrong")
    assert got["result"]["description"] == 7
    assert read["result"] == {
        "contents": [{"uri": "mgp://s/note:1/a", "what": "?"}, {"no": "uri"}, 3]
    }


async def test_errors_have_the_code_and_the_data_of_the_server() -> None:
    errors: list[Json] = [
        {"code": -32050, "message": "own", "data": [1, {"a": None}]},
        {"code": -32602, "message": "no data"},
        {"code": -32603, "message": "text", "data": "text"},
        {"code": 7, "message": "object", "data": {"protocol": "x", "name": "y"}},
    ]
    raw, client = full_server(), RawClient()
    async with gateway_of({"s": raw}, client):
        for number, error in enumerate(errors):
            for method, params in (
                ("tools/call", {"name": "s__t"}),
                ("prompts/get", {"name": "s__p"}),
                ("resources/read", {"uri": "mgp://s/note:1"}),
            ):
                raw.answers[method] = error
                assert (await client.ask(f"{number} {method}", method, params))["error"] == error


async def test_what_no_server_has_is_unknown_and_is_asked_of_nobody() -> None:
    raw, client = full_server(), RawClient()
    asked: list[tuple[str, Json, int]] = [
        ("tools/call", {"name": "s__other"}, -32602),
        ("tools/call", {"name": "t"}, -32602),
        ("prompts/get", {"name": "p"}, -32602),
        ("prompts/get", {"name": "s__q"}, -32602),
        ("resources/read", {"uri": "note:1"}, -32002),
        ("resources/read", {"uri": "mgp://other/note:1"}, -32002),
        ("resources/subscribe", {"uri": "mgp://S/note:1"}, -32002),
        ("completion/complete", {"ref": {"type": "ref/x"}, "argument": {}}, -32602),
        ("nonsense", {}, -32601),
    ]
    async with gateway_of({"s": raw}, client):
        for number, (method, params, code) in enumerate(asked):
            reply = await client.ask(number, method, params)
            assert reply["error"]["code"] == code, method
        assert {one.get("method") for one in raw.heard} <= {
            *("initialize", "notifications/initialized", "tools/list", "prompts/list"),
            "logging/setLevel",
        }


async def test_a_request_without_an_answer_fails_once_and_says_why() -> None:
    client, gone, slow = RawClient(), asking(), asking()
    odd = full_server(tools_call=lambda params: [1])
    servers = {"gone": gone, "slow": slow, "odd": odd}
    limits = Limits(request_timeout=0.05)
    async with gateway_of(servers, client, host={"limits": limits}):
        client.say(id=1, method="tools/call", params={"name": "gone__t"})
        await gone.tells("tools/call")
        gone.hang_up()
        for number, (name, code) in enumerate((("slow__t", 3003), ("odd__t", 5000))):
            error = await client.ask(f"x{number}", "tools/call", {"name": name})
            assert codes(error)[0] == code
        await client.settle()
        [lost] = [one for one in client.heard if one.get("id") == 1]
        code, recovery = codes(lost)
        assert (code, recovery["retryable"]) == (2000, False)
        again = await client.ask(2, "resources/read", {"uri": "mgp://gone/note:1"})
        assert again["error"]["code"] == -32002
    assert len(gone.calls) == 1


async def test_progress_goes_to_the_call_that_asked_for_it() -> None:
    raw, first, second = asking(), RawClient(), RawClient()
    async with gateway_of({"s": raw}, first, second):
        for client, token in ((first, "same"), (second, "same"), (first, None)):
            meta = {} if token is None else {"_meta": {"progressToken": token, "k": 1}}
            number = len(raw.calls)
            client.say(id=number, method="tools/call", params={"name": "s__t", **meta})
            await raw.tells("tools/call", number + 1)
        tokens = [one.get("_meta", {}).get("progressToken") for one in raw.calls]
        assert tokens[2] is None
        assert len({*tokens, "same"}) == 4
        assert raw.calls[0]["_meta"]["k"] == 1
        for token, done in (("none", 9), (tokens[1], 3), (tokens[1], 2), (tokens[0], 0.5)):
            report = {"progressToken": token, "progress": done, "total": 4}
            raw.say(method="notifications/progress", params=report)
        assert await first.wait_for("notifications/progress", 1) == [
            {"progressToken": "same", "progress": 0.5, "total": 4}
        ]
        [other] = await second.wait_for("notifications/progress", 1)
        assert other["progress"] == 3


async def test_a_call_that_a_client_takes_back_or_leaves_is_cancelled_at_the_server() -> None:
    raw, first, second = asking(), RawClient(), RawClient()
    async with gateway_of({"s": raw}, first, second, limits=Limits(drain=0.01)):
        for number, client in enumerate((first, second)):
            client.say(id="x", method="tools/call", params={"name": "s__t"})
            await raw.tells("tools/call", number + 1)
        ids = [one["id"] for one in raw.heard if one.get("method") == "tools/call"]
        second.say(method="notifications/cancelled", params={"requestId": "x"})
        await raw.tells("notifications/cancelled")
        raw.say(id=ids[1], result={"content": []})  # too late
        first.hang_up()
        cancelled = await raw.wait_for("notifications/cancelled", 2)
        assert [one["requestId"] for one in cancelled] == [ids[1], ids[0]]
        await second.ask("y", "ping")
    assert [one["id"] for one in second.heard if "result" in one] == ["hello", "y"]


async def test_calls_are_judged_for_the_agent_that_the_client_is() -> None:
    raws = {"open": full_server(), "closed": full_server("t", "u")}
    kernel = MgpKernel(servers={"closed": ServerPolicy(access="opt-in")})
    clients = {name: RawClient() for name in ("ann", "bob")}
    order = iter(clients)
    agents: dict[Any, str] = {}

    def agent_of(context: Any) -> str:
        return agents.setdefault(
            context.session, next(order) if context.session not in agents else ""
        )

    async with gateway_of(raws, *clients.values(), kernel=kernel, agent_of=agent_of):
        for client in clients.values():
            await client.ask("first", "tools/list")
        await kernel.access.grant("ann", "closed")
        await kernel.access.grant("ann", "closed", "deny", tool="u")
        outcomes: dict[str, list[Any]] = {}
        for name, client in clients.items():
            calls = [
                await client.ask(tool_name, "tools/call", {"name": tool_name})
                for tool_name in ("open__t", "closed__t", "closed__u")
            ]
            read = await client.ask("r", "resources/read", {"uri": "mgp://closed/note:1"})
            listed = [
                len((await client.ask(one, f"{one}/list"))["result"][one])
                for one in ("tools", "prompts", "resources")
            ]
            outcomes[name] = [one.get("error", {}).get("code") for one in (*calls, read)]
            outcomes[name] += listed
    assert outcomes == {
        "ann": [None, None, 1001, None, 2, 2, 2],
        "bob": [None, 1001, 1001, 1001, 1, 1, 1],
    }


async def test_a_client_learns_when_a_list_changes_and_an_unchanged_one_is_not_made_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[Json] = []

    def encoded(members: Json) -> EncodedObject:
        made.append(members)
        return EncodedObject(members)

    monkeypatch.setattr(listing, "EncodedObject", encoded)
    raw, other, client = full_server(), full_server(), RawClient()
    named = ("tools", "prompts", "resources")
    async with gateway_of({"s": raw, "o": other}, client):
        for turn in range(3):
            for name in named:
                await client.ask(f"{name}{turn}", f"{name}/list")
        assert len(made) == 3
        client.heard.clear()
        raw.tools.append(tool("v"))
        raw.answers["prompts/list"] = {"prompts": [{"name": "q"}]}
        for name in named:
            raw.say(method=f"notifications/{name}/list_changed")
            await client.tells(f"notifications/{name}/list_changed")
        after = {name: (await client.ask(f"{name} 3", f"{name}/list"))["result"] for name in named}
    assert {one["name"] for one in after["tools"]["tools"]} == {"s__t", "s__v", "o__t"}
    assert {one["name"] for one in after["prompts"]["prompts"]} == {"s__q", "o__p"}
    assert len(made) == 5  # the resources are the same
    assert len(other.of("prompts/list")) == 1


async def test_a_storm_of_changes_is_a_few_notifications_and_the_last_change_is_seen() -> None:
    raw, client = full_server(), RawClient()
    async with gateway_of({"s": raw}, client, pause=0.02):
        await client.ask(1, "prompts/list")
        await anyio.sleep(0.03)  # what came when the server connected
        client.heard.clear()
        for number in range(1000):
            raw.answers["prompts/list"] = {"prompts": [{"name": f"p{number}"}]}
            raw.say(method="notifications/prompts/list_changed")
        await client.tells("notifications/prompts/list_changed", 2)
        [last] = (await client.ask(2, "prompts/list"))["result"]["prompts"]
        assert last["name"] == "s__p999"
        assert len(client.of("notifications/prompts/list_changed")) < 20
        raw.hang_up()  # right behind a notification
        await client.settle()
        assert (await client.ask(3, "prompts/list"))["result"]["prompts"] == []
        client.heard.clear()


async def test_a_server_whose_list_is_broken_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    circle = {"prompts": [{"name": "p"}], "nextCursor": "again"}
    odd = {"prompts": ["no", {"name": 5}, {"name": "r"}], "nextCursor": 7}
    servers: dict[str, RawServer] = {
        "good": full_server(),
        "circle": full_server(prompts_list=circle),
        "error": full_server(prompts_list={"code": -32603, "message": "no\nway"}),
        "odd": full_server(prompts_list=odd),
        "plain": RawServer(tool("t")),
    }
    client = RawClient()
    async with gateway_of(servers, client):
        found = (await client.ask(1, "prompts/list"))["result"]["prompts"]
        assert {one["name"] for one in found} == {"good__p", "odd__r"}
        servers["error"].answers["prompts/list"] = {"prompts": [{"name": "p"}]}
        found = (await client.ask(2, "prompts/list"))["result"]["prompts"]
        assert {one["name"] for one in found} == {"good__p", "odd__r", "error__p"}
    assert "circle: prompts/list failed" in caplog.text
    assert servers["plain"].of("prompts/list") == []


async def test_of_a_list_that_is_too_long_the_beginning_is_kept(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(lists, "_MOST_BYTES", 1000)

    def page(params: Json) -> Json:
        number = int(params.get("cursor", 0)) + 1
        entry = {"name": f"p{number}", "description": "x" * 400}
        return {"prompts": [entry], "nextCursor": str(number)}

    raw, client = full_server(prompts_list=page), RawClient()
    async with gateway_of({"s": raw}, client):
        found = (await client.ask(1, "prompts/list"))["result"]["prompts"]
    assert [one["name"] for one in found] == ["s__p1", "s__p2", "s__p3"]
    assert len(raw.of("prompts/list")) == 3
    assert "s: prompts/list is too long: those that came first are listed, 3" in caplog.text


async def test_a_server_that_does_not_answer_holds_up_a_list_once_and_no_prompt_of_another(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(lists, "_TIMEOUT", 0.05)
    good, silent, client = full_server(), full_server(prompts_list=NOTHING), RawClient()
    async with gateway_of({"good": good, "silent": silent}, client):
        got = await client.ask("get", "prompts/get", {"name": "good__p"})
        assert ("result" in got, silent.of("prompts/list")) == (True, [])
        for number in range(3):
            found = (await client.ask(number, "prompts/list"))["result"]["prompts"]
            assert [one["name"] for one in found] == ["good__p"]
        unknown = await client.ask("no", "prompts/get", {"name": "silent__p"})
        near = await client.ask("near", "prompts/get", {"name": "good__q"})
        assert (unknown["error"]["code"], len(silent.of("prompts/list"))) == (-32602, 1)
        assert "Did you mean 'good__p'?" in near["error"]["message"]
        assert "silent: prompts/list had no answer in 0.05 s" in caplog.text
        silent.answers["prompts/list"] = {"prompts": [{"name": "late"}]}
        client.heard.clear()
        silent.say(method="notifications/prompts/list_changed")
        await client.tells("notifications/prompts/list_changed")
        found = (await client.ask("after", "prompts/list"))["result"]["prompts"]
    assert {one["name"] for one in found} == {"good__p", "silent__late"}


async def test_long_lists_come_in_pages_that_keep_their_place_when_a_tool_comes() -> None:
    raw, client = full_server(*(f"t{number}" for number in range(10))), RawClient()
    async with gateway_of({"s": raw}, client, page_size=4):
        page = (await client.ask(1, "tools/list"))["result"]
        names = [one["name"] for one in page["tools"]]
        client.heard.clear()
        raw.tools = [*raw.tools[1:], tool("new")]
        raw.say(method="notifications/tools/list_changed")
        await client.tells("notifications/tools/list_changed")
        asked = partial(client.ask, method="tools/list")
        for number in (2, 3):
            page = (await asked(number, params={"cursor": page["nextCursor"]}))["result"]
            names += [one["name"] for one in page["tools"]]
        assert (await asked(4, params={"cursor": "bad"}))["error"]["code"] == -32602
    assert names == [*(f"s__t{number}" for number in range(10)), "s__new"]


async def test_what_is_said_in_the_words_of_mgp_stays_between_client_and_gateway() -> None:
    raw, client = full_server(), RawClient()
    async with gateway_of({"s": raw}, client):
        params = {"name": "s__t", "_mgp": {"stream": True}}
        assert "result" in await client.ask(1, "tools/call", params)
    assert raw.calls == [{"name": "t"}]
    assert last_id(raw) is not None
