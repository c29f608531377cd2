"""`kinwire events`: reading from a server, posting to an endpoint, and the store of a server."""

from __future__ import annotations

import hashlib
import hmac
import json
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

from kinwire.mcpe import (
    AgentHandlers,
    DeadLetter,
    EventHandlers,
    HandlerFailedError,
    HandlerWork,
    McpeServer,
)
from kinwire.storage import open_store
from kinwire.support.background import background
from kinwire_cli.events_wire import print_event
from kinwire_protocols.mcpe.models import AgentEventHandler
from tests.cli.fixtures_scripts import Captured, greeting, ran, scripted
from tests.each import each
from tests.runtime.mcp.http_client.fake_server import Asked, Handler, Line, RawServer
from tests.runtime.mcpe.fixtures_server import serving
from tests.runtime.mcpe.raw_client import Json, RawClient
from tests.runtime.mcpe.server.handlers.fixtures_work import hand

SERVER = """
import anyio
from kinwire import Server
from kinwire.mcpe import McpeServer, new_event

events = McpeServer()
server = Server("s", "1", extensions=[events])


@server.tool
async def idle() -> None:
    "Does nothing."


subscribe = events.join


def join(session, theirs):
    async def publish():
        for number in range(50):
            await anyio.sleep(0.02)
            await events.publish(new_event("a.b", {"n": number, "text": "x\\x1b[2J"}, tags=["t"]))

    session.start_soon(publish)
    return subscribe(session, theirs)


events.join = join
"""


def test_events_of_a_server_are_printed_as_they_come(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "s.py").write_text(SERVER, encoding="utf-8")
    file = str(tmp_path / "s.py")
    words = ["tail", file, "--type", "a.*", "--tag", "t", "--count", "2"]
    code, out, err = ran(capsys, "events", *words)
    assert (code, err) == (0, "waiting for events ...\n")
    assert [line.split()[1:3] for line in out.splitlines()] == [["normal", "a.b"]] * 2
    assert "\x1b" not in out
    print_event({"type": "a.b", "data": {"n": "\x1b"}}, as_json=True)
    assert capsys.readouterr().out == '{"type": "a.b", "data": {"n": "\\u001b"}}\n'


EVENT: Json = {
    "id": "7b0f8c1e-3d0a-4a57-9a53-3a3a3c1f6f0e",
    "type": "github.push",
    "data": {"branch": "ma\x1b[31min"},
    "metadata": {
        "timestamp": "2026-01-05T08:00:00Z",
        "priority": "high",
        "tags": ["main"],
    },
}
OFFER: Json = {"experimental": {"mcpe": {"protocolVersion": "2025-01-01"}}, "tools": {}}


def tailed(*notes: Json) -> list[str]:
    """Return the words of a server that sends notifications to who has subscribed."""
    made = {
        **{"id": "sub-1", "clientId": "c", "status": "active", "createdAt": "2026-01-05T08:00:00Z"},
        "updatedAt": "2026-01-05T08:00:00Z",
        **{"filter": {}, "delivery": {"channels": ["realtime"]}},
    }
    results = [
        {"content": [{"type": "text", "text": json.dumps(one)}], "structuredContent": one}
        for one in (made, {"success": True})
    ]
    return scripted(
        answers={
            "initialize": greeting(OFFER),
            "tools/list": {
                "tools": [
                    {"name": f"events_{name}", "inputSchema": {"type": "object"}}
                    for name in ("subscribe", "unsubscribe")
                ]
            },
            "tools/call": results,
        },
        behind={"tools/call": [{"jsonrpc": "2.0", **note} for note in notes]},
    )


def arrival(event: Json, **more: Any) -> Json:
    return {"method": "events/event", "params": {"subscriptionId": "sub-1", "event": event, **more}}


def test_events_are_printed_until_there_are_enough(capsys: Captured) -> None:
    second = {**EVENT, "type": "github.issue.opened"}
    dropped = {"_meta": {"mcpe/dropped": 2}}
    server = tailed(arrival(EVENT), arrival(second, **dropped), arrival(EVENT))
    code, out, err = ran(capsys, "events", "tail", "--count", "2", *server)
    assert code == 0
    assert out.splitlines() == [
        r'2026-01-05T08:00:00Z high github.push {"branch": "ma\u001b[31min"}',
        r'2026-01-05T08:00:00Z high github.issue.opened {"branch": "ma\u001b[31min"}',
    ]
    assert err.splitlines() == ["waiting for events ...", "lost: 2 events"]


def test_the_end_of_a_subscription_ends_the_output(capsys: Captured) -> None:
    over = {"subscriptionId": "sub-1", "expiredAt": "2026-01-05T09:00:00Z"}
    server = tailed(arrival(EVENT), {"method": "events/subscription_expired", "params": over})
    code, out, err = ran(capsys, "events", "tail", "--format", "json", *server)
    assert (code, err.splitlines()) == (0, ["waiting for events ...", "the subscription has ended"])
    assert json.loads(out) == EVENT


def test_a_server_without_events_is_named(capsys: Captured) -> None:
    code, out, err = ran(
        capsys,
        "events",
        "tail",
        *scripted(answers={"initialize": greeting({"tools": {}}), "tools/list": {"tools": []}}),
    )
    assert (code, out, "the server has no events" in err) == (2, "", True)


def test_a_priority_that_does_not_exist_is_refused(capsys: Captured) -> None:
    code, out, err = ran(capsys, "events", "tail", "--priority", "urgent", *tailed())
    assert (code, out, "There are: low, normal, high, critical." in err) == (2, "", True)


def posted(handler: Handler, capsys: Captured, *words: str) -> tuple[Any, list[Asked]]:
    """Publish to an endpoint that the handler is; return what the command did, and the requests."""

    async def run() -> tuple[Any, list[Asked]]:
        async with RawServer.serving(handler) as server:
            url = f"http://127.0.0.1:{server.port}/events"
            call = partial(ran, capsys, "events", "publish", url, *words)
            return await anyio.to_thread.run_sync(call), server.asked

    return anyio.run(run)


async def accept(asked: Asked, line: Line) -> None:
    await line.json({"id": "x", "subscriptions": 2, "duplicate": False}, 202)


async def miss(asked: Asked, line: Line) -> None:
    await line.json({"error": "no such path"}, 404)


async def refuse(asked: Asked, line: Line) -> None:
    await line.json({"error": "no\x1b[2J"}, 401)


def test_an_event_is_posted_and_signed(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOK_SECRET", "s3cret")
    words = ["notes.saved", "--secret", "HOOK_SECRET", "--data", '{"n": 1}', "--tag", "a"]
    words += ["--priority", "high", "--source-id", "n-1", "--header", "X-Key: ${HOOK_SECRET}"]
    (code, out, err), (asked,) = posted(accept, capsys, *words)
    assert (code, json.loads(out)["subscriptions"], err) == (0, 2, "")
    digest = hmac.new(b"s3cret", asked.body, hashlib.sha256).hexdigest()
    assert asked.headers["x-hub-signature-256"] == f"sha256={digest}"
    assert asked.headers["x-key"] == "s3cret"
    event = asked.message
    assert (event["type"], event["data"]) == ("notes.saved", {"n": 1})
    metadata = event["metadata"]
    assert (metadata["tags"], metadata["priority"], metadata["sourceEventId"]) == (
        ["a"],
        "high",
        "n-1",
    )
    (code, out, err), _ = posted(refuse, capsys, "a.b", "--secret", "HOOK_SECRET")
    assert (code, out) == (3, "")
    assert "HTTP status 401" in err
    assert "hint:" not in err
    assert "\x1b" not in err
    (code, out, err), _ = posted(miss, capsys, "a.b", "--secret", "HOOK_SECRET")
    assert (code, "hint: Is it the URL of an EventIngest" in err) == (5, True)


def test_an_event_goes_through_a_proxy(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOK_SECRET", "s3cret")

    async def run() -> list[Asked]:
        async with RawServer.serving(accept) as server:
            words = ["http://hooks.example/e", "a.b", "--secret", "HOOK_SECRET", "--insecure"]
            words += ["--proxy", f"http://127.0.0.1:{server.port}"]
            call = partial(ran, capsys, "events", "publish", *words)
            await anyio.to_thread.run_sync(call)
            return server.asked

    (asked,) = anyio.run(run)
    assert "hooks.example" in (asked.target + asked.headers["host"])


@each(
    ("answer", "expected", "said"),
    [
        (b"garbage\r\n\r\n", 6, "has not answered as a server of HTTP does"),
        (b"", 4, "cannot be reached"),
        (b"HTTP/1.1 202 x\r\nContent-Length: 50\r\n\r\nabc", 4, "cannot be reached"),
        (b"HTTP/1.1 202 x\r\n\r\n" + b"x" * 1_048_577, 6, "more than 1048576 bytes"),
        (
            b"HTTP/1.1 307 x\r\nLocation: http://a.example/\r\nContent-Length: 0\r\n\r\n",
            *(5, "HTTP status 307\n"),
        ),
        (None, 4, "has not answered within 0.05 s.\nhint: --timeout"),
    ],
)
def test_no_answer_of_an_endpoint_has_a_code(
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
    answer: bytes | None,
    expected: int,
    said: str,
) -> None:
    monkeypatch.setenv("HOOK_SECRET", "s3cret")

    async def say(asked: Asked, line: Line) -> None:
        if answer is None:
            await anyio.sleep_forever()
        await line.raw(answer or b"")
        await line.close()

    words = ["--timeout", "0.05"] if answer is None else []
    (code, out, err), _ = posted(say, capsys, "a.b", "--secret", "HOOK_SECRET", *words)
    assert (code, out, said in err) == (expected, "", True), err
    assert "s3cret" not in err


@pytest.fixture
def url(tmp_path: Path) -> str:
    """Return the store of a server with a subscription and a dead letter."""
    url = f"sqlite:///{tmp_path}/events.db"

    async def fill() -> None:
        async with open_store(url) as store:
            records = await store.records("mcpe")
            raw = RawClient()
            async with serving(McpeServer(records=records), raw):
                await raw.subscribe("github.*")
            handlers = EventHandlers(agent=AgentHandlers(fails), records=records)
            hand(handlers, {"type": "agent"})
            await handlers.drain()

    anyio.run(fill)
    return url


async def fails(work: HandlerWork, handler: AgentEventHandler) -> None:
    raise HandlerFailedError("no\x1b[2J")


def dead_in(url: str) -> list[DeadLetter]:
    """Return the dead letters after the server has started again, whose agents do well."""

    async def start() -> list[DeadLetter]:
        async with open_store(url) as store, background() as tasks:
            done: list[str] = []

            async def well(work: HandlerWork, handler: AgentEventHandler) -> None:
                done.append(work.subscription_id)

            records = await store.records("mcpe")
            handlers = EventHandlers(agent=AgentHandlers(well), records=records)
            handlers.begin(lambda client_id: None)
            with anyio.move_on_after(2):
                while not done:  # noqa: ASYNC110 - another process has asked for it
                    await anyio.sleep(0.005)
            await handlers.drain()
            assert done == ["sub-1"]
            assert [one async for one in records.scan("mcpe-retry/")] == []
            tasks.cancel_scope.cancel()
            return handlers.dead.all()

    return anyio.run(start)


def test_subscriptions_are_listed(url: str, capsys: Captured) -> None:
    code, out, err = ran(capsys, "events", "subscriptions", "--store", url)
    assert (code, err) == (0, "")
    assert out.splitlines()[1].split()[2:6] == ["active", "github.*", "realtime", "-"]
    code, out, _ = ran(capsys, "events", "subscriptions", "--store", url, "--format", "json")
    assert json.loads(out)[0]["filter"] == {"eventTypes": ["github.*"]}


INFO = b'INFO {"server_id":"x","version":"2.11.0","headers":true,"max_payload":1000000}\r\n'


@contextmanager
def nats_that(answers: int) -> Iterator[str]:
    """Yield the URL of a server that says nothing, or pings once and then closes connections."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            if answers:
                self.wfile.write(INFO)
                while self.rfile.readline() not in (b"PING\r\n", b""):
                    pass
                self.wfile.write(b"PONG\r\n")
            else:
                self.rfile.read()

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield f"nats://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.mark.parametrize("answers", [0, 1])
def test_a_store_that_does_not_answer_is_named_soon(
    answers: int, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kinwire_cli.events.STORE_TIMEOUT", 0.3)
    with nats_that(answers) as url:
        for words in (
            ("events", "dead", "list", "--store", url),
            ("events", "subscriptions", "--store", url),
            ("store", "check", url, "--timeout", "0.3"),
        ):
            begun = monotonic()
            code, out, err = ran(capsys, *words)
            assert (code, out) == (4, ""), words
            assert "expected an answer within the timeout" in err
            assert monotonic() - begun < 5


def test_dead_letters_are_listed_and_tried_again(url: str, capsys: Captured) -> None:
    code, out, err = ran(capsys, "events", "dead", "list", "--store", url)
    assert (code, err, "\x1b" in out) == (0, "", False)
    id, *cells = out.splitlines()[1].split()
    assert cells[:4] == ["sub-1", "agent", "github.push", "1"]
    code, out, _ = ran(capsys, "events", "dead", "list", "--store", url, "--format", "json")
    assert json.loads(out)[0]["work"]["events"][0]["type"] == "github.push"
    code, out, err = ran(capsys, "events", "dead", "retry", id[:-1], "--store", url)
    assert (code, f"Did you mean '{id}'?" in err) == (2, True)
    code, out, err = ran(capsys, "events", "dead", "retry", id, "--store", url)
    said = "1 dead letter to try again, now or when the server starts\n"
    assert (code, out, err) == (0, "", said)
    assert dead_in(url) == []
    code, out, err = ran(capsys, "events", "dead", "list", "--store", url)
    assert (code, out, err) == (0, "", "no dead letters\n")


def test_a_server_that_runs_tries_dead_letters_again(url: str, capsys: Captured) -> None:
    command = partial(ran, capsys, "events", "dead", "retry", "--all", "--store", url)

    async def run() -> list[str]:
        done: list[str] = []

        async def well(work: HandlerWork, handler: AgentEventHandler) -> None:
            done.append(work.subscription_id)

        async with open_store(url) as store:
            handlers = EventHandlers(agent=AgentHandlers(well), records=await store.records("mcpe"))
            handlers.begin(lambda client_id: None)
            assert (await anyio.to_thread.run_sync(command))[:2] == (0, "")
            with anyio.fail_after(10):
                while not done or len(handlers.dead):
                    await anyio.lowlevel.checkpoint()
        return done

    assert anyio.run(run) == ["sub-1"]


def test_records_that_are_not_there_are_refused(url: str, capsys: Captured) -> None:
    for action in (["subscriptions"], ["dead", "list"], ["dead", "retry", "--all"]):
        words = [*action, "--store", url, "--records", "mcp"]
        code, out, err = ran(capsys, "events", *words)
        assert (code, out, "Did you mean 'mcpe'?" in err) == (2, "", True)
        assert ran(capsys, "events", *words[:-1], "mcpe")[0] == 0


PUBLISH = ["publish", "http://localhost/", "a", "--secret", "HOME"]


@each(
    ("words", "message"),
    [
        (["tail", "a.py", "b.py"], "events tail: expected one server."),
        (["tail", "a.py", "--secret", "X"], "--secret is an option of events publish."),
        (["publish", "http://localhost/"], "events publish: expected a URL and a type"),
        (["publish", "http://localhost/", "a"], "events publish needs --secret."),
        (["publish", "http://localhost/", "a", "--secret", "NOT_SET_"], "'NOT_SET_' is not set."),
        (["publish", "http://localhost/", "a", "--secret", "HOME", "--data", "["], "--data: exp"),
        (["publish", "http://localhost/", "a", "--secret", "HOME", "--data", "[]"], "--data: exp"),
        ([*PUBLISH, "--data", '{"a":' * 100_000], "--data: exp"),
        ([*PUBLISH, "--priority", "urgent"], "/metadata/priority: expected one of low"),
        ([*PUBLISH, "--source-id", ""], "/metadata/sourceEventId: expected 1 to 256"),
        ([*PUBLISH, "--header", "no"], "--header: expected a name"),
        ([*PUBLISH, "--header", "X-Hub-Signature-256: sha256=0"], "written by the transport"),
        ([*PUBLISH, "--proxy", "ftp://a/"], "proxy"),
        (["dead", "list", "--store", "sqlite:///a.db", "--proxy", "http://a/"], "are for a URL."),
        (["publish", "http://hooks.example/", "a", "--secret", "HOME"], "without TLS"),
        (["publish", "ftp://localhost/", "a", "--secret", "HOME"], "URL"),
        (["subscriptions"], "events subscriptions needs --store."),
        (["subscriptions", "--store", "sqlite:///absent.db"], "absent.db"),
        (["dead", "list"], "events dead needs --store."),
        (["dead", "--store", "memory:"], "events dead: expected list, or retry and IDs"),
        (["subscriptions", "x"], "events subscriptions: expected options only."),
        (["subscriptions", "--store", "memory:"], "Name the store of the server"),
        (["tail", "a.py", "--count", "0"], "--count: expected a number from 1."),
        (["tail", "a.py", "--all"], "--all is an option of events dead."),
        (["dead", "bury", "--store", "memory:"], "expected list, or retry and IDs or --all."),
        (["dead", "retry", "--store", "memory:"], "expected list, or retry and IDs or --all."),
        (["dead", "list", "x", "--store", "memory:"], "expected list, or retry and IDs or --all."),
        (["dead", "list", "--all", "--store", "memory:"], "expected list, or retry and IDs"),
        (["dead", "retry", "x", "--all", "--store", "memory:"], "expected list, or retry and IDs"),
    ],
)
def test_wrong_words_end_with_2(capsys: Captured, words: list[str], message: str) -> None:
    code, out, err = ran(capsys, "events", *words)
    assert (code, out) == (2, "")
    assert message in err
