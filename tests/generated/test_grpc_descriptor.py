"""The descriptor of a gRPC binding says what protoc reads in the generated `.proto`."""

from __future__ import annotations

import runpy
from importlib.util import find_spec
from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

from kinwire_protocols.mcplite import descriptor, tables
from tests.absent import absent
from tests.each import each

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests/codegen/golden/expected"


def compiled(proto: Path, into: Path) -> FileDescriptorProto:
    """Return what protoc makes of `proto`, without names for JSON, which follow from the others."""
    if find_spec("grpc_tools") is None:
        absent("needs the compiler of grpcio-tools")
    from grpc_tools import protoc  # type: ignore[import-untyped]

    target = into / "set.binpb"
    well_known = Path(protoc.__file__).parent / "_proto"
    arguments = ["protoc", f"-I{proto.parent}", f"-I{well_known}", f"--descriptor_set_out={target}"]
    assert protoc.main([*arguments, proto.name]) == 0
    (found,) = FileDescriptorSet.FromString(target.read_bytes()).file
    for message in found.message_type:
        for field in message.field:
            field.ClearField("json_name")
    return found


@each(
    ("proto", "module"),
    [
        (ROOT / "generated/proto/mcplite.proto", Path(descriptor.__file__)),
        (GOLDEN / "proto/tiny.proto", GOLDEN / "tiny_bindings/tiny/descriptor.py"),
    ],
)
def test_the_descriptor_is_what_protoc_compiles(proto: Path, module: Path, tmp_path: Path) -> None:
    ours = runpy.run_path(str(module))["FILE"]
    theirs = compiled(proto, tmp_path)
    assert FileDescriptorProto.FromString(ours) == theirs
    assert ours == theirs.SerializeToString(deterministic=True)


@pytest.mark.spec("mcp-lite-5.1-1")
def test_the_service_is_named_in_full() -> None:
    file = FileDescriptorProto.FromString(descriptor.FILE)
    assert (file.package, file.syntax) == ("mcplite", "proto3")
    assert f"{file.package}.{file.service[0].name}" == descriptor.SERVICE


def test_words_and_codes_are_those_of_the_document() -> None:
    assert list(descriptor.RESPONSE_TYPE) == list(tables.RESPONSE_TYPES)
    assert descriptor.CODES["mcp-lite", "ToolNotFound"] == "NOT_FOUND"
