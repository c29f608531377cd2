"""The bindings are useful alone: with only pydantic installed, every stub reaches every handler."""

from __future__ import annotations

import inspect
import json
from typing import Any

import pytest

from kinwire_protocols import mcp
from tests.generated.interpreter import PROGRAMS, ROOT, run

SIDES = [
    ("server", mcp.ServerHandlers, mcp.ServerStub),
    ("client", mcp.ClientHandlers, mcp.ClientStub),
]


@pytest.fixture(scope="module")
def driven() -> Any:
    """What every stub sent and every handler was given, in an interpreter without the rest."""
    return json.loads(run(str(PROGRAMS / "alone.py"), str(ROOT / "generated")))


@pytest.mark.parametrize(
    ("side", "name"), [(side, name) for side, handlers, _ in SIDES for name in handlers.rows]
)
def test_params_and_result_of_a_method_arrive_as_they_left(
    side: str, name: str, driven: Any
) -> None:
    turns = driven[side][name]
    assert turns
    for turn in turns:
        assert turn["arrived"] == turn["params"]
        assert turn["result"] == turn["answer"]


@pytest.mark.parametrize("side", ["server", "client"])
def test_no_other_method_was_driven(side: str, driven: Any) -> None:
    rows = {"server": mcp.ServerHandlers.rows, "client": mcp.ClientHandlers.rows}[side]
    assert set(driven[side]) == set(rows)


@pytest.mark.parametrize(("side", "handlers"), [(side, handlers) for side, handlers, _ in SIDES])
def test_every_member_of_every_params_was_sent(side: str, handlers: Any, driven: Any) -> None:
    for name, row in handlers.rows.items():
        sent = {member for turn in driven[side][name] for member in turn["params"]}
        members = {field.alias or key for key, field in row.params.model_fields.items()}
        assert members - sent == set(), name


@pytest.mark.parametrize(("side", "handlers", "stubs"), SIDES)
def test_a_side_has_the_methods_that_the_other_may_send(
    side: str, handlers: Any, stubs: Any
) -> None:
    senders = {"server": {"client", "both"}, "client": {"server", "both"}}[side]
    rows = [row for row in mcp.PROTOCOL.methods.values() if row.sender in senders]
    assert list(handlers.rows.values()) == rows
    members = {name for name, _ in inspect.getmembers(stubs, inspect.iscoroutinefunction)}
    assert members == {row.attribute for row in rows}


@pytest.mark.parametrize(("side", "handlers", "stubs"), SIDES)
def test_a_stub_takes_the_members_of_its_params_by_name(
    side: str, handlers: Any, stubs: Any
) -> None:
    for row in handlers.rows.values():
        _, *parameters = inspect.signature(getattr(stubs, row.attribute)).parameters.values()
        assert {one.kind for one in parameters} == {inspect.Parameter.KEYWORD_ONLY}
        assert [one.name for one in parameters] == list(row.params.model_fields)


def test_what_the_program_may_not_import_is_really_refused() -> None:
    source = (PROGRAMS / "alone.py").read_text(encoding="utf-8")
    hook = source[source.index("class OnlyPydantic") : source.index("sys.path.insert")]
    allowed = source[source.index("ALLOWED = {") : source.index("class OnlyPydantic")]
    for package in ("kinwire", "anyio", "kinwire_codegen", "jsonschema"):
        tried = f"try:\n    import {package}\nexcept ImportError as e:\n    print(e)\n"
        assert run("-c", f"import sys\n{allowed}{hook}{tried}") == f"{package} is not there\n"
