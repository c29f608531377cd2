"""Official schemas of MCP imported: they lint, and their types take and refuse the same messages.

What the types take though the schema refuses it is one of the leniencies named here.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from kinwire_codegen.imports.imported import ImportSource, UselessFileError
from kinwire_codegen.imports.mcp_schema import mcp_document
from kinwire_codegen.lint import lint
from kinwire_protocols import jsonrpc
from kinwire_protocols.base import from_wire, to_wire
from tests.codegen.documents import load_package
from tests.codegen.imports.official import (
    FOLDER,
    VERSIONS,
    Bindings,
    bindings,
    document,
    official,
    sampled,
)
from tests.each import each
from tests.parity.sampler import Broken, Sampler, removed

each_version = pytest.mark.parametrize("version", VERSIONS)
# Types of one version are made in a second: the quick path has the newest.
each_made_version = pytest.mark.parametrize(
    "version", [*(pytest.param(one, marks=pytest.mark.slow) for one in VERSIONS[:-1]), VERSIONS[-1]]
)

SOURCE = ImportSource((Path("schema.json"),), frozenset(), version="1")
RANDOM_INSTANCES = 2

NULL = "null reads as absent"
CONSTANT = "a missing constant"
UNTOLD = "a missing tag in a union that has branches without one"
EMPTY = "an empty array for an empty object"
UNKNOWN = "an unknown variant of a tagged union"
LENIENCIES = {
    "null": NULL,
    "const missing": CONSTANT,
    "empty array": EMPTY,
    "unknown tag": UNKNOWN,
}

# Nothing on the wire is of these types alone: unions of rows, envelopes, and what others extend.
ABSTRACT = {
    *("ClientNotification", "ClientRequest", "ClientResult", "ServerNotification"),
    *("ServerRequest", "ServerResult", "Notification", "Request", "Result", "EmptyResult"),
    *("PaginatedRequest", "PaginatedResult", "ResourceRequestParams", "RequestParams"),
    *("TaskAugmentedRequestParams", "InputResponseRequestParams", "NotificationParams"),
    *("Annotated", "BaseMetadata", "Icons", "ResourceContents", "CacheableResult", "Cursor"),
    *("EnumSchema", "MultiSelectEnumSchema", "SingleSelectEnumSchema", "ElicitRequestParams"),
    *("JSONArray", "JSONValue", "RelatedTaskMetadata", "Error", "ResultType"),
}


def text(value: Any) -> str:
    # Python takes 1, 1.0 and True for equal; on the wire they are not.
    return json.dumps(value, sort_keys=True)


def is_envelope(name: str) -> bool:
    return name.startswith("JSONRPC") or name.endswith(("ResultResponse", "Error"))


@cache
def sampler(version: str) -> Sampler:
    return Sampler(sampled(version), shallow=True)


def targets(version: str) -> list[tuple[str, str]]:
    found = bindings(version)
    names = official(version).get("$defs") or official(version)["definitions"]
    return [(name, kind) for name in names if (kind := found.target(name)) is not None]


def taken(found: Bindings, kind: str, value: Any) -> str | None:
    try:
        return text(found.round_trip(kind, value))
    except ValidationError:
        return None


@each_version
def test_the_imported_document_has_no_findings(version: str) -> None:
    assert lint(document(version)) == []


@each_made_version
def test_every_official_definition_has_its_place_or_is_abstract(version: str) -> None:
    found = bindings(version)
    names = official(version).get("$defs") or official(version)["definitions"]
    left = {name for name in names if found.target(name) is None and found.row(name) is None}
    assert {name for name in left if not is_envelope(name)} <= ABSTRACT


@each_made_version
def test_a_valid_instance_comes_back_equal(version: str) -> None:
    found = bindings(version)
    changed = [
        (name, value)
        for name, kind in targets(version)
        for value in sampler(version).valid(name, count=RANDOM_INSTANCES)
        if taken(found, kind, value) != text(value)
    ]
    assert changed == []


@each_made_version
def test_a_valid_request_or_notification_goes_through_its_row(version: str) -> None:
    found = bindings(version)
    seen = 0
    for name in sampled(version)["definitions"]:
        row = found.row(name)
        if row is None:
            continue
        wire, content = row
        for value in sampler(version).valid(name, count=RANDOM_INSTANCES):
            params = value.get("params", {})
            kind = content["params"].rpartition("/")[2]
            assert value["method"] == wire
            assert taken(found, kind, params) == text(params)
        seen += 1
    assert seen == len(found.content["methods"])


@pytest.mark.slow
@each_version
def test_a_broken_instance_is_refused_or_covered_by_a_leniency(version: str) -> None:
    found = bindings(version)
    met: Counter[str | None] = Counter()
    wrong = []
    for name, kind in targets(version):
        if name != kind or "anyOf" in found.content["$defs"][kind]:
            continue  # what stands for several takes what any of them takes
        for broken in sampler(version).broken(name):
            got = taken(found, kind, broken.value)
            leniency = leniency_of(broken, got)
            met[leniency] += 1
            if got != (text(mended(broken)) if leniency else None) and leniency != UNTOLD:
                wrong.append((name, broken, got))
    assert wrong == []
    assert met[None] > 300


def leniency_of(broken: Broken, got: str | None) -> str | None:
    """Return which leniency covers the fault; None if it has to be refused."""
    if broken.rule == "tag" and got is not None:
        filled = removed(json.loads(got), broken.path)
        return UNTOLD if text(filled) == text(broken.value) else None
    return LENIENCIES.get(broken.rule)


def mended(broken: Broken) -> Any:
    """Return what goes out again after the fault was passed over."""
    if broken.rule == "null":
        return removed(broken.value, broken.path)
    return {"empty array": broken.read, "unknown tag": broken.value}.get(broken.rule, broken.sound)


EXAMPLES = sorted((FOLDER / "examples-2026-07-28").glob("*/*.json"))


@each("path", EXAMPLES or [FOLDER], ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_an_official_sample_parses_and_dumps_back_equal(path: Path) -> None:
    official("2026-07-28")
    value = json.loads(path.read_text(encoding="utf-8"))
    assert text(through(path.parent.name, value)) == text(value)


def test_there_are_as_many_official_samples_as_were_published() -> None:
    official("2026-07-28")
    assert len(EXAMPLES) == 129


def through(name: str, value: Any) -> Any:
    """Return an official sample as it goes out again after it came in."""
    found = bindings("2026-07-28")
    row, kind = found.row(name), found.target(name)
    if row is not None or (kind is not None and "method" in value):
        wire, content = row or by_method(found, value)
        assert value["method"] == wire
        return part_of(value, "params", content, found)
    if name.endswith("ResultResponse"):
        request = found.row(f"{name.removesuffix('ResultResponse')}Request")
        assert request is not None
        return part_of(value, "result", request[1], found)
    if kind is not None:
        return found.round_trip(kind, value)
    return error_of(name, value, found)


def by_method(found: Bindings, value: Any) -> tuple[str, Any]:
    """Return how a request stands that is carried inside a result: its class judges it."""
    kinds = found.content["$defs"]
    name = next(
        name
        for name, node in kinds.items()
        if node.get("properties", {}).get("method", {}).get("const") == value["method"]
    )
    return value["method"], {"whole": name}


def part_of(value: Any, part: str, row: Any, found: Bindings) -> Any:
    if "whole" in row:
        return found.round_trip(row["whole"], value)
    envelopes = {"params": jsonrpc.Request if "id" in value else jsonrpc.Notification}
    kind: Any = envelopes.get(part, jsonrpc.ResultResponse)
    envelope = to_wire(from_wire(kind, value))
    if part in value:
        envelope[part] = found.round_trip(row[part].rpartition("/")[2], value[part])
    return envelope


def error_of(name: str, value: Any, found: Bindings) -> Any:
    if "error" not in value:
        return to_wire(from_wire(jsonrpc.ErrorObject, value))
    row = found.content["errors"][name.removesuffix("Error")]
    assert value["error"]["code"] == row["code"]
    made = to_wire(from_wire(jsonrpc.ErrorResponse, value))
    if "data" in row:
        kind = row["data"].rpartition("/")[2]
        made["error"]["data"] = found.round_trip(kind, value["error"]["data"])
    return made


def test_what_is_in_another_place_is_folded_and_not_left_out() -> None:
    found = mcp_document(official("2025-11-25"), SOURCE)
    left = {text.partition(":")[0] for text in found.left_out}
    folded = dict(text.split(" into ") for text in found.folded)
    assert left == {"Cursor", "EmptyResult", "Error", "RelatedTaskMetadata"}
    assert folded["CallToolResult"] == "CallToolAnswer"
    assert folded["ServerRequest"] == folded["Request"] == "methods"
    assert folded["JSONRPCRequest"] == "jsonrpc"
    assert folded["BaseMetadata"] == "Implementation"
    names = official("2025-11-25")["$defs"].keys()
    assert names >= left | folded.keys()


@each("target", ["A", "Self", "Nope"])
def test_params_that_lead_to_no_definition_are_refused(target: str) -> None:
    ask = {"properties": {"method": {"const": "ask"}, "params": {"$ref": f"#/$defs/{target}"}}}
    definitions = {
        "ClientRequest": {"anyOf": [{"$ref": "#/$defs/AskRequest"}]},
        "AskRequest": ask,
        "A": {"$ref": "#/$defs/B"},
        "B": {"$ref": "#/$defs/A"},
        "Self": {"$ref": "#/$defs/Self"},
    }
    with pytest.raises(UselessFileError, match="leads to no definition"):
        mcp_document({"$defs": definitions}, SOURCE)


@pytest.mark.parametrize("anything", [True, False])
def test_a_definition_that_is_a_mere_yes_or_no_is_any_value(anything: bool) -> None:
    params = {"type": "object", "properties": {"a": {"$ref": "#/definitions/T"}}}
    definitions = {
        "ClientRequest": {"anyOf": [{"$ref": "#/definitions/AskRequest"}]},
        "AskRequest": {"properties": {"method": {"const": "ask"}, "params": params}},
        "AskResult": {"type": "object", "properties": {}},
        "T": anything,
    }
    content = {"definitions": definitions}
    found = mcp_document(content, SOURCE).content
    assert found["$defs"]["T"] == {"description": "`T`, as the schema has it."}


def test_a_file_that_is_not_a_schema_of_mcp_is_refused() -> None:
    with pytest.raises(UselessFileError, match="no definition ClientRequest"):
        mcp_document({"$defs": {}}, SOURCE)


@pytest.mark.slow
@each_version
def test_a_whole_package_is_made_of_each_version(version: str, tmp_path: Path) -> None:
    with load_package(document(version), tmp_path, "official_bindings") as package:
        table = __import__(f"{package.__name__}.mcp", fromlist=["PROTOCOL"]).PROTOCOL
        assert table.version == version
        assert set(table.methods) == set(document(version)["mcp"].content["methods"])
