"""Which proxy a request goes through, by the variables of the environment."""

from __future__ import annotations

import pytest

from kinwire.transports.http_client.address import split_url
from kinwire.transports.http_client.dialing import proxy_address, proxy_for
from tests.each import each

P, Q, R = "http://p.example:3128", "http://q.example:3128", "http://r.example:3128"


def chosen(url: str, **environment: str) -> str | None:
    found = proxy_for(split_url(url), environment)
    return None if found is None else found.origin


@each(
    ("url", "environment", "proxy"),
    [
        ("http://a.example", {}, None),
        ("http://a.example", {"HTTP_PROXY": P}, P),
        ("http://a.example", {"http_proxy": P}, P),
        ("http://a.example", {"http_proxy": P, "HTTP_PROXY": Q}, P),
        ("http://a.example", {"http_proxy": "", "HTTP_PROXY": Q}, None),
        ("http://a.example", {"HTTPS_PROXY": P}, None),
        ("https://a.example", {"HTTPS_PROXY": P, "HTTP_PROXY": Q}, P),
        ("https://a.example", {"https_proxy": P, "HTTPS_PROXY": Q}, P),
        ("https://a.example", {"HTTP_PROXY": P}, None),
        ("https://a.example", {"ALL_PROXY": P}, P),
        ("http://a.example", {"all_proxy": P, "ALL_PROXY": Q}, P),
        ("http://a.example", {"ALL_PROXY": P, "HTTP_PROXY": Q}, Q),
        ("https://a.example", {"ALL_PROXY": P, "HTTP_PROXY": Q}, P),
        ("http://a.example", {"ALL_PROXY": P, "HTTP_PROXY": ""}, P),
        ("ws://a.example", {"HTTP_PROXY": P, "HTTPS_PROXY": Q}, P),
        ("wss://a.example", {"HTTP_PROXY": P, "HTTPS_PROXY": Q}, Q),
        ("http://a.example", {"HTTP_PROXY": "p.example:3128"}, P),
        ("http://a.example", {"HTTP_PROXY": f"  {P} "}, P),
        ("http://a.example", {"HTTP_PROXY": "p.example"}, "http://p.example"),
        ("http://a.example", {"HTTP_PROXY": "https://p.example"}, "https://p.example"),
        ("http://a.example", {"HTTP_PROXY": P, "REQUEST_METHOD": "GET"}, None),
        ("http://a.example", {"http_proxy": P, "REQUEST_METHOD": "GET"}, P),
        ("https://a.example", {"HTTPS_PROXY": P, "REQUEST_METHOD": "GET"}, P),
        ("http://127.0.0.1:8000", {"HTTP_PROXY": P}, P),
    ],
)
def test_variables_name_the_proxy(url: str, environment: dict[str, str], proxy: str | None) -> None:
    assert chosen(url, **environment) == proxy


@each(
    ("url", "no_proxy"),
    [
        ("http://a.example", "*"),
        ("http://a.example", "b.example,*"),
        ("http://a.example", "a.example"),
        ("http://A.example", "b.example, A.EXAMPLE"),
        ("http://a.example.", "a.example"),
        ("http://a.example", "a.example."),
        ("http://a.example", "b.example a.example"),
        ("http://sub.a.example", "a.example"),
        ("http://sub.a.example", ".a.example"),
        ("http://sub.a.example", "*.a.example"),
        ("http://a.example", ".a.example"),
        ("http://a.example:8080", "a.example:8080"),
        ("http://a.example", "a.example:80"),
        ("http://a.example", "http://a.example"),
        ("http://localhost:8000", "localhost"),
        ("http://127.0.0.1:8000", "localhost,127.0.0.1,::1"),
        ("http://127.0.0.1:8000", "127.0.0.1:8000"),
        ("http://10.1.2.3", "10.0.0.0/8"),
        ("http://10.1.2.3", "10.1.2.9/24"),
        ("http://[::1]:8000", "::1"),
        ("http://[::1]:8000", "[::1]"),
        ("http://[::1]:8000", "[::1]:8000"),
        ("http://[fd00::5]", "fd00::/8"),
    ],
)
def test_hosts_of_no_proxy_are_connected_to_directly(url: str, no_proxy: str) -> None:
    assert chosen(url, HTTP_PROXY=P, NO_PROXY=no_proxy) is None
    assert chosen(url, ALL_PROXY=P, NO_PROXY="b.example", no_proxy=no_proxy) is None


@each(
    ("url", "no_proxy"),
    [
        ("http://a.example", ""),
        ("http://a.example", ","),
        ("http://a.example", "b.example"),
        ("http://a.example", "sub.a.example"),
        ("http://ba.example", "a.example"),
        ("http://a.example", "a.example:8080"),
        ("http://a.example:8080", "a.example:80"),
        ("http://127.0.0.1", "127.0.0.2,7.0.0.1,127.0.0.1:8000"),
        ("http://11.1.2.3", "10.0.0.0/8,11.0.0.0/99,fd00::/8"),
        ("http://10.example", "10.0.0.0/8"),
        ("http://[::1]", "127.0.0.1,[::2]"),
    ],
)
def test_other_hosts_go_through_the_proxy(url: str, no_proxy: str) -> None:
    assert chosen(url, HTTP_PROXY=P, NO_PROXY=no_proxy) == P


def test_name_and_password_of_a_proxy_are_kept_and_not_shown() -> None:
    found = proxy_for(split_url("http://a.example"), {"HTTP_PROXY": "http://u:s3cret@p.example:1"})
    assert found is not None
    assert found.authorization == "Basic dTpzM2NyZXQ="
    assert "s3cret" not in repr(found)


@each(
    "value", ["ftp://p.example", "http://", "http://user:s3cret@p.example:port", "ws://p.example"]
)
def test_an_invalid_variable_is_named_and_its_value_is_not_shown(value: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        chosen("http://a.example", HTTP_PROXY=value)
    assert str(caught.value) == "HTTP_PROXY: expected a URL such as http://proxy.example:3128"


def test_socks_is_refused_by_name() -> None:
    with pytest.raises(
        ValueError, match=r"^all_proxy: .*SOCKS\. Pass a client of your own .*httpx2"
    ):
        chosen("http://a.example", all_proxy="socks5://p.example:1080")
    assert chosen("http://a.example", all_proxy="socks5://p.example:1080", no_proxy="*") is None


def test_an_option_is_named_as_it_is() -> None:
    with pytest.raises(ValueError, match=r"^proxy: expected a URL"):
        proxy_address("ftp://p.example")
