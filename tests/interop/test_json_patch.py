"""State is patched as the suite of tests for JSON Patch says that it is (RFC 6902)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from kinwire.mcpl import CheckpointTree
from kinwire.mcpl.rules.checkpoint_tree import StateError
from kinwire.support.json_values import same
from kinwire_protocols.base import from_wire
from kinwire_protocols.mcpl import StateUpdate
from tests.interop import peers
from tests.interop.conftest import required

pytestmark = pytest.mark.interop

FILES = [pytest.param("spec_tests", 16, id="the RFC's own"), pytest.param("tests", 70, id="more")]


@pytest.mark.parametrize(("file", "at_least"), FILES)
def test_every_record_of_the_suite_comes_out_as_it_says(file: str, at_least: int) -> None:
    suite = required(peers.npm_packages) / "json-patch-test-suite" / f"{file}.json"
    records = json.loads(suite.read_bytes())
    tried = [one for one in records if "patch" in one and not one.get("disabled")]
    assert len(tried) >= at_least
    assert [one for one in tried if not is_right(one)] == []


def is_right(record: dict[str, Any]) -> bool:
    """Return whether a checkpoint with the patch has the state that is expected, or none is."""
    tree = CheckpointTree()
    first = {"checkpoint": "first", "parent": None, "data": record["doc"]}
    tree.record(from_wire(StateUpdate, first), base=None)
    second = {"checkpoint": "second", "patch": record["patch"]}
    before = json.dumps(record["doc"])
    try:
        tree.record(from_wire(StateUpdate, second), base="first")
    except (ValidationError, StateError):
        return "error" in record and len(tree) == 1 and json.dumps(tree.data) == before
    return "error" not in record and same(tree.data, record.get("expected", tree.data))
