"""Which hosts and origins a listener accepts, and what needs TLS."""

from __future__ import annotations

import pytest

from kinwire import InsecureAddressError
from kinwire.transports.http.security import AccessRules, is_loopback, must_be_secure, split_host
from tests.each import each

LOCAL = AccessRules()
PUBLIC = AccessRules(
    ["api.example.com", "[2001:DB8::1]", "api.example.com.:8443", "only.example.com:8000"],
    ["https://app.example.com", "http://localhost:6274"],
)


@each(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("[::1]", True),
        ("::ffff:127.0.0.1", True),
        ("localhost", True),
        ("LocalHost.", True),
        ("", False),
        ("0.0.0.0", False),
        ("::", False),
        ("127.1", False),
        ("2130706433", False),
        ("localhost.example.com", False),
        ("127.0.0.1.example.com", False),
        ("192.168.0.1", False),
    ],
)
def test_only_this_machine_is_loopback(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


@each(
    ("value", "split"),
    [
        ("Example.COM.:80", ("example.com", 80)),
        ("[0:0::0:1]:80", ("::1", 80)),
        ("my_service", ("my_service", None)),
        ("::1", None),
        ("[127.0.0.1]", None),
        ("[v1.x]", None),
        ("127.0.0.1.", None),
        ("a..b", None),
        (".a", None),
        ("a:", None),
        ("a:65536", None),
        ("a:0x50", None),
        ("a b", None),
        ("a\0b", None),
        ("a%00b", None),
        ("a\\b", None),
        ("user@a", None),
        ("a/b", None),
        ("", None),
        ("a" * 300, None),
        ("bücher.example", None),
    ],
)
def test_a_host_has_one_spelling_or_is_malformed(
    value: str, split: tuple[str, int | None] | None
) -> None:
    assert split_host(value) == split


@each(
    ("hosts", "status"),
    [
        (("127.0.0.1:8000",), None),
        (("localhost",), None),
        (("localhost:9999",), None),
        (("localhost.:8000",), None),
        (("[::1]:8000",), None),
        (("LOCALHOST:8000",), None),
        (("evil.example",), 421),
        (("127.0.0.1.evil.example",), 421),
        (("192.168.0.7:8000",), 421),
        (("localhost@evil.example",), 400),
        (("",), 400),
        ((), 400),
        (("localhost", "localhost"), 400),
    ],
)
def test_a_listener_goes_by_this_machine_s_own_names(
    hosts: tuple[str, ...], status: int | None
) -> None:
    refusal = LOCAL.refusal(hosts, ())
    assert (refusal and refusal.status) == status
    assert "evil" not in str(refusal)


@each(
    ("host", "status"),
    [
        ("api.example.com", None),
        ("API.example.com.:8000", None),
        ("[2001:db8:0::1]:8000", None),
        ("only.example.com:8000", None),
        ("only.example.com", 421),
        ("localhost", None),
        ("xapi.example.com", 421),
        ("api.example.com.evil.example", 421),
    ],
)
def test_further_hosts_are_named_whole(host: str, status: int | None) -> None:
    refusal = PUBLIC.refusal((host,), ())
    assert (refusal and refusal.status) == status


@each(
    ("host", "origins", "fine"),
    [
        ("localhost:8000", (), True),
        ("localhost:8000", ("http://localhost:8000",), True),
        ("localhost:8000", ("HTTP://LOCALHOST:8000",), True),
        ("localhost.:8000", ("http://localhost:8000",), True),
        ("[::1]:8000", ("http://[0::1]:8000",), True),
        ("localhost", ("http://localhost:80",), True),
        ("localhost", ("https://localhost",), True),
        ("localhost:8000", ("http://localhost:6274",), True),
        ("api.example.com", ("https://app.example.com",), True),
        ("api.example.com", ("https://app.example.com:443",), True),
        ("api.example.com", ("http://app.example.com",), False),
        ("api.example.com", ("https://app.example.com:8443",), False),
        ("localhost:8000", ("http://localhost:9999",), False),
        ("localhost:8000", ("http://127.0.0.1:8000",), False),
        ("localhost:8000", ("http://evil.example",), False),
        ("localhost:8000", ("http://localhost:8000.evil.example",), False),
        ("localhost:8000", ("http://localhost:8000@evil.example",), False),
        ("localhost:8000", ("http://localhost:8000/",), False),
        ("localhost:8000", ("null",), False),
        ("localhost:8000", ("",), False),
        ("localhost:8000", ("localhost:8000",), False),
        ("localhost:8000", ("http://localhost:8000", "http://evil.example"), False),
    ],
)
def test_a_page_calls_its_own_host_or_is_named(
    host: str, origins: tuple[str, ...], fine: bool
) -> None:
    refusal = PUBLIC.refusal((host,), origins)
    assert (refusal is None) is fine
    if refusal is not None:
        assert refusal.status == 403
        assert "evil" not in refusal.why


def test_every_host_may_be_left_to_who_stands_in_front() -> None:
    rules = AccessRules(["*"])
    assert rules.refusal(("anything.example",), ()) is None
    assert rules.refusal(("any thing",), ()) is not None
    assert rules.refusal(("anything.example",), ("http://evil.example",)) is not None


@each("entry", ["http://a", "a/b", ""])
def test_a_list_of_hosts_holds_hosts(entry: str) -> None:
    with pytest.raises(ValueError, match="allowed_hosts"):
        AccessRules([entry])


@each("entry", ["app.example.com", "*", "null", "https://a/b"])
def test_a_list_of_origins_holds_origins(entry: str) -> None:
    with pytest.raises(ValueError, match="allowed_origins"):
        AccessRules([], [entry])


def test_a_string_is_not_a_list() -> None:
    with pytest.raises(TypeError, match=r"allowed_hosts: expected a list.*Write \['a.example'\]"):
        AccessRules("a.example")
    with pytest.raises(TypeError, match="allowed_origins: expected a list"):
        AccessRules([], "https://a.example")


@each(
    ("host", "tls", "insecure"),
    [("localhost", False, False), ("0.0.0.0", True, False), ("example.com", False, True)],
)
def test_plain_text_stays_on_this_machine_unless_the_user_says_otherwise(
    host: str, tls: bool, insecure: bool
) -> None:
    must_be_secure(host, tls=tls, insecure=insecure, doing="listen on")


@pytest.mark.spec("mcp-streamable-http-transport-9")
@each("host", ["0.0.0.0", "::", "example.com", "192.168.0.7", ""])
def test_plain_text_over_a_network_is_refused(host: str) -> None:
    with pytest.raises(InsecureAddressError, match=r"Refused to listen on .* without TLS"):
        must_be_secure(host, tls=False, insecure=False, doing="listen on")
