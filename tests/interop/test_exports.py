"""What is generated for other tools is what those tools read: OpenRPC 1.3 and protoc."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator
from referencing import Registry
from referencing.jsonschema import DRAFT7

from tests.interop import peers
from tests.interop.conftest import required

pytestmark = pytest.mark.interop

GENERATED = Path(__file__).parents[2] / "generated"
OPENRPC = sorted((GENERATED / "openrpc").glob("*.json"))
PROTO = sorted((GENERATED / "proto").glob("*.proto"))
META = """
const schema = require("@open-rpc/meta-schema").openrpcDocument;
const types = require("@json-schema-tools/meta-schema").jsonSchema;
console.log(JSON.stringify([schema, types]));
"""
# Prints the messages and the enums of a descriptor set: name -> field -> number and type.
FIELDS = """
import json, sys
from google.protobuf.descriptor_pb2 import FileDescriptorSet
files = FileDescriptorSet.FromString(open(sys.argv[1], "rb").read()).file
print(json.dumps([
    {m.name: {f.name: f.number for f in m.field} for file in files for m in file.message_type},
    {e.name: {v.name: v.number for v in e.value} for file in files for e in file.enum_type},
    {s.name: {m.name: m.server_streaming for m in s.method} for f in files for s in f.service},
]))
"""


@pytest.fixture(scope="module")
def openrpc() -> Draft7Validator:
    node, packages = required(lambda: (peers.node(), peers.npm_packages()))
    printed = subprocess.run(
        [str(node), "-e", META],
        env={"NODE_PATH": str(packages)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout
    schema, types = json.loads(printed)
    home = "https://meta.json-schema.tools"
    resources = [(place, DRAFT7.create_resource(types)) for place in (home, f"{home}/")]
    return Draft7Validator(schema, registry=Registry[Any]().with_resources(resources))


@pytest.mark.parametrize("path", OPENRPC, ids=lambda path: path.name)
def test_openrpc_accepts_the_document(path: Path, openrpc: Draft7Validator) -> None:
    document = json.loads(path.read_text(encoding="utf-8"))
    assert [error.message for error in openrpc.iter_errors(document)] == []


def test_openrpc_refuses_a_document_without_results(openrpc: Draft7Validator) -> None:
    document = json.loads(OPENRPC[0].read_text(encoding="utf-8"))
    assert not openrpc.is_valid(document | {"methods": [{"name": "a"}]})


@pytest.mark.parametrize("path", PROTO, ids=lambda path: path.name)
def test_protoc_compiles_the_binding_with_the_numbers_of_the_document(
    path: Path, tmp_path: Path
) -> None:
    python = str(required(peers.grpc_python))
    compiled = tmp_path / "set.pb"
    protoc = [python, "-m", "grpc_tools.protoc", f"-I{path.parent}"]
    subprocess.run([*protoc, f"--descriptor_set_out={compiled}", str(path)], check=True, timeout=60)
    fields = [python, "-c", FIELDS, str(compiled)]
    printed = subprocess.run(fields, capture_output=True, text=True, check=True, timeout=60).stdout
    grpc = _grpc_of(path.stem)
    assert json.loads(printed) == [
        {
            name: {field: node["number"] for field, node in message["fields"].items()}
            for name, message in grpc["messages"].items()
        },
        {
            name: {value: node["number"] for value, node in enum["values"].items()}
            for name, enum in grpc["enums"].items()
        },
        {
            grpc["service"]: {
                name: rpc.get("stream", False)
                for name, rpc in grpc["rpcs"].items()
                if rpc.get("status") != "considered"
            }
        },
    ]


def _grpc_of(module: str) -> dict[str, Any]:
    """The binding in the document whose Python package is `module`."""
    for path in (GENERATED.parent / "schema").glob("*.json"):
        document = json.loads(path.read_text(encoding="utf-8"))
        if document.get("protocol", "").replace("-", "") == module:
            found: dict[str, Any] = document["grpc"]
            return found
    raise AssertionError(f"no document has the package {module}")


# The program of npm, and what it is given; a definition of the schema is a type by itself.
GENERATORS = {
    "json-schema-to-typescript": ("dist/src/cli.js", "--unreachableDefinitions", "{}"),
    "quicktype": ("dist/index.js", "-s", "schema", "-l", "ts", "--just-types", "{}#/$defs/"),
}


@pytest.mark.parametrize("generator", GENERATORS)
def test_names_of_types_survive_in_what_other_generators_make(generator: str) -> None:
    node, packages = required(lambda: (peers.node(), peers.npm_packages()))
    path = GENERATED / "json-schema" / "mcp.json"
    program, *words = GENERATORS[generator]
    command = [str(node), str(packages / generator / program)]
    command += [word.replace("{}", str(path)) for word in words]
    made = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    names = set(re.findall(r"^export (?:interface|type|enum) (\w+)", made, re.MULTILINE))
    schema = json.loads(path.read_text(encoding="utf-8"))
    ours = {*schema["$defs"], *(message["$anchor"] for message in schema["anyOf"])}
    assert len(names - ours) <= 3, names - ours
    if generator == "quicktype":  # which has no aliases, and gets no messages here
        assert len(names & ours) > 70
    else:
        assert ours <= names
