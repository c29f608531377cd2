"""Methods that came, went and changed: old and new peers call each other, in both directions.

Each end has real sessions with the rows of its side as handlers. What an end may send is what its
bindings have a stub for. Who is not heard has to be whom the verdict named, and nobody else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import ModuleType
from typing import Any, NamedTuple

import pytest
from anyio import wait_all_tasks_blocked

from kinwire.mcp.profile import PROFILE
from kinwire.rpc.routes import Route
from kinwire.rpc.session import Session
from kinwire.transports.memory import memory_pair
from kinwire_codegen.compare.verdict import Level
from kinwire_protocols.jsonrpc.errors import MethodNotFoundError
from kinwire_protocols.peer import Method
from tests.codegen.compare.documents import Node
from tests.codegen.compare.two_sides import Sides, two_sides
from tests.codegen.documents import protocol

# Bindings of two sides are made first.
pytestmark = [pytest.mark.slow, pytest.mark.anyio]

ENDS = ("client", "server")


def asked(sender: str = "client", **more: Any) -> Node:
    row = {"kind": "request", "from": sender, "section": "1", "summary": "It."}
    return row | {"params": "", "result": ""} | more


def notified(sender: str = "server", **more: Any) -> Node:
    row = {"kind": "notification", "from": sender, "section": "1", "summary": "It."}
    return row | {"params": ""} | more


class Case(NamedTuple):
    """The row of a method on each side; None where it is missing."""

    rule: str
    old: Node | None
    new: Node | None
    name: str = ""
    """What it is called on the new side, if that is another name."""


CASES = {
    "a request is new": Case("method-added", None, asked()),
    "a notification is new": Case("method-added", None, notified()),
    "a request is gone": Case("method-removed", asked(), None),
    "a request of the server is gone": Case("method-removed", asked("server"), None),
    "a notification is gone": Case("method-removed", notified(), None),
    "another name of a request": Case("method-renamed", asked(), asked(), "{}s"),
    "another name of a notification": Case("method-renamed", notified(), notified(), "{}s"),
    "a request by two names": Case(
        "method-renamed-with-alias", asked(), asked(aliases=["{}"]), "{}s"
    ),
    "a notification by two names": Case(
        "method-renamed-with-alias", notified(), notified(aliases=["{}"]), "{}s"
    ),
    "one more name": Case("alias-added", asked(), asked(aliases=["{}/alias"])),
    "one name less": Case("alias-removed", asked(aliases=["{}/alias"]), asked()),
    "a request becomes a notification": Case("kind-changed", asked(), notified("client")),
    "a notification becomes a request": Case("kind-changed", notified(), asked("server")),
    "a request may be a notification": Case("kind-widened", asked(), asked(kind="either")),
    "a notification may be a request": Case(
        "kind-widened", notified(), asked("server", kind="either")
    ),
    "it is a request alone": Case("kind-narrowed", asked(kind="either"), asked()),
    "it is a notification alone": Case("kind-narrowed", asked(kind="either"), notified("client")),
    "the server asks": Case("sender-changed", asked(), asked("server")),
    "the client notifies": Case("sender-changed", notified(), notified("client")),
    "both ask": Case("sender-widened", asked(), asked("both")),
    "both notify": Case("sender-widened", notified(), notified("both")),
    "one end asks no more": Case("sender-narrowed", asked("both"), asked()),
    "one end does not notify any more": Case("sender-narrowed", notified("both"), notified()),
    "a request is only considered": Case("method-withdrawn", asked(), asked(status="considered")),
    "a request is there": Case("method-established", asked(status="considered"), asked()),
    "a request is deprecated": Case("method-deprecated", asked(), asked(deprecated=True)),
}
FRESH = {"method-added", "method-established", "alias-added"}
"""What only new peers know: the rule warns them that old peers do not."""
UNNOTICED = {"method-removed"}
"""Whose senders of notifications notice nothing, as nobody answers those in any case."""


def document(side: str) -> Node:
    methods: Node = {}
    types: Node = {}
    for number, case in enumerate(CASES.values()):
        row = getattr(case, side)
        if row is None:
            continue
        base = f"m{number}/it"
        name = case.name.format(base) if side == "new" and case.name else base
        kind = {part: f"#/$defs/It{number}" for part in ("params", "result") if part in row}
        more = {key: [one.format(base) for one in row[key]] for key in {"aliases"} & row.keys()}
        methods[name] = row | kind | more
        # Members of their own: rows with the same ones would pass for renamed.
        members = {f"a{number}": {"type": "string", "description": "A text."}}
        types[f"It{number}"] = {"description": "It.", "type": "object", "properties": members}
    return protocol(types=types, methods=methods)


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sides]:
    """The bindings of both sides, and what the comparison says of them."""
    with two_sides(tmp_path_factory, document("old"), document("new")) as made:
        yield made


class Sent(NamedTuple):
    """A message that an end may send."""

    end: str
    name: str
    form: str


def sent_by(side: ModuleType, prefix: str) -> dict[Sent, Method[Any, Any]]:
    """Return what the ends of one side may send of a case, by each of its names."""
    found = {}
    for row in side.methods.PROTOCOL.methods.values():
        if not row.name.startswith(prefix) or row.status == "considered":
            continue
        for end in ENDS if row.sender == "both" else (row.sender,):
            for name in row.names:
                for form in ("request", "notification"):
                    if row.kind in (form, "either"):
                        found[Sent(end, name, form)] = replace(row, name=name)
    return found


async def is_heard(sent: Sent, row: Method[Any, Any], reader: ModuleType) -> bool:
    """Return whether the handlers of the other side get the message, and a request its answer."""
    base = reader.ServerHandlers if sent.end == "client" else reader.ClientHandlers
    heard: list[str] = []

    async def handle(params: Any, request: Any) -> Any:
        heard.append(request.method.name)
        return request.method.result() if request.id is not None else None

    routes = {name: Route(known, handle) for name, known in base.rows.items()}
    first, second = memory_pair()
    async with (
        Session(first, profile=PROFILE, routes={}) as sending,
        Session(second, profile=PROFILE, routes=routes),
    ):
        if sent.form == "notification":
            await sending.notify(row, row.params())
            # Behind it, so that it has been read once this is answered; then its handler runs.
            with pytest.raises(MethodNotFoundError):
                await sending.raw("nobody/has/this")
            await wait_all_tasks_blocked()
            return bool(heard)
        try:
            await sending.call(row, row.params())
            return bool(heard)
        except MethodNotFoundError:
            return False


async def broken(sides: Sides, prefix: str, rules: set[str]) -> set[tuple[str, str]]:
    """Return which groups of old peers are not heard, or hear nothing, with the ends they are."""
    old, new = sent_by(sides.old, prefix), sent_by(sides.new, prefix)
    other = dict(zip(ENDS, reversed(ENDS), strict=True))
    found = set()
    for sent, row in old.items():
        if sent.form == "notification" and rules & UNNOTICED:
            continue
        if not await is_heard(sent, row, sides.new):
            found.add(("old senders", sent.end))
    for sent, row in new.items():
        if not await is_heard(sent, row, sides.old):
            found.add(("old receivers", other[sent.end]))
    for sent in old.keys() - new.keys():
        if sent.form == "notification" and not any(one.name == sent.name for one in new):
            found.add(("old receivers", other[sent.end]))
    return found


@pytest.mark.parametrize("what", CASES)
async def test_who_is_not_heard_is_whom_the_verdict_named(sides: Sides, what: str) -> None:
    case = CASES[what]
    prefix = f"m{list(CASES).index(what)}/"
    about = [one for one in sides.changes if str(one.place[1]).startswith(prefix)]
    rules = {one.rule.name for one in about}
    assert case.rule in rules
    really = await broken(sides, prefix, rules)
    if rules <= FRESH:
        assert {group for group, _ in really} == {"old receivers"}
        assert {change.level for change in about} == {Level.SAFE}
        return
    groups = {victim.group for one in about for victim in one.breaks}
    groups = {"old receivers" if group == "exhaustive readers" else group for group in groups}
    assert {group for group, _ in really} == groups
    named = {
        (victim.group, end)
        for one in about
        for victim in one.breaks
        for role in victim.roles
        for end in role.split(" or ")
    }
    assert really <= named
    assert bool(really) == any(change.level > Level.SAFE for change in about)
