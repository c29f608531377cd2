"""Addresses at a gateway say which server has the resource, and what it calls it."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from hypothesis import given, strategies as st

from kinwire.mgp.rules.gateway_uris import inner_uri, outer_uri, with_outer_uris

TEXT = st.text(st.characters(codec="utf-8"))


@given(TEXT, TEXT)
def test_an_address_leads_back_to_its_server(server: str, uri: str) -> None:
    outer = outer_uri(server, uri)
    assert inner_uri(outer) == (server, uri)
    head = outer[: len(outer) - len(uri)]
    assert re.fullmatch(r"mgp://[a-z0-9._~%A-F-]*/", head)
    assert urlsplit(head + "x").path == "/x"


def test_an_address_that_differs_in_case_or_escapes_is_not_one_of_the_gateway() -> None:
    assert outer_uri("tool.Fs", "file:///a") == "mgp://tool.%46s/file:///a"
    for wrong in (
        "mgp://tool.Fs/file:///a",
        "mgp://tool.%46S/x",
        "mgp://tool.%66s/x",
        "mgp://%FF/x",
        "mgp://server",
        "MGP://server/x",
        "mgp:server/x",
        "file:///a",
        "",
    ):
        assert inner_uri(wrong) is None, wrong


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(("uri", "type", "resource", "content", "contents", "messages", "x")),
            inner | st.sampled_from(("resource", "resource_link")),
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(("content", "contents", "messages", "x")), JSON))
def test_a_result_of_any_shape_is_kept_but_for_addresses(result: dict[str, object]) -> None:
    before = repr(result)
    changed = with_outer_uris("s", result)
    assert repr(result) == before  # it is not changed in place
    assert repr(changed).replace("mgp://s/", "") == before.replace("mgp://s/", "")
