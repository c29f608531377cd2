"""Members that one protocol adds to another's messages: any number on one message, none lost."""

from __future__ import annotations

from importlib import import_module
from typing import Any, cast

import pytest
from pydantic import MISSING, ValidationError

from kinwire_protocols import mcp, mcpl, mgp
from kinwire_protocols.augment import AnyAugment, ErrorAugment
from kinwire_protocols.base import Message, RpcError, from_wire, to_wire
from kinwire_protocols.mcpl.augments import (
    TOOLS_CALL_PARAMS_CHECKPOINT,
    TOOLS_CALL_PARAMS_SCOPE,
    TOOLS_CALL_PARAMS_STATE,
)
from kinwire_protocols.mgp.augments import (
    EVERY_ERROR_MGP,
    EVERY_PARAMS_TRACE_ID,
    TOOL_SECURITY,
    TOOLS_CALL_PARAMS_MGP,
)
from tests.each import each
from tests.generated.messages import DOCUMENTS, alone, generated_type

ADDING = [document for document in DOCUMENTS if document.augments]
CALL = mcp.CallToolRequestParams(name="edit", arguments={"a": None})
SCOPE = mcpl.Scope(label="/src")


def listed(document: Any) -> list[tuple[AnyAugment, dict[str, Any]]]:
    module = import_module(f"kinwire_protocols.{document.module}.augments")
    return list(zip(module.AUGMENTS, document.augments, strict=True))


CASES = [
    pytest.param(document, *pair, id=f"{document.name} {pair[0].to} {pair[0].member}")
    for document in ADDING
    for pair in listed(document)
]


class Anything(Message):
    """A message that declares nothing."""


@each(("document", "augment", "entry"), CASES)
def test_an_augment_is_what_the_document_says(
    document: Any, augment: AnyAugment, entry: dict[str, Any]
) -> None:
    assert (augment.protocol, augment.member) == (document.name, entry["member"])
    assert (augment.sender, augment.section) == (entry["from"], entry["section"])
    name = entry["schema"]["$ref"].rpartition("/")[2]
    assert augment.type is generated_type(document.name, name)
    assert [kind.name for kind in augment.errors] == entry.get("errors", [])


@each(("document", "augment", "entry"), CASES)
def test_every_example_of_its_type_is_read_and_written(
    document: Any, augment: Any, entry: dict[str, Any]
) -> None:
    name = entry["schema"]["$ref"].rpartition("/")[2]
    bare: Any = RpcError("x") if isinstance(augment, ErrorAugment) else Anything()
    for example in document.definitions[name]["examples"]:
        came = alone(document.name, name, example)
        body = {"data": {augment.member: came}, "code": 1, "message": "x"}
        read = augment.read(body if isinstance(augment, ErrorAugment) else body["data"])
        written = augment.write(bare, read)
        assert augment.read(written) == read
        assert (written.data if isinstance(bare, RpcError) else to_wire(written)) == body["data"]


def test_augments_of_two_protocols_survive_a_round_trip_on_one_message() -> None:
    trace = EVERY_PARAMS_TRACE_ID.write(CALL, "7e57")
    scoped = TOOLS_CALL_PARAMS_SCOPE.write(trace, SCOPE)
    extras = from_wire(mgp.ToolCallExtras, {"stream": True, "later": 1})
    sent = to_wire(TOOLS_CALL_PARAMS_MGP.write(scoped, extras))
    assert sent == {
        "name": "edit",
        "arguments": {"a": None},
        "trace_id": "7e57",
        "scope": {"label": "/src"},
        "_mgp": {"stream": True, "later": 1},
    }
    arrived = from_wire(mcp.CallToolRequestParams, sent)
    assert to_wire(arrived) == sent
    assert EVERY_PARAMS_TRACE_ID.read(arrived) == "7e57"
    assert TOOLS_CALL_PARAMS_SCOPE.read(arrived) == SCOPE
    assert TOOLS_CALL_PARAMS_MGP.read(arrived) == extras


def test_write_returns_a_copy_of_the_same_type() -> None:
    given = TOOLS_CALL_PARAMS_CHECKPOINT.write(CALL, "a")
    written = TOOLS_CALL_PARAMS_CHECKPOINT.write(given, "b")
    assert type(written) is mcp.CallToolRequestParams
    assert [to_wire(one).get("checkpoint") for one in (CALL, given, written)] == [None, "a", "b"]


def test_absent_null_and_a_value_are_three_things_where_null_is_a_value() -> None:
    values: list[Any] = [MISSING, None, {"notes": []}]
    written = [TOOLS_CALL_PARAMS_STATE.write(CALL, value) for value in values]
    assert [to_wire(one).get("state", "absent") for one in written] == ["absent", None, values[2]]
    assert [TOOLS_CALL_PARAMS_STATE.read(one) for one in written] == values


def test_null_reads_as_absent_where_null_is_not_a_value() -> None:
    came = from_wire(mcp.CallToolRequestParams, {"name": "edit", "scope": None})
    assert TOOLS_CALL_PARAMS_SCOPE.read(came) is None
    assert to_wire(TOOLS_CALL_PARAMS_SCOPE.write(came, None)) == {"name": "edit"}


def test_a_member_of_the_wrong_type_is_refused_and_says_where() -> None:
    with pytest.raises(ValidationError) as caught:
        TOOLS_CALL_PARAMS_SCOPE.read({"name": "edit", "scope": {"label": 5}})
    assert [error["loc"] for error in caught.value.errors()] == [("label",)]
    with pytest.raises(ValidationError):
        TOOLS_CALL_PARAMS_CHECKPOINT.read({"checkpoint": 5})


@each("wrong", [{"label": "/src"}, "/src", mcp.RequestParams()])
def test_a_value_of_another_type_is_not_written(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"tools/call params scope: expected Scope, got"):
        TOOLS_CALL_PARAMS_SCOPE.write(CALL, wrong)


def test_a_plain_value_of_the_wrong_type_is_not_written() -> None:
    with pytest.raises(ValidationError, match="string"):
        EVERY_PARAMS_TRACE_ID.write(CALL, cast(Any, 5))


def test_json_is_read_and_written_as_it_is() -> None:
    wire = {"name": "edit", "inputSchema": {"type": "object"}, "vendor": None}
    security = mgp.ToolSecurity(risk_level="safe")
    written = TOOL_SECURITY.write(wire, security)
    assert written == {**wire, "security": {"risk_level": "safe"}}
    assert TOOL_SECURITY.read(written) == security
    assert TOOL_SECURITY.read(wire) is None
    assert TOOL_SECURITY.write(written, None) == wire


def test_what_a_program_put_there_as_a_message_is_read_too() -> None:
    message = CALL.model_copy(update={"scope": SCOPE})
    assert TOOLS_CALL_PARAMS_SCOPE.read(message) == SCOPE


def test_a_message_that_declares_the_member_has_it_there() -> None:
    example = next(iter(mgp_definition("AuditNotificationParams")["examples"]))
    event = from_wire(mgp.AuditNotificationParams, {**example, "trace_id": "1"})
    assert EVERY_PARAMS_TRACE_ID.read(event) == "1"
    written = EVERY_PARAMS_TRACE_ID.write(event, "2")
    assert (written.trace_id, written.model_extra) == ("2", {})


def mgp_definition(name: str) -> dict[str, Any]:
    (document,) = (one for one in DOCUMENTS if one.name == "mgp")
    found: dict[str, Any] = document.definitions[name]
    return found


def test_a_member_of_error_data_is_written_next_to_the_others() -> None:
    recovery = mgp.ErrorRecovery(retryable=False)
    error = mcp.ResourceNotFoundError("gone", data={"uri": "a:b"})
    written = EVERY_ERROR_MGP.write(error, recovery)
    assert type(written) is mcp.ResourceNotFoundError
    assert written.data == {"uri": "a:b", "_mgp": {"retryable": False}}
    assert EVERY_ERROR_MGP.read(written) == recovery
    assert (error.data, EVERY_ERROR_MGP.read(error)) == ({"uri": "a:b"}, None)
    assert EVERY_ERROR_MGP.write(written, None).data == {"uri": "a:b"}
    body = {"code": 1, "message": "x"}
    assert EVERY_ERROR_MGP.read(EVERY_ERROR_MGP.write(body, recovery)) == recovery
    assert EVERY_ERROR_MGP.write(EVERY_ERROR_MGP.write(body, recovery), None) == body


def test_error_data_that_is_not_an_object_is_not_overwritten() -> None:
    with pytest.raises(TypeError, match="expected data that is an object, got 'text'"):
        EVERY_ERROR_MGP.write(RpcError("x", data="text"), mgp.ErrorRecovery())
    assert EVERY_ERROR_MGP.read(RpcError("x", data="text")) is None
