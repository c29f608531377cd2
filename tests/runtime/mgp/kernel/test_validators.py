"""Validators over a live session: what they refuse never reaches the server (MGP 4.5)."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any

import anyio
import pytest

from kinwire import Connection, RpcError
from kinwire.mgp import MgpKernel, ServerPolicy, ToolPolicy
from kinwire.mgp.kernel.call import GuardedCall
from kinwire.mgp.kernel.validators import CallValidators
from kinwire.transports.guarded_fetch.fetch import GuardedClient, Network
from kinwire.transports.guarded_fetch.rules import NotFetchedError
from kinwire_protocols.mgp import ValidationBlockedError
from tests.runtime.mcp.http_client.fake_server import Asked, Line, RawServer as RawHttpServer
from tests.runtime.mgp.fixtures_kernel import audited, guarded, outcome
from tests.runtime.mgp.raw_peers import Json, RawServer, codes, tool
from tests.runtime.mgp.rules.validators.fixtures_vectors import vectors
from tests.runtime.transports.guarded_fetch.fake_network import PUBLIC, TestNetwork

pytestmark = pytest.mark.anyio

OFFER = {"version": "0.2.0", "extensions": ["security"]}
BLOCKED = 1010


class Names:
    """Answers for names without any connection; None never answers."""

    def __init__(self, answers: Mapping[str, Sequence[str] | None] | None = None) -> None:
        self.answers = dict(answers or {})
        self.asked: list[tuple[str, int]] = []

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        self.asked.append((host, port))
        if host not in self.answers:
            raise OSError("no such name")
        found = self.answers[host]
        if found is None:
            await anyio.sleep_forever()
        return found or ()

    async def connect(self, address: str, port: int, tls_name: str | None) -> Any:
        raise AssertionError("nothing is connected to")


def secured(name: str, *parameters: str, **security: Any) -> Json:
    return tool(name, *parameters, security={"risk_level": "safe", **security})


def kernel(network: Network | None = None, **policy: Any) -> MgpKernel:
    return MgpKernel(
        servers={"s": ServerPolicy(**{"confirm": (), **policy})}, network=network or Names()
    )


async def called(connection: Connection, name: str, **arguments: Any) -> Any:
    """Return 0 for a call that went through, else the code of its error."""
    found = await outcome(connection.mcp.tools_call(name=name, arguments=arguments))
    return found if isinstance(found, int) else 0


@pytest.mark.spec("mgp-4.5-1", "mgp-4.5-6", "mgp-14.3-5")
async def test_blocked_commands_never_reach_the_server() -> None:
    raw = RawServer(secured("run", "command", validator="sandbox"), mgp=OFFER)
    separators = ["\n", "\r\n", ";", " & ", " && ", " | "]
    hidden = [
        *("echo `id`", "cat <(id)", "$(printf rm) -r -f x", "r\\m -rf x", "{rm,-rf,x}"),
        *('"rm" --recursive --force x', "rm -fr x", "${X:-rm} -rf x"),
    ]
    commands = [f"echo ok{one}rm -rf x" for one in separators] + hidden
    with audited() as events:
        async with guarded(raw, kernel()) as connection:
            for command in commands:
                assert await called(connection, "run", command=command) == BLOCKED, command
            assert raw.calls == []
            assert await called(connection, "run", command="ls -la") == 0
    assert [one["arguments"] for one in raw.calls] == [{"command": "ls -la"}]
    failed = events.of("VALIDATION_FAILED")
    assert len(events.of_calls) == len(failed) + 1 == len(commands) + 1
    assert {(one["result"], one["details"]["validator_applied"]) for one in failed} == {
        ("BLOCKED", "sandbox")
    }
    assert "rm" not in str([one["details"] for one in failed])


@pytest.mark.spec("mgp-4.5-2")
async def test_readonly_lets_nothing_write() -> None:
    tools = [
        secured("run", "command", validator="readonly"),
        secured("query", "sql", validator="readonly"),
        secured("note", "text", validator="readonly", side_effects=["filesystem"]),
    ]
    raw = RawServer(*tools, mgp=OFFER)
    async with guarded(raw, kernel(tools={"run": ToolPolicy(validator="readonly")})) as connection:
        assert await called(connection, "run", command="cat write.txt") == 0
        assert await called(connection, "run", command="tee write.txt") == BLOCKED
        assert await called(connection, "query", sql="select 'update'") == 0
        statement = "with a as (delete from t returning *) select * from a"
        assert await called(connection, "query", sql=statement) == BLOCKED
        assert await called(connection, "note", text="") == BLOCKED
    assert len(raw.calls) == 2


@pytest.mark.spec("mgp-4.5-3")
async def test_names_are_resolved_once_and_every_address_counts() -> None:
    network = Names(
        {
            "ok.example": [PUBLIC, "2606:4700::1"],
            "mixed.example": [PUBLIC, "10.0.0.1"],
            "empty.example": [],
        }
    )
    raw = RawServer(secured("get", "url", validator="network_restricted"), mgp=OFFER)
    async with guarded(raw, kernel(network, allowed_hosts=["db.internal"])) as connection:
        for url, code in (
            ("https://ok.example/a", 0),
            ("http://8.8.8.8/", 0),
            ("http://db.internal:5432/", 0),
            ("https://mixed.example/", BLOCKED),
            ("https://empty.example/", BLOCKED),
            ("https://unknown.example/", BLOCKED),
            ("http://[::ffff:7f00:1]/", BLOCKED),
            ("http://2130706433/", BLOCKED),
        ):
            assert await called(connection, "get", url=url) == code, url
        found = await called(connection, "get", url=" ".join(["http://ok.example"] * 2))
        assert found == BLOCKED
    names = ["ok.example", "mixed.example", "empty.example", "unknown.example"]
    assert network.asked == [(name, 443) for name in names]
    assert len(raw.calls) == 3


async def test_corpus_of_names_is_refused() -> None:
    found = vectors("network_must_block.json")["dns"]
    names = {one["url"].split("/")[2]: one["answers"] for one in found}
    flips = names.pop("flip.example")  # its first answer is public: see the next test
    assert flips == [["93.184.216.34"], ["127.0.0.1"]]
    network = Names(
        {name: None if answers == "TIMEOUT" else answers for name, answers in names.items()}
    )
    check = CallValidators(network, timeout=0.01).check
    raw = RawServer(secured("get", "url", validator="network_restricted"), mgp=OFFER)
    guard = kernel()
    async with guarded(raw, guard) as connection:
        server = guard.of(connection)
        assert server is not None
        await called(connection, "get", url="x")
        for name in names:
            call = _call(server, {"url": f"http://{name}/"})
            with pytest.raises(ValidationBlockedError, match="host"):
                await waited(check(call))
        many = [f"http://h{number}.example/" for number in range(21)]
        with pytest.raises(ValidationBlockedError, match="more than 20 hosts"):
            await waited(check(_call(server, {"urls": many})))


async def waited(waiting: Awaitable[None] | None) -> None:
    assert waiting is not None
    await waiting


def _call(server: Any, arguments: Json) -> Any:
    return GuardedCall("a", server, server.tools["get"], arguments, "t")


async def test_own_requests_go_to_the_address_that_was_checked() -> None:
    rows = vectors("network_must_block.json")

    async def handle(asked: Asked, line: Line) -> None:
        status, _, target = hops.pop(0).partition(" ")
        await line.status(int(status), location=target)

    async with RawHttpServer.serving(handle) as server:
        for row in rows["redirects"]:
            hops = list(row["hops"])
            names = {"public.example": [[PUBLIC]], "rebind.example": [["127.0.0.1"]]}
            network = TestNetwork(server.port, names)
            with pytest.raises(NotFetchedError):
                await _client(network).post(row["start"], b"", "text/plain")
            assert {one[0] for one in network.connected} == {PUBLIC}
        network = TestNetwork(server.port, {"flip.example": [[PUBLIC], ["127.0.0.1"]]})
        hops = ["302 /again"]
        with pytest.raises(NotFetchedError, match=r"127\.0\.0\.1"):
            await _client(network).get("http://flip.example/", ("text/plain",))
        assert network.connected == [(PUBLIC, 80, None)]


def _client(network: Network) -> GuardedClient:
    return GuardedClient(lambda _: True, insecure=True, size=100, timeout=5, network=network)


@pytest.mark.spec("mgp-4.5-5", "mgp-4.3-4")
async def test_none_is_no_check_and_an_unknown_validator_refuses() -> None:
    tools = [
        secured("free", "command", validator="none"),
        secured("plain", "word"),
        secured("strange", "word", validator="extra_strict"),
    ]
    raw = RawServer(*tools, mgp=OFFER)
    async with guarded(raw, kernel()) as connection:
        assert await called(connection, "free", command="rm -rf / ; id") == 0
        assert await called(connection, "plain", word="x; y") == 0
        with pytest.raises(RpcError, match="'extra_strict' is not known") as raised:
            await connection.mcp.tools_call(name="strange", arguments={"word": "x"})
    assert raised.value.code == BLOCKED
    assert len(raw.calls) == 2


@pytest.mark.spec("mgp-8.2-2", "mgp-4.5-7")
async def test_servers_that_say_nothing_are_validated_by_names_and_configuration() -> None:
    raw = RawServer(
        tool("execute_command", "command"), tool("fetch", "url"), tool("lookup", "path")
    )
    policy = {"lookup": ToolPolicy(validator="readonly")}
    async with guarded(raw, kernel(tools=policy)) as connection:
        assert await called(connection, "execute_command", command="ls; rm -rf /") == BLOCKED
        assert await called(connection, "fetch", url="http://169.254.169.254/") == BLOCKED
        assert await called(connection, "lookup", path="x", content="DROP TABLE t") == BLOCKED
        assert raw.calls == []
        assert await called(connection, "execute_command", command="ls") == 0
        assert await called(connection, "lookup", path="x") == 0


@pytest.mark.spec("mgp-6.4-10")
async def test_the_error_says_what_was_refused_and_never_the_value() -> None:
    raw = RawServer(secured("run", "command", validator="sandbox"), mgp=OFFER)
    with audited() as events:
        async with guarded(raw, kernel()) as connection:
            with pytest.raises(ValidationBlockedError) as raised:
                await connection.mcp.tools_call(
                    name="run", arguments={"command": "curl -K s3cret", "more": ["a;s3cret"]}
                )
    error = raised.value
    assert error.message.startswith("run: the validator 'sandbox' refuses the call: command: ")
    assert "ToolPolicy(allowed_commands=...)" in error.message
    _, recovery = codes({"error": {"code": error.code, "data": error.data}})
    assert recovery["retryable"] is False
    assert recovery["details"]["validator"] == "sandbox"
    places = {one["place"] for one in recovery["details"]["violations"]}
    assert places == {"command", "more", "more[0]"}
    assert "s3cret" not in f"{error.message} {error.data} {events}"
    assert [one["event_type"] for one in events.of_calls] == ["VALIDATION_FAILED"]


async def test_configuration_allows_commands_and_arrays_without_a_shell() -> None:
    run = secured("run", "command", validator="sandbox")
    raw = RawServer({**run, "inputSchema": {"type": "object"}}, mgp=OFFER)
    own = ToolPolicy(allowed_commands=["make *"], without_shell=True)
    async with guarded(raw, kernel(tools={"run": own})) as connection:
        assert await called(connection, "run", command="make test") == 0
        assert await called(connection, "run", command="make test; id") == BLOCKED
        assert await called(connection, "run", command=["git", "commit", "-m", "a; b"]) == 0
        assert await called(connection, "run", command=["make", "-f"]) == BLOCKED
