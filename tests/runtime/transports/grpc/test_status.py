"""Details of a status: read by the library's own messages, and bounded."""

from __future__ import annotations

from typing import Any

from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]

from kinwire.transports.grpc.status import (
    DETAILS,
    ErrorDetails,
    details_in,
    encoded_details,
    shortened,
)

NOT_FOUND = 5


def test_details_are_an_error_info_in_a_status() -> None:
    details = ErrorDetails("TOOL_NOT_FOUND", "shop", {"requested_tool": "nö"})
    status: Any = status_pb2.Status.FromString(encoded_details(NOT_FOUND, "Not found", details))
    assert (status.code, status.message) == (NOT_FOUND, "Not found")
    (packed,) = status.details
    assert packed.type_url == "type.googleapis.com/google.rpc.ErrorInfo"
    info: Any = error_details_pb2.ErrorInfo.FromString(packed.value)
    assert (info.reason, info.domain) == ("TOOL_NOT_FOUND", "shop")
    assert dict(info.metadata) == {"requested_tool": "nö"}


def test_details_come_back() -> None:
    details = ErrorDetails("WHY", "shop", {"a": "1", "b": ""})
    trailers: list[tuple[str, str | bytes]] = [("other", "x")]
    trailers.append((DETAILS, encoded_details(3, "m", details)))
    assert details_in(trailers) == details


def test_without_readable_details_there_are_none() -> None:
    other: bytes = status_pb2.Status(code=3, details=[]).SerializeToString()
    trailers: list[tuple[str, str | bytes]] = [(DETAILS, "text"), (DETAILS, other), (DETAILS, b"")]
    for trailer in (*trailers, (DETAILS, b"\xff\xff")):
        assert details_in([trailer]) is None
    assert details_in([]) is None


def test_facts_that_no_header_can_hold_are_left_out_from_the_end() -> None:
    facts = {"a": "1", "b": "é" * 1000, "c": "x" * 3000}
    found = details_in([(DETAILS, encoded_details(5, "m" * 10_000, ErrorDetails("R", "d", facts)))])
    assert found == ErrorDetails("R", "d", {"a": "1", "b": "é" * 1000})
    assert len(shortened("m" * 10_000)) == 300
    assert shortened("short") == "short"
