"""What the tables of MCP Live 0.4.1 say: methods, errors, enumerations, limits, offers."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from kinwire_protocols import mcp, mcpl
from kinwire_protocols.base import JsonObject, RpcError, from_wire, to_wire
from kinwire_protocols.mcpl import methods, models, tables
from kinwire_protocols.peer import Method
from tests.generated.messages import alone
from tests.specified import specified

SENDERS = [
    ("push/event", "request", "server"),
    ("context/beforeInference", "request", "client"),
    ("context/afterInference", "either", "client"),
    ("inference/request", "request", "server"),
    ("inference/chunk", "notification", "client"),
    ("model/info", "request", "server"),
    ("featureSets/update", "notification", "client"),
    ("featureSets/changed", "notification", "server"),
    ("scope/elevate", "request", "server"),
    ("state/rollback", "request", "client"),
    ("channels/register", "request", "server"),
    ("channels/changed", "notification", "server"),
    ("channels/list", "request", "both"),
    ("channels/open", "request", "client"),
    ("channels/close", "request", "client"),
    ("channels/outgoing/chunk", "notification", "client"),
    ("channels/outgoing/complete", "notification", "client"),
    ("channels/publish", "either", "client"),
    ("channels/incoming", "request", "server"),
]


# Where the text says it once more.
AGAIN = {
    "push/event": "mcpl-9.1-1",
    "context/beforeInference": "mcpl-10.1-1",
    "context/afterInference": "mcpl-10.5-1",
    "inference/request": "mcpl-11.1-1",
    "featureSets/update": "mcpl-6.7-1",
    "featureSets/changed": "mcpl-6.7-4",
    "state/rollback": "mcpl-8.5-1",
}


@pytest.mark.parametrize(
    ("name", "kind", "sender"),
    [
        pytest.param(
            *row,
            marks=pytest.mark.spec(f"mcpl-4.1-{number}", *AGAIN.get(row[0], "").split()),
            id=row[0],
        )
        for number, row in enumerate(SENDERS, start=3)
    ],
)
def test_a_method_is_sent_by_the_side_and_as_the_kind_of_the_table(
    name: str, kind: str, sender: str
) -> None:
    row = mcpl.PROTOCOL.methods[name]
    if name == "featureSets/update":  # hosts of the draft of 0.5 also send it as a request
        kind = "either"
    assert (row.kind, row.sender) == (kind, sender)


@pytest.mark.spec("mcpl-4-1")
def test_the_table_has_nineteen_methods_and_none_of_mcp() -> None:
    assert specified(mcpl.PROTOCOL).keys() == {name for name, _, _ in SENDERS}
    assert len(SENDERS) == 19
    assert not mcpl.PROTOCOL.methods.keys() & mcp.PROTOCOL.methods.keys()


@pytest.mark.spec("mcpl-0.4.0-draft-march-2026-1", "mcpl-0.4.0-draft-march-2026-2")
def test_nine_methods_are_about_channels_and_none_about_a_default_one() -> None:
    about = {name.removeprefix("channels/") for name, _, _ in SENDERS if "channels/" in name}
    expected = "register changed list open close outgoing/chunk outgoing/complete publish incoming"
    assert about == set(expected.split())


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(methods.MODEL_INFO, marks=pytest.mark.spec("mcpl-12.1-1")),
        pytest.param(methods.CHANNELS_LIST, marks=pytest.mark.spec("mcpl-14.3-3")),
    ],
    ids=lambda row: row.name,
)
def test_params_may_be_empty(row: Method[Any, Any]) -> None:
    assert to_wire(row.decode_params({})) == {}


@pytest.mark.spec("mcpl-3.1-1", "mcpl-5.1-1", "mcpl-5.2-1")
def test_the_offer_of_either_side_stands_below_experimental() -> None:
    assert mcpl.PROTOCOL.capability == "experimental.mcpl"
    offer: JsonObject = {"version": tables.CAPABILITY_VERSION, "pushEvents": True}
    assert to_wire(from_wire(mcpl.McplCapability, offer)) == offer


@pytest.mark.spec("mcpl-3.1-2")
def test_an_offer_has_the_members_of_the_text() -> None:
    members = {field.alias or name for name, field in mcpl.McplCapability.model_fields.items()} - {
        "rollback",
        "scopedAccess",  # peers also write these two
        "state",  # the text leaves the shape of what a host can do with state open
    }
    expected = "version pushEvents contextHooks inferenceRequest modelInfo channels featureSets"
    assert members == set(expected.split())


SET: JsonObject = {"description": "A sign of life", "uses": ["tools"], "hostState": False}


@pytest.mark.parametrize(
    "offer",
    [
        pytest.param({"featureSets": {"heartbeat": SET}}, marks=pytest.mark.spec("mcpl-6.1-1")),
        {"featureSets": [{"name": "heartbeat", **SET}]},
        pytest.param({"featureSets": True}, marks=pytest.mark.spec("mcpl-5.2-2")),
        {"channels": False, "rollback": False, "scopedAccess": True},
        {"channels": {"publish": True}},
        {"contextHooks": {"afterInference": True}},
        {"contextHooks": True, "inferenceRequest": True},
        {},
    ],
    ids=str,
)
def test_an_offer_is_read_in_each_form_that_peers_write(offer: JsonObject) -> None:
    assert to_wire(from_wire(mcpl.McplCapability, offer)) == offer


@pytest.mark.parametrize(
    ("name", "values"),
    [
        pytest.param(
            "FeatureSetUse",
            "pushEvents contextHooks.beforeInference contextHooks.afterInference inferenceRequest"
            " tools channels.publish channels.observe",
            marks=pytest.mark.spec("mcpl-6.2-3"),
        ),
        pytest.param(
            "Position", "system beforeUser afterUser", marks=pytest.mark.spec("mcpl-B.3-1")
        ),
        pytest.param(
            "FinishReason",
            "end_turn max_tokens stop_sequence",
            marks=pytest.mark.spec("mcpl-B.3-2", "mcpl-11.3-3"),
        ),
        pytest.param(
            "ChannelDirection",
            "outbound inbound bidirectional",
            marks=pytest.mark.spec("mcpl-14.2-3"),
        ),
    ],
)
def test_an_enumeration_has_the_values_of_the_text(name: str, values: str) -> None:
    assert " ".join(get_args(getattr(models, name).__value__)) == values


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("FeatureSet", {"description": "", "uses": ["somethingNew"]}),
        (
            "InferenceRequestResult",
            {"content": "", "model": "m", "finishReason": "stop"},
        ),
    ],
)
def test_values_of_later_versions_are_kept_where_a_peer_reports_them(
    kind: str, value: JsonObject
) -> None:
    assert alone("mcpl", kind, value) == value


ERRORS = [
    (-32001, mcpl.FeatureSetNotEnabledError),
    (-32003, mcpl.UnknownFeatureSetError),
    (-32005, mcpl.CheckpointNotFoundError),
    (-32017, mcpl.ChannelNotPermittedError),
    (-32023, mcpl.UnknownChannelError),
    (-32024, mcpl.ChannelOpenFailedError),
]


@pytest.mark.spec("mcpl-A-1")
def test_the_protocol_has_six_errors() -> None:
    draft = {-32002: mcpl.CapabilityDeniedError}  # of 0.5
    known = {kind.default_code: kind for kind in mcpl.PROTOCOL.errors.values()}
    assert known == dict(ERRORS) | draft


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        pytest.param(*error, marks=pytest.mark.spec(*rows), id=str(error[0]))
        for error, rows in zip(
            ERRORS,
            [
                ("mcpl-A-2",),
                ("mcpl-A-3",),
                ("mcpl-A-4",),
                ("mcpl-A-5", "mcpl-14.6-1"),
                ("mcpl-A-5", "mcpl-14.6-2"),
                ("mcpl-A-5", "mcpl-14.6-3"),
            ],
            strict=True,
        )
    ],
)
def test_an_error_has_its_code_and_is_of_this_protocol(code: int, kind: type[RpcError]) -> None:
    assert (kind().code, kind.protocol) == (code, "mcpl")
    assert f"{kind.name}Error" == kind.__name__


@pytest.mark.spec("mcpl-10.6-2", "mcpl-10.6-3")
def test_hooks_have_five_and_ten_seconds() -> None:
    assert (tables.BEFORE_INFERENCE_TIMEOUT, tables.AFTER_INFERENCE_TIMEOUT) == (5, 10)


def test_each_capability_has_a_risk_and_its_remedy() -> None:
    expected = "pushEvents contextHooks.beforeInference contextHooks.afterInference"
    assert [*tables.CAPABILITY_RISKS] == [*expected.split(), "inferenceRequest", "scopes"]
    assert all(one.risk and one.mitigation for one in tables.CAPABILITY_RISKS.values())


@pytest.mark.spec("mcpl-13.3-4")
def test_the_policy_that_is_recommended_is_to_fail_open() -> None:
    found = [name for name, policy in tables.FAILURE_POLICIES.items() if policy.recommended]
    assert found == ["fail-open"]


@pytest.mark.spec("mcpl-14.1-3")
def test_feature_sets_of_channels_publish_or_observe() -> None:
    found = {name: each.uses for name, each in tables.CHANNEL_FEATURE_SETS.items()}
    assert found == {
        "channels.publish": "channels.publish",
        "channels.observe": "channels.observe",
        "channels.thinking": "channels.observe",
    }


def test_names_of_tables_are_those_of_methods_and_uses() -> None:
    assert set(tables.USES) == set(get_args(models.FeatureSetUse.__value__))
    named = {name for use in tables.USES.values() for name in use.methods}
    named |= {row.method for row in tables.TAGGING}
    named |= {row.method for row in tables.DELIVERY_MODES}
    assert named <= mcpl.PROTOCOL.methods.keys() | {"tools/call"}
    either = {name for name, row in mcpl.PROTOCOL.methods.items() if row.kind == "either"}
    assert {row.method for row in tables.DELIVERY_MODES} == either
