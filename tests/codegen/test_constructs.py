"""What a document says of its types, the bindings keep, or lint refuses: nothing is dropped."""

from __future__ import annotations

from tests.codegen.constructs import PAIRS, SINGLE, try_all

REFUSED = {
    *("a bound on a name of an enum", "the same bound on a name", "a look-ahead"),
    *("a constant of another type", "an enum of another type", "a constant with a default"),
    *("impossible integers", "impossible numbers", "an impossible length", "an impossible count"),
    *("a union of objects that may be both", "one of a text and a word", "one of equal constants"),
    *("one of objects without a discriminator", "exactly one of fields", "fields and a union"),
    *("fields of what may be null", "fields without a type"),
    *("an extended union", "an extended tagged union", "an extended map", "an extended text"),
    *("an extended object that is closed", "an extended object with typed others"),
}


def test_no_construct_is_dropped_silently() -> None:
    tried = try_all(SINGLE | PAIRS)
    silent = {where: one.silent[:5] for where, one in tried.items() if one.silent}
    assert silent == {}
    kept = [where for where, one in tried.items() if not one.faults]
    assert len(SINGLE | PAIRS) > 800
    assert len(kept) > 400
    refused = {name for name in SINGLE if tried[name, "defined"].faults}
    assert refused == REFUSED
