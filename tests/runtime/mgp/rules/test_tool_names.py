"""Names of tools among those of all servers: fit for models, stable, and no other's."""

from __future__ import annotations

import re
from itertools import product

from hypothesis import given, strategies as st

from kinwire.mgp.rules.tool_names import PublicNames, names_for_session, public_name

FOR_MODELS = re.compile(r"[a-zA-Z0-9_-]{1,64}")
PLAIN = {
    ("files", "read_file"): "files__read_file",
    ("git-hub", "getIssue"): "git-hub__getIssue",
    ("my_server2", "_private-"): "my_server2___private-",
    ("a", "b" * 61): f"a__{'b' * 61}",
}
ODD = [
    *("tool.terminal", "Files", "a__b", "a_", "_a", "a-", "", "ф", "a" * 25, "x-0123abcd", "фa"),
    *("a/b", "a b", "tool_terminal", "f\u0456les", "\u202efiles", "files\n", "tool-terminal"),
]
PARTS = st.text(st.sampled_from("ab_-.A/ф\n"), max_size=5)


def test_parts_that_can_stand_in_a_name_are_as_they_are() -> None:
    assert {pair: public_name(*pair) for pair in PLAIN} == PLAIN


def test_other_parts_get_a_digest() -> None:
    assert public_name("tool.terminal", "read_file") == "tool_terminal-eaf8e9fe__read_file"
    assert re.fullmatch("files__fs_read-[0-9a-f]{8}", public_name("files", "fs.read"))
    assert re.fullmatch("files__read_0123abcd-[0-9a-f]{8}", public_name("files", "read-0123abcd"))
    assert re.fullmatch("x-[0-9a-f]{8}__x-[0-9a-f]{8}", public_name("ф", "読む"))
    assert re.fullmatch(f"a__{'b' * 52}-[0-9a-f]{{8}}", public_name("a", "b" * 62))


def test_no_two_pairs_of_odd_parts_have_one_name() -> None:
    pairs = [*product(ODD, ODD), *PLAIN, ("a", "_b"), ("a_", "b"), ("a", "b__c"), ("a__b", "c")]
    found = {public_name(*pair) for pair in pairs}
    assert len(found) == len(set(pairs))
    assert all(FOR_MODELS.fullmatch(name) for name in found)
    servers = {public_name(server, "t").partition("__")[0] for server in ODD}
    assert len({server.lower() for server in servers}) == len(ODD), "not by the case alone"


@given(st.lists(st.tuples(PARTS, PARTS), unique=True, max_size=6))
def test_names_are_fit_for_models_and_unique(pairs: list[tuple[str, str]]) -> None:
    found = [public_name(*pair) for pair in pairs]
    assert len(set(found)) == len(pairs)
    assert all(FOR_MODELS.fullmatch(name) and "__" in name for name in found)


def test_a_name_leads_back_to_its_tool() -> None:
    table = PublicNames()
    assert table.replace("files", ["read", "write"]) == []
    assert table.replace("tool.terminal", ["read"]) == []
    assert table.find("files__read") == ("files", "read")
    assert table.find("tool_terminal-eaf8e9fe__read") == ("tool.terminal", "read")
    assert table.find("read") is table.find("files__gone") is None
    assert table.replace("files", ["write"]) == []
    assert (table.find("files__read"), len(table)) == (None, 2)
    table.remove("files")
    table.remove("files")
    assert (table.find("files__write"), len(table)) == (None, 1)


def test_a_tool_cannot_take_the_name_of_another() -> None:
    one, other = "a.~,/,b", "a ;.:+b"  # found by trial: their digests begin alike
    assert public_name(one, "read") == public_name(other, "read") == "a_b-c4756a4b__read"
    table = PublicNames()
    assert table.replace(one, ["read"]) == []
    assert table.replace(other, ["read", "write"]) == ["read"]
    assert table.find("a_b-c4756a4b__read") == (one, "read")
    table.remove(other)
    assert table.find("a_b-c4756a4b__read") == (one, "read")


def test_a_session_names_tools_as_their_servers_do_where_that_is_clear() -> None:
    keys = [("a", "read"), ("b", "read"), ("b", "write"), ("c", "a__write")]
    assert list(names_for_session(keys, qualified=False).values()) == [
        *("a__read", "b__read", "write", "c__a__write"),
    ]
    assert names_for_session(keys, qualified=True)["b", "write"] == "b__write"
