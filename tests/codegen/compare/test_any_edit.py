"""Documents may be edited in any way that leaves them documents: the comparison never fails."""

from __future__ import annotations

import json
from copy import deepcopy
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, strategies as st
from jsonschema import Draft202012Validator

from kinwire_codegen.commands.policy_file import accept, prune, read_policy
from kinwire_codegen.commands.reports import changelog, verdicts
from kinwire_codegen.commands.reports.junit import as_junit
from kinwire_codegen.commands.reports.report import Report
from kinwire_codegen.commands.reports.sarif import as_sarif
from kinwire_codegen.compare import compare
from kinwire_codegen.compare.policy import ChangePolicy, review
from kinwire_codegen.compare.verdict import Category
from kinwire_codegen.load.document import Documents
from kinwire_codegen.load.sources import DocumentSource
from tests.codegen.compare.documents import Node, golden, loaded

REFERENCES = [
    *("#/$defs/Nothing", "nowhere.json#/$defs/Nothing", "#/$defs/Item", "#/$defs/State"),
    *("#/$defs/Book", "tiny-base.json#/$defs/Named", "#/$defs/FindParams"),
]
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 9),
    st.sampled_from(["", "x", "string", "object", "integer", "both", "either", *REFERENCES]),
    st.sampled_from(
        [
            *({"$ref": text} for text in REFERENCES),
            *({"allOf": [{"$ref": text}]} for text in REFERENCES),
            *({"anyOf": [{"$ref": text}, {"type": "null"}]} for text in REFERENCES),
            *({"type": kind} for kind in ("string", "array", "object", "null")),
            *({}, [], {"const": True}, {"enum": [1, "x"]}, {"type": ["string", "integer"]}),
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a", "b"]},
        ]
    ),
)


def places(node: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [place]
    if isinstance(node, dict | list):
        inner = node.items() if isinstance(node, dict) else enumerate(node)
        for key, value in inner:
            found += places(value, (*place, key))
    return found


@cache
def judge() -> Draft202012Validator:
    return Draft202012Validator(golden().meta)


@st.composite
def edits(draw: st.DrawFn, most: int = 4) -> Node:
    """Documents after some edits anywhere, of which those count that leave a document."""
    content = deepcopy(golden()["tiny"].content)
    for _ in range(draw(st.integers(1, most))):
        place = draw(st.sampled_from(places(content)[1:]))
        copy = deepcopy(content)
        there: Any = copy
        for step in place[:-1]:
            there = there[step]
        how = draw(st.sampled_from(["remove", "set", "rename", "swap"]))
        if how == "set":
            there[place[-1]] = deepcopy(draw(VALUES))
        elif how == "remove":
            del there[place[-1]]
        elif how == "rename" and isinstance(there, dict):
            there[f"{place[-1]}x"] = there.pop(place[-1])
        elif how == "swap":
            other = draw(st.sampled_from(list(there) if isinstance(there, dict) else [0]))
            there[place[-1]], there[other] = there[other], there[place[-1]]
        if judge().is_valid(copy):
            content = copy
    return content


@pytest.mark.slow
@given(edits(), edits())
def test_any_two_documents_can_be_compared_and_reported(one: Node, other: Node) -> None:
    base = golden()["tiny-base"].content
    old, new = loaded(base, one), loaded(base, other)
    comparison = compare(old, new)
    found, everything = review(comparison, ChangePolicy()), list(Category)
    report = Report(found, source("a", old, one), source("b", new, other), everything)
    for written in (verdicts.as_text, verdicts.as_json, verdicts.as_github, as_sarif, as_junit):
        assert written(report)
    ElementTree.fromstring(as_junit(report))
    accepted = found.acceptable(everything, (), reason="\x7f agreed")
    with TemporaryDirectory() as folder:
        path = Path(folder, "policy.toml")
        accept(path, accepted)
        again = review(comparison, read_policy(path))
        assert (again.failures(*everything), again.stale) == ([], ())
        prune(path, accepted)
        assert read_policy(path) == ChangePolicy()
    assert changelog.as_markdown(comparison, "reference")
    assert changelog.as_plain(comparison)
    assert compare(old, loaded(base, one)).changes == ()


@given(edits(most=1))
def test_no_edit_passes_silently(one: Node) -> None:
    old = golden()["tiny"].content
    base = golden()["tiny-base"].content
    found = compare(loaded(base, old), loaded(base, one)).changes
    assert found or json.dumps(old, sort_keys=True) == json.dumps(one, sort_keys=True)


def source(name: str, documents: Documents, content: Node) -> DocumentSource:
    return DocumentSource(name, documents, {"tiny": (f"{name}.json", json.dumps(content))})
