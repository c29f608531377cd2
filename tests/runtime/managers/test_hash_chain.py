"""A chain of hashes: whatever is done to its entries is found."""

from __future__ import annotations

import copy
import hashlib
import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from kinwire.managers.hash_chain import START, ChainCheck, ChainHead, chained, head_of

Entry = tuple[str, Any]

TEXT = st.text(max_size=6)
EVENT = st.dictionaries(
    TEXT, st.integers() | TEXT | st.lists(st.booleans(), max_size=2), max_size=3
)
SUBJECT = st.sampled_from(["mgp.kernel.A", "mgp.kernel.B", "mgp.server.A"])


def chain_of(events: list[tuple[str, dict[str, Any]]]) -> list[Entry]:
    head, made = START, list[Entry]()
    for subject, event in events:
        head, entry = chained(head, subject, event)
        made.append((subject, json.loads(entry)))
    return made


def problems_of(entries: list[Entry], *, from_start: bool = True) -> list[tuple[int, str]]:
    check = ChainCheck(from_start=from_start)
    found = [check.problem(subject, value) for subject, value in entries]
    return [one for one in found if one is not None]


def as_read(entries: list[Entry]) -> list[Entry]:
    decoded: list[Entry] = json.loads(json.dumps(entries))
    return [(subject, value) for subject, value in decoded]


def test_the_hash_is_that_of_the_documented_text() -> None:
    head, written = chained(START, "mgp.kernel.A", {"b": "é\n", "a": [1, 2.5, None]})
    entry = json.loads(written)
    text = (
        '{"event":{"a":[1,2.5,null],"b":"\\u00e9\\n"},"prev":"' + "0" * 64 + '",'
        '"seq":1,"subject":"mgp.kernel.A"}'
    )
    assert entry == {
        "seq": 1,
        "prev": "0" * 64,
        "hash": hashlib.sha256(text.encode()).hexdigest(),
        "event": {"b": "é\n", "a": [1, 2.5, None]},
    }
    assert head == ChainHead(1, entry["hash"])
    assert json.loads(chained(head, "x", {})[1])["prev"] == entry["hash"]


def test_the_head_of_what_is_no_entry_is_unknown() -> None:
    head, written = chained(START, "a", {})
    entry = json.loads(written)
    assert head_of(entry) == head
    wrong: list[Any] = [
        *[None, [], "text", {}, {**entry, "more": 1}, {**entry, "seq": "1"}],
        *[{**entry, "event": []}, {**entry, "prev": None}, {**entry, "hash": 5}],
    ]
    assert [head_of(one) for one in wrong] == [None] * len(wrong)
    for value in wrong:
        assert problems_of([("a", value)]) == [(1, "is not an entry of the chain")]


@given(st.lists(st.tuples(SUBJECT, EVENT), max_size=6))
def test_an_untouched_chain_has_no_problems(events: list[tuple[str, dict[str, Any]]]) -> None:
    entries = as_read(chain_of(events))
    assert problems_of(entries) == []
    assert problems_of(entries[2:], from_start=False) == []


NEW_VALUES = {"event": {"new": 1}, "prev": "f" * 64, "hash": "0", "seq": 99}


def tampered(entries: list[Entry], kind: str, at: int) -> list[Entry]:
    """Return what is left of a chain after something was done to the entry at an index."""
    before = START if at == 0 else ChainHead(at, entries[at - 1][1]["hash"])
    changed = copy.deepcopy(entries)
    subject, value = changed[at]
    forged: Entry = (subject, json.loads(chained(before, subject, {"new": [1]})[1]))
    match kind:
        case "subject":
            changed[at] = ("mgp.kernel.other", value)
        case "forge":
            changed[at] = forged
        case "remove":
            del changed[at]
        case "swap":
            changed[at], changed[at + 1] = changed[at + 1], changed[at]
        case "repeat":
            changed.insert(at, copy.deepcopy(changed[at]))
        case "insert":
            changed.insert(at, forged)
        case _:
            value[kind] = NEW_VALUES[kind]
    return changed


KINDS = [*NEW_VALUES, "subject", "forge", "remove", "swap", "repeat", "insert"]


@given(st.lists(st.tuples(SUBJECT, EVENT), min_size=3, max_size=6), st.data())
def test_each_kind_of_tampering_is_found_where_it_was_done(
    events: list[tuple[str, dict[str, Any]]], data: st.DataObject
) -> None:
    entries = as_read(chain_of(events))
    at = data.draw(st.integers(0, len(entries) - 2))
    for kind in KINDS:
        changed = tampered(entries, kind, at)
        found = problems_of(changed)
        assert (kind, bool(found)) == (kind, changed != entries)
        assert abs(found[0][0] - (at + 1)) <= 1 if found else kind == "event"


def test_a_missing_start_is_found_unless_retention_may_have_removed_it() -> None:
    entries = chain_of([("a", {"n": number}) for number in range(4)])[1:]
    assert problems_of(entries) == [(1, "expected seq 1, got 2: entries are missing or moved")]
    assert problems_of(entries, from_start=False) == []
    check = ChainCheck(from_start=False)
    assert (check.head, check.first) == (None, None)
    for subject, value in entries:
        assert check.problem(subject, value) is None
    assert (check.first, check.head) == (2, head_of(entries[-1][1]))


def test_the_check_goes_on_after_a_problem() -> None:
    entries = as_read(chain_of([("a", {"n": number}) for number in range(6)]))
    entries[1][1]["event"] = {"n": 9}
    entries[4][1]["event"] = {"n": 9}
    changed = "was changed: its hash is another one"
    assert problems_of(entries) == [(2, changed), (5, changed)]


def test_what_json_cannot_hold_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        chained(START, "a", {"n": float("nan")})
