"""Content, state and what stands in calls of tools, as MCP Live 0.4.1 has them."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import MISSING, ValidationError

from kinwire_protocols import mcp, mcpl
from kinwire_protocols.base import JsonObject, Message, from_wire, to_wire
from kinwire_protocols.mcpl import augments
from tests.each import each
from tests.generated.messages import alone


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"type": "text", "text": ""}, marks=pytest.mark.spec("mcpl-10.3-2")),
        pytest.param(
            {"type": "image", "data": "AA==", "mimeType": "image/png"},
            marks=pytest.mark.spec("mcpl-10.3-3", "mcpl-B.1-2", "mcpl-10-2"),
        ),
        pytest.param({"type": "image", "uri": "file:///a"}, marks=pytest.mark.spec("mcpl-10.3-3")),
        pytest.param({"type": "audio", "uri": "file:///a"}, marks=pytest.mark.spec("mcpl-10.3-3")),
        pytest.param(
            {"type": "resource", "uri": "memory://facts/1"},
            marks=pytest.mark.spec("mcpl-10.3-5", "mcpl-B.1-3"),
        ),
        {"type": "resource", "resource": {"uri": "memory://facts/1", "text": ""}},
    ],
    ids=str,
)
def test_a_block_comes_in_each_form(value: JsonObject) -> None:
    assert alone("mcpl", "Block", value) == value
    assert alone("mcpl", "Content", [value]) == [value]


@pytest.mark.spec("mcpl-10.3-1", "mcpl-B.1-1", "mcpl-0.3.0-draft-february-2026-1")
@pytest.mark.parametrize(
    "value",
    [
        {"type": "text"},
        {"type": 5, "uri": "a"},
        {"text": "no type"},
        "text",
    ],
    ids=str,
)
def test_a_block_of_another_kind_is_refused(value: Any) -> None:
    with pytest.raises(ValidationError):
        alone("mcpl", "Block", value)


@pytest.mark.spec("mcpl-10.3-6")
def test_content_of_an_injection_may_be_plain_text() -> None:
    injection = {"namespace": "n", "position": "system", "content": "Hello"}
    assert alone("mcpl", "ContextInjection", injection) == injection
    assert alone("mcpl", "Content", "Hello") == "Hello"


SENT = {
    "PushEventPayload": {},
    "IncomingMessage": {"channelId": "c", "messageId": "1"},
    "ChannelsPublishParams": {"channelId": "c"},
    "ChannelsOutgoingCompleteParams": {"channelId": "c", "inferenceId": "i"},
}


@pytest.mark.spec("mcpl-9.2-6")
@each("kind", SENT)
def test_other_content_is_a_list_and_plain_text_is_read_as_one_block(kind: str) -> None:
    block = {"type": "text", "text": "Hello"}
    assert alone("mcpl", kind, SENT[kind] | {"content": "Hello"})["content"] == [block]
    assert alone("mcpl", kind, SENT[kind] | {"content": [block]})["content"] == [block]
    assert alone("mcpl", kind, SENT[kind] | {"content": []})["content"] == []
    for wrong in (None, 1, block, [5], [{"type": "text"}]):
        with pytest.raises(ValidationError):
            alone("mcpl", kind, SENT[kind] | {"content": wrong})


@pytest.mark.spec("mcpl-10.1-5")
def test_the_users_message_is_text_or_null_and_null_is_not_absent() -> None:
    needed = {"inferenceId": "i", "conversationId": "c", "turnIndex": 0, "model": {"id": "m"}}
    for value in ({}, {"userMessage": None}, {"userMessage": ""}):
        assert to_wire(from_wire(mcpl.BeforeInferenceParams, needed | value)) == needed | value
    assert from_wire(mcpl.BeforeInferenceParams, needed).user_message is MISSING
    with pytest.raises(ValidationError, match="userMessage"):
        from_wire(mcpl.BeforeInferenceParams, needed | {"userMessage": 5})


@pytest.mark.spec("mcpl-8.3-3")
def test_the_first_checkpoint_has_a_null_parent_and_may_have_a_null_state() -> None:
    first = {"checkpoint": "chk_abc", "parent": None, "data": None}
    assert to_wire(from_wire(mcpl.StateUpdate, first)) == first
    opaque = from_wire(mcpl.StateUpdate, {"checkpoint": "chk_abc"})
    assert (opaque.parent, opaque.data, opaque.patch) == (MISSING, MISSING, None)


@pytest.mark.spec("mcpl-8.3-4")
@each(
    ("operation", "missing"),
    [
        ({"op": "add", "path": "/a", "value": None}, "value"),
        ({"op": "remove", "path": "/a"}, "path"),
        ({"op": "replace", "path": "", "value": [1]}, "value"),
        ({"op": "move", "from": "/a", "path": "/b"}, "from"),
        ({"op": "copy", "from": "/a", "path": "/b"}, "from"),
        ({"op": "test", "path": "/a", "value": {}}, "value"),
    ],
)
def test_a_patch_has_the_six_operations_of_json_patch(operation: JsonObject, missing: str) -> None:
    assert alone("mcpl", "PatchOperation", operation) == operation
    broken = {name: value for name, value in operation.items() if name != missing}
    with pytest.raises(ValidationError):
        alone("mcpl", "PatchOperation", broken)


@pytest.mark.parametrize(
    ("kind", "gone"),
    [
        pytest.param(
            mcpl.PushEventParams,
            "priority summary suggestedAction type",
            marks=pytest.mark.spec("mcpl-0.2.0-draft-january-2026-2"),
        ),
        pytest.param(
            mcpl.InferenceRequestParams,
            "purpose costHint",
            marks=pytest.mark.spec("mcpl-0.2.0-draft-january-2026-3"),
        ),
        pytest.param(
            mcpl.ContextInjection,
            "positionHint",
            marks=pytest.mark.spec("mcpl-0.2.0-draft-january-2026-3"),
        ),
        pytest.param(
            mcpl.FeatureSet, "required", marks=pytest.mark.spec("mcpl-0.2.0-draft-january-2026-4")
        ),
        pytest.param(
            mcpl.BeforeInferenceParams, "featureSet", marks=pytest.mark.spec("mcpl-6.5-2")
        ),
        pytest.param(mcpl.AfterInferenceParams, "featureSet", marks=pytest.mark.spec("mcpl-6.5-2")),
    ],
)
def test_a_message_has_no_such_member(kind: type[Message], gone: str) -> None:
    members = {field.alias or name for name, field in kind.model_fields.items()}
    assert not members & set(gone.split())


@pytest.mark.spec("mcpl-11.2-7")
def test_hints_are_kept_in_whatever_form_they_come() -> None:
    hints = {"model": ["a", "b"], "modelTier": 2, "costTier": None, "speed": {"above": "all"}}
    assert to_wire(from_wire(mcpl.InferencePreferences, hints)) == hints


@pytest.mark.spec("mcpl-8-7", "mcpl-8-8", "mcpl-0.3.0-draft-february-2026-4")
@each(
    ("kind", "value"),
    [
        (mcp.CallToolRequestParams, {"name": "a", "state": {}, "later": [1]}),
        (mcp.CallToolResult, {"content": [], "state": {}, "later": {"a": None}}),
        (mcpl.RollbackParams, {"featureSet": "a", "checkpoint": "b", "later": None}),
        (mcpl.RollbackResult, {"checkpoint": "b", "success": True, "later": {}}),
    ],
)
def test_members_that_nobody_knows_are_passed_over(kind: type[Message], value: JsonObject) -> None:
    assert to_wire(from_wire(kind, value)) == value


CALL: JsonObject = {"name": "add_note", "arguments": {"text": "Buy groceries"}}


@pytest.mark.parametrize(
    ("augment", "value", "wrong"),
    [
        pytest.param(
            augments.TOOLS_CALL_PARAMS_SCOPE,
            {"label": "/a", "payload": {"path": "/a"}},
            {"payload": {}},
            marks=pytest.mark.spec("mcpl-7.7-2", "mcpl-8-6"),
        ),
        pytest.param(
            augments.TOOLS_CALL_PARAMS_CHECKPOINT,
            "chk_def",
            5,
            marks=pytest.mark.spec("mcpl-8.4-2", "mcpl-8-6"),
        ),
    ],
    ids=lambda value: getattr(value, "member", None),
)
def test_what_a_call_carries_is_read_from_it_and_leaves_the_rest_alone(
    augment: Any, value: Any, wrong: Any
) -> None:
    sent = {**CALL, augment.member: value, "_mgp": {"delegation": {}}}
    params = from_wire(mcp.CallToolRequestParams, sent)
    assert to_wire(augment.write(params, augment.read(params))) == sent
    assert augment.read(from_wire(mcp.CallToolRequestParams, CALL)) is None
    with pytest.raises(ValidationError):
        augment.read(from_wire(mcp.CallToolRequestParams, {**CALL, augment.member: wrong}))


@pytest.mark.spec("mcpl-8.4-1")
def test_the_state_of_a_call_is_plain_data_and_may_be_null() -> None:
    state = augments.TOOLS_CALL_PARAMS_STATE
    values: list[Any] = [{"notes": []}, [1], "text", None]
    for value in values:
        params = from_wire(mcp.CallToolRequestParams, {**CALL, "state": value})
        assert state.read(params) == value
        assert to_wire(state.write(from_wire(mcp.CallToolRequestParams, CALL), value)) == to_wire(
            params
        )
    assert state.read(from_wire(mcp.CallToolRequestParams, CALL)) is MISSING


@pytest.mark.spec("mcpl-8.2-1", "mcpl-8.4-3")
def test_the_state_of_a_result_is_a_checkpoint_with_its_parent() -> None:
    sent: JsonObject = {
        "content": [],
        "state": {"checkpoint": "chk_def", "parent": "chk_abc", "patch": []},
    }
    result = from_wire(mcp.CallToolResult, sent)
    state = augments.TOOLS_CALL_RESULT_STATE.read(result)
    assert state is not None
    assert (state.checkpoint, state.parent, state.patch) == ("chk_def", "chk_abc", [])
    assert to_wire(augments.TOOLS_CALL_RESULT_STATE.write(result, state)) == sent
