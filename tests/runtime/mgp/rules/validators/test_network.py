"""What `network_restricted` refuses without looking anything up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, strategies as st

from kinwire.mgp.rules.validators.judgement import ValidatorOptions
from kinwire.mgp.rules.validators.network import named_hosts
from kinwire.transports.guarded_fetch.rules import NotFetchedError, web_address, web_place
from tests.runtime.mgp.rules.validators.fixtures_vectors import known, reasons, vectors

MORE = vectors("more_network.json")
BLOCKED: list[str] = [
    one["url"] for one in vectors("network_must_block.json")["literal_or_name"]
] + [one["url"] for one in MORE["blocked"] if list(one) == ["url"] and ":" in one["url"]]
ALLOWED: list[str] = vectors("network_must_allow.json")
SHAPES: list[Callable[[str], dict[str, Any]]] = [
    lambda url: {"url": url},
    lambda url: {"urls": ["https://example.com/", url]},
    lambda url: {"any": {"deep": [[url]]}},
    lambda url: {url: 1},
]
IN_TEXT: list[Callable[[str], dict[str, Any]]] = [
    lambda url: {"q": f"see {url} there"},
    lambda url: {"q": f"<a href='{url}'>x</a>"},
]


def test_the_lists_are_separated_in_every_shape_of_arguments() -> None:
    tool = known("fetch")
    for shape in SHAPES:
        for url in ALLOWED:
            assert not reasons("network_restricted", shape(url), tool), shape(url)
    for url in vectors("network_must_block.json")["literal_or_name"]:
        for shape in [*SHAPES, *IN_TEXT]:
            assert reasons("network_restricted", shape(url["url"]), tool), shape(url["url"])
    for url in ALLOWED:
        for shape in IN_TEXT:
            assert not reasons("network_restricted", shape(url), tool), shape(url)


def test_hosts_and_urls_are_found_by_names_and_in_text() -> None:
    tool = known("fetch")
    assert [one for one in MORE["blocked"] if not reasons("network_restricted", one, tool)] == []
    falsely = {str(one): reasons("network_restricted", one, tool) for one in MORE["allowed"]}
    assert {one: why for one, why in falsely.items() if why} == {}


NAMED: list[tuple[dict[str, Any], list[tuple[str, int]]]] = [
    ({"url": "https://Example.com./a"}, [("example.com", 443)]),
    ({"host": "b\u00fccher.example:8443"}, [("xn--bcher-kva.example", 8443)]),
    ({"url": "a.example/x", "q": "see http://b.example"}, [("a.example", 80), ("b.example", 80)]),
    ({"urls": ["http://a.example/", "http://a.example/b"]}, [("a.example", 80)]),
    ({"q": "https://a.example/?to=http://b.example/"}, [("a.example", 443)]),
    ({"q": "https://a.example/,https://b.example/"}, [("a.example", 443), ("b.example", 443)]),
    ({"url": "http://1.1.1.1/", "host": "2606:4700:4700::1111"}, []),
    ({"q": "nothing"}, []),
]


def test_names_are_left_to_be_resolved() -> None:
    for arguments, expected in NAMED:
        found = named_hosts(arguments, ValidatorOptions())
        assert [(one.host, one.port) for one in found] == expected


def test_allowed_hosts_may_be_private_and_have_any_port() -> None:
    allowed = ("LocalHost", "10.0.0.5:9200", "::1")
    passing: list[dict[str, Any]] = [
        *({"url": "http://localhost:3000/x"}, {"q": "http://LOCALHOST/"}, {"host": "localhost"}),
        *({"url": "http://10.0.0.5:9200/"}, {"url": "http://[::1]:80/"}, {"q": "localhost"}),
    ]
    for one in passing:
        assert not reasons("network_restricted", one, allowed_hosts=allowed), one
    refused: list[dict[str, Any]] = [
        *({"url": "http://10.0.0.5/"}, {"url": "http://127.0.0.1/"}, {"url": "file://localhost/x"}),
        {"url": "http://localhost.evil.local/"},
    ]
    for one in refused:
        assert reasons("network_restricted", one, allowed_hosts=allowed), one
    assert named_hosts({"url": "http://localhost/"}, ValidatorOptions(allowed_hosts=allowed)) == []


@pytest.mark.parametrize("url", ["https://u:p@example.com/", "https://example.com/\u00fc|{x}"])
def test_the_guard_for_other_programs_takes_what_own_requests_do_not(url: str) -> None:
    assert web_place(url).host == "example.com"
    with pytest.raises(NotFetchedError):
        web_address(url)


SCHEMED = [url for url in BLOCKED if url[:4].lower() == "http" and url.isascii() and " " not in url]


@given(st.sampled_from(SCHEMED), st.data())
def test_blocked_urls_stay_blocked_when_they_are_spelled_differently(
    url: str, data: st.DataObject
) -> None:
    scheme, colon, rest = url.partition(":")
    cased = "".join(data.draw(st.sampled_from([one.upper(), one.lower()])) for one in scheme)
    url = cased + colon + rest
    at = data.draw(st.integers(0, len(url)))
    forms = [
        url,
        url[:at] + data.draw(st.sampled_from("\t\r\n")) + url[at:],
        f"{url} https://example.com/",
        f"https://example.com/ {url}",
        f"https://example.com/,{url}",
        f"x={url}",
    ]
    shape = data.draw(st.sampled_from([*SHAPES, *IN_TEXT]))
    for form in forms:
        assert reasons("network_restricted", shape(form)), form


@given(st.ip_addresses(v=4, network="10.0.0.0/8"), st.data())
def test_a_private_address_is_refused_in_every_spelling(address: Any, data: st.DataObject) -> None:
    number, parts = int(address), str(address).split(".")
    low = number & 0xFFFFFF
    wide = str.maketrans(
        "0123456789.", "\uff10\uff11\uff12\uff13\uff14\uff15\uff16\uff17\uff18\uff19\u3002"
    )
    spellings = [
        *(str(address), str(number), hex(number), f"0{number:o}", f"10.{low}", f"0xa.{low}"),
        *(".".join(map(hex, address.packed)), ".".join(f"0{int(one):o}" for one in parts)),
        *(f"[::ffff:{address}]", f"[64:ff9b::{address}]", f"[::{address}]", f"{address}."),
        *(f"[2002:{number >> 16:x}:{number & 0xFFFF:x}::1]", str(address).translate(wide)),
    ]
    host = data.draw(st.sampled_from(spellings))
    assert reasons("network_restricted", {"url": f"http://{host}/"}), host
    assert reasons("network_restricted", {"q": f"http://a:b@{host}:8080/x"}), host
    assert reasons("network_restricted", {"host": host}), host
