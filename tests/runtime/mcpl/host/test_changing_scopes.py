"""Lists and sets that change while somebody is asked about a scope: the newest ones count."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from kinwire.mcpl import ScopeAnswer, ScopeDeniedError, ScopeRequest, Scopes
from kinwire.storage import open_store
from tests.runtime.managers.fixtures_records import FailingRecords
from tests.runtime.mcpl.fixtures_scopes import LISTS, SETS, files

pytestmark = pytest.mark.anyio


class SlowPerson:
    """Answers when the test lets it."""

    def __init__(self, answer: ScopeAnswer | bool) -> None:
        self.answer = answer
        self.times = 0
        self.asked, self.go_on = anyio.Event(), anyio.Event()

    async def __call__(self, request: ScopeRequest) -> ScopeAnswer | bool:
        self.times += 1
        self.asked.set()
        await self.go_on.wait()
        return self.answer


@pytest.mark.parametrize("lists", [LISTS, None])
@pytest.mark.parametrize(
    ("answer", "changed", "approved", "reason"),
    [
        (True, {"blacklist": ["/etc/**"]}, False, "the blacklist has /etc/**"),
        (True, {"blacklist": ["/home/**"]}, True, None),
        (ScopeAnswer(False, reason="not today"), {"blacklist": ["/etc/**"]}, False, "not today"),
    ],
)
@pytest.mark.spec("mcpl-7.6-1", "mcpl-7.6-3")
async def test_a_blacklist_that_was_set_while_somebody_was_asked_counts(
    lists: Any, answer: ScopeAnswer | bool, changed: Any, approved: bool, reason: str | None
) -> None:
    person, answers = SlowPerson(answer), list[Any]()

    async def elevate() -> None:
        answers.append(await server.elevate("/etc/hosts"))

    async with (
        files(Scopes(lists=lists, ask=person)) as (server, (_, live)),
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(elevate)
        await person.asked.wait()
        await live.scopes.set("files.edit", **changed)
        person.go_on.set()
    assert [(one.approved, one.reason) for one in answers] == [(approved, reason)]


@pytest.mark.spec("mcpl-7.3-3", "mcpl-7.7-3")
async def test_lists_match_labels_and_not_the_name_of_a_tool_whose_scope_is_unknown() -> None:
    person = SlowPerson(True)

    async def call() -> None:
        await connection.mcp.tools_call(name="format_disk", arguments={"disk": "c"})

    async with (
        files(Scopes(ask=person)) as (server, (connection, live)),
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(call)
        await person.asked.wait()
        await live.scopes.set("files.edit", blacklist=["format_disk"])
        person.go_on.set()
    assert server.edited == ["c"]


@pytest.mark.parametrize(
    ("answer", "times"),
    [
        (ScopeAnswer(False, lasts=0), 1),
        (ScopeAnswer(True, lasts=0), 2),
        (ScopeAnswer(True, lasts=60), 1),
    ],
)
@pytest.mark.spec("mcpl-7.6-3", "mcpl-7.6-4")
async def test_equal_requests_share_an_answer_but_no_approval_for_one_time(
    answer: ScopeAnswer, times: int
) -> None:
    person, answers = SlowPerson(answer), list[bool]()

    async def elevate() -> None:
        answers.append((await server.elevate("/etc/hosts")).approved)

    async with files(Scopes(ask=person)) as (server, _), anyio.create_task_group() as tasks:
        tasks.start_soon(elevate)
        tasks.start_soon(elevate)
        await person.asked.wait()
        await anyio.wait_all_tasks_blocked()
        person.go_on.set()
    assert (answers, person.times) == ([answer.approved] * 2, times)


@pytest.mark.spec("mcpl-7.6-4")
async def test_what_is_revoked_while_it_is_asked_about_is_not_stored() -> None:
    person, answers = SlowPerson(True), list[bool]()

    async def elevate() -> None:
        answers.append((await server.elevate("/etc/hosts")).approved)

    async with open_store("memory:") as store:
        records = FailingRecords(await store.records("mcpl"))
        written = list[str]()

        async def put(key: str, value: Any, **options: Any) -> int:
            written.append(key)
            return await records.records.put(key, value, **options)

        records.put = put  # type: ignore[method-assign]
        async with (
            files(Scopes(ask=person), records=records) as (server, (_, live)),
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(elevate)
            await person.asked.wait()
            await live.scopes.revoke("files.edit")
            person.go_on.set()
    assert answers == [True]
    assert [key for key in written if key.startswith("approval/")] == []


@pytest.mark.spec("mcpl-5.3-1")
@pytest.mark.parametrize(
    ("change", "text"),
    [
        ("sets", "sets disabled: files.edit; lists changed: -"),
        ("lists", "sets disabled: -; lists changed: files.edit"),
        ("nothing", None),
    ],
)
async def test_a_host_says_what_it_has_restricted_earlier(
    change: str, text: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_store("memory:") as store:
        records = await store.records("mcpl")
        async with files(Scopes(), records=records) as (_, (_, live)):
            if change == "sets":
                await live.disable("files.edit")
            elif change == "lists":
                await live.scopes.set("files.edit", blacklist=["/etc/**"])
        caplog.clear()
        async with files(Scopes(), records=records) as (server, (_, live)):
            update = server.mcpl.hosts[0]
            assert live.enabled == sorted({*SETS} - ({"files.edit"} if change == "sets" else set()))
            assert bool(update.scopes) is (change == "lists")
    said = [one for one in caplog.messages if "earlier restrictions" in one]
    assert [one.partition("in force: ")[2] for one in said] == ([] if text is None else [text])


@pytest.mark.spec("mcpl-7.7-3", "mcpl-7.6-3")
async def test_a_call_without_arguments_is_judged_like_any_other() -> None:
    found, payloads = list[Any](), list[Any]()

    def scope_of(tool: str, arguments: Any) -> None:
        found.append((tool, arguments))

    async def deny(request: ScopeRequest) -> bool:
        payloads.append(request.payload)
        return False

    async with files(Scopes(scope_of=scope_of, ask=deny)) as (server, (connection, _)):
        with pytest.raises(ScopeDeniedError):
            await connection.mcp.tools_call(name="format_disk")
    assert (found, payloads, server.edited) == ([("format_disk", {})], [{}], [])
