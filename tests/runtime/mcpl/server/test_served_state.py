"""The checkpoints that a server makes of the states of its calls (MCPL 8)."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import MISSING

from kinwire.mcpl.server.served_state import CallState, CheckpointIndex
from kinwire_protocols.base import from_wire
from kinwire_protocols.mcp import CallToolRequestParams


def call(**members: Any) -> CallToolRequestParams:
    return from_wire(CallToolRequestParams, {"name": "t", "arguments": {}, **members})


@pytest.mark.spec("mcpl-8.4-1", "mcpl-8.4-2", "mcpl-8.3-7")
def test_a_call_has_the_state_or_the_checkpoint_that_came() -> None:
    index = CheckpointIndex("s")
    whole = CallState(index, call(state={"n": 1}, checkpoint="c"))
    assert (whole.given, whole.checkpoint) == ({"n": 1}, None)
    opaque = CallState(index, call(checkpoint="c"))
    assert (opaque.given, opaque.checkpoint) == (MISSING, "c")
    opaque.note("d")
    assert opaque.update is not None
    assert (opaque.update.checkpoint, opaque.update.parent) == ("d", "c")
    opaque.note("e", "b")
    assert opaque.update.parent == "b"
    plain = CallState(None, None)
    plain.note("d")
    plain.save({"n": 1})
    assert plain.update is None


@pytest.mark.spec("mcpl-8.3-6")
def test_a_checkpoint_is_a_patch_if_that_is_shorter_and_has_few_operations() -> None:
    index = CheckpointIndex("s")
    before = {"kept": "x" * 100_000, **{str(number): "x" for number in range(1001)}}
    some = {**before, **{str(number): "y" for number in range(1000)}}
    patch = index.checkpoint(before, some)
    assert patch.patch is not None
    assert (len(patch.patch), patch.data) == (1000, MISSING)
    every = {**some, "1000": "y"}
    whole = index.checkpoint(before, every)
    assert (whole.patch, whole.data) == (None, every)
    patch_size = len('[{"op":"replace","path":"/a","value":1}]')
    for size in range(patch_size - 1, patch_size + 2):
        kept = "x" * (size - len('{"a":0,"p":""}'))
        update = index.checkpoint({"a": 0, "p": kept}, {"a": 1, "p": kept})
        assert (update.patch is None) is (size <= patch_size)
    other = index.checkpoint({"a": 1}, {"b": 2})
    assert (other.patch, other.data) == (None, {"b": 2})


@pytest.mark.spec("mcpl-8.5-1")
def test_a_call_after_a_rollback_builds_on_that_checkpoint() -> None:
    index = CheckpointIndex("s")
    first = index.checkpoint(MISSING, {"n": 1})
    assert (first.parent, first.data) == (None, {"n": 1})
    second = index.checkpoint({"n": 1}, {"n": 2})
    again = index.checkpoint({"n": 2}, {"n": 1})  # the state of the first, by another way
    assert (second.parent, again.parent) == (first.checkpoint, second.checkpoint)
    assert index.checkpoint({"n": 1}, {"n": 3}).parent == again.checkpoint
    assert index.returned_to(second.checkpoint)
    assert index.checkpoint({"n": 2}, {"n": 4}).parent == second.checkpoint
    assert index.returned_to(second.checkpoint)
    assert index.checkpoint({"n": 1}, {"n": 5}).parent == again.checkpoint
    assert not index.returned_to(second.checkpoint.removeprefix("chk_"))
    assert not index.returned_to(f"{second.checkpoint}0")
    assert not CheckpointIndex("another set").returned_to(second.checkpoint)
