"""Which URLs may be fetched, and which addresses are public: lists of tricks and of good ones."""

from __future__ import annotations

import json
from ipaddress import IPv4Address, IPv6Address, IPv6Network
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from kinwire.transports.guarded_fetch.rules import NotFetchedError, is_public, web_address
from tests.absent import shared
from tests.each import each

HERE = Path(__file__)
URLS = json.loads((HERE.parents[3] / "vectors" / "urls.json").read_text("utf-8"))
NAT64 = IPv6Network("64:ff9b::/96")


@each("one", URLS["refused"], ids=lambda one: one["url"])
def test_what_leads_home_or_can_be_read_in_two_ways_is_refused(one: dict[str, str]) -> None:
    with pytest.raises(NotFetchedError):
        web_address(one["url"])


@each("url", URLS["allowed"])
def test_what_only_looks_like_it_is_not(url: str) -> None:
    assert web_address(url).scheme == url.partition(":")[0]


MORE = [
    pytest.param("http://example.com:6379/", "got 6379", id="a port of something else"),
    pytest.param(
        "http://" + "a" * 64 + ".example/", "is not an unambiguous", id="an endless label"
    ),
    pytest.param(
        "http://stra\u00dfe.example/", "is not an unambiguous", id="a letter that changes"
    ),
    pytest.param("http://a..example/", "is not an unambiguous", id="an empty label"),
    pytest.param("http://\U0001f600.example/", "is not an unambiguous", id="no letter"),
    pytest.param("http://example.com/" + "x" * 2048, "at most 2048", id="an endless path"),
    pytest.param("http://example.com/a b", "without a user, spaces", id="a space"),
    pytest.param("http://example.com/%zz", "expected a URL", id="a broken escape"),
    pytest.param("http://ab.cd/\r\nHost: x", "expected a URL", id="a line end"),
    pytest.param("http://example.0x7f/", "is not an unambiguous", id="a number at the end"),
    pytest.param("http://" + ".".join(["a" * 60] * 5) + "/", "not a name on", id="an endless name"),
]


@each(("url", "why"), MORE)
def test_a_refusal_says_why(url: str, why: str) -> None:
    with pytest.raises(NotFetchedError, match=why):
        web_address(url)


def test_a_refusal_shows_neither_path_nor_query() -> None:
    with pytest.raises(NotFetchedError) as raised:
        web_address("http://10.0.0.1/s3cret?key=s3cret")
    assert "s3cret" not in str(raised.value)


def test_an_address_has_the_parts_that_are_asked() -> None:
    found = web_address("HTTPS://B\u00fccher.Example.com.:8443/a?b=%20#c")
    assert (found.scheme, found.host, found.port) == ("https", "xn--bcher-kva.example.com", 8443)
    assert found.target == "/a?b=%20"
    assert web_address("http://example.com").target == "/"


def test_urls_are_refused_or_parsed_as_in_browsers() -> None:
    cases: list[Any] = json.loads(shared("corpora/url/urltestdata.json").read_text("utf-8"))
    refused = 0
    for case in cases:
        if not isinstance(case, dict) or not case["input"].lower().startswith("http"):
            continue
        try:
            found = web_address(case["input"])
        except NotFetchedError:
            refused += 1
            continue
        assert not case.get("failure"), case["input"]
        assert found.host == case["hostname"].strip("[]").rstrip("."), case["input"]
    assert refused > 150


@given(st.ip_addresses(v=4))
def test_an_address_in_an_address_is_judged_as_it_is_alone(address: IPv4Address) -> None:
    alone = is_public(str(address))
    for prefix in ("::ffff:", "64:ff9b::"):
        assert is_public(f"{prefix}{address}") is alone
    assert not (alone and not address.is_global)
    teredo = IPv6Address(int(IPv6Address("2001::")) | int(address))
    six_to_four = IPv6Address(0x2002 << 112 | int(address) << 80)
    for other in (f"::{address}", f"::ffff:0:{address}", str(teredo), str(six_to_four)):
        assert not is_public(other)


@given(st.ip_addresses(v=6))
def test_what_python_calls_private_is_never_public(address: IPv6Address) -> None:
    assert not is_public(str(address)) or address.is_global or address in NAT64
    assert not is_public(f"{address}%eth0")


@each("text", ["", "localhost", "127.1", "1.1.1.1 ", "0x1.1.1.1"])
def test_an_invalid_address_is_not_public(text: str) -> None:
    assert not is_public(text)
