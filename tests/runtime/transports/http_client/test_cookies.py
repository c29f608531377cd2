"""Cookies that are kept and sent back (RFC 6265)."""

from __future__ import annotations

from kinwire.transports.http_client.address import ServerAddress, split_url
from kinwire.transports.http_client.cookies import CookieJar
from tests.each import each

NOW = 1_800_000_000.0  # Fri, 15 Jan 2027 08:00:00 GMT
HERE = split_url("https://mcp.example.com/api/mcp?key=1")


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


def sent(*values: str, to: str | None = None, by: ServerAddress = HERE) -> str:
    """Return the `Cookie` header of a request after a response with these `Set-Cookie` headers."""
    jar = CookieJar(Clock())
    jar.store(by, values)
    return jar.header_for(by if to is None else split_url(to))


@each(
    "value",
    [
        "node=a",
        "node=a; Path=/",
        " node =  a ; path=/api",
        "node=a;Path=/api/; HttpOnly; SameSite=Lax; Priority=High",
        "node=a; Path=relative",
        "node=a; Path=",
        "node=a; Path=/other; Path=/api",
        "node=a; Domain=mcp.example.com",
        "node=a; Domain=.EXAMPLE.com",
        "node=a; Domain=",
        "node=a; Secure",
        "node=a; Max-Age=1",
        "node=a; Max-Age=one",
        "node=a; Max-Age=" + 1000 * "9",
        "node=a; Expires=Fri, 15 Jan 2027 08:00:01 GMT",
        "node=a; expires=Friday, 15-Jan-27 08:00:01 GMT",
        "node=a; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=5",
        "node=a; Expires=soon",
        "node=a; Expires=" + 2000 * "x",
    ],
)
def test_a_cookie_is_sent_back(value: str) -> None:
    assert sent(value) == "node=a"


@each(
    "value",
    [
        "",
        "node",
        "=a",
        "node=a; Path=/other",
        "node=a; Path=/ap",
        "node=a; Path=/api/mcp/more",
        "node=a; Domain=other.example.com",
        "node=a; Domain=ample.com",
        "node=a; Domain=more.mcp.example.com",
        "node=a; Max-Age=0",
        "node=a; Max-Age=-5; Expires=Fri, 15 Jan 2027 08:00:01 GMT",
        "node=a; Expires=Fri, 15 Jan 2027 08:00:00 GMT",
        "node=a\x01",
        "node=" + 4093 * "a",
    ],
)
def test_a_cookie_is_not_sent_back(value: str) -> None:
    assert sent(value) == ""


@each(
    ("to", "header"),
    [
        ("https://mcp.example.com/api/other", "a=1; b=2"),
        ("https://mcp.example.com/api", "a=1; b=2"),
        ("https://mcp.example.com/apis", "b=2"),
        ("https://mcp.example.com", "b=2"),
        ("https://MCP.example.com/", "b=2"),
        ("https://mcp.example.com:8443/api/mcp", ""),
        ("http://mcp.example.com/api/mcp", ""),
        ("https://other.example.com/api/mcp", ""),
        ("https://sub.mcp.example.com/api/mcp", ""),
    ],
)
def test_cookies_go_to_their_origin_and_path_only(to: str, header: str) -> None:
    assert sent("b=2; Path=/; Domain=example.com", "a=1; Path=/api", to=to) == header


def test_an_address_of_numbers_has_no_subdomains() -> None:
    local = split_url("http://127.0.0.1:8000/mcp")
    assert sent("a=1; Domain=127.0.0.1", "b=2; Domain=0.0.1", "c=3", by=local) == "a=1; c=3"


def test_secure_cookies_need_tls() -> None:
    local = split_url("http://127.0.0.1:8000/mcp")
    assert sent("a=1; Secure", "b=2", by=local) == "b=2"
    jar = CookieJar()
    jar.store(local, ["a=1; Secure", "a=2; secure=x", "c=3;SECURE;Path=/"])
    assert not jar.kept


def test_longer_paths_come_first_and_then_older_cookies() -> None:
    values = ("a=1; Path=/", "b=2; Path=/api", "c=3; Path=/", "d=4; Path=/api/mcp", "a=5; Path=/")
    assert sent(*values) == "d=4; b=2; a=5; c=3"


def test_a_cookie_expires_and_is_deleted() -> None:
    clock = Clock()
    jar = CookieJar(clock)
    jar.store(HERE, ["a=1; Max-Age=10", "b=2"])
    clock.now += 9.9
    assert jar.header_for(HERE) == "a=1; b=2"
    clock.now += 0.1
    assert jar.header_for(HERE) == "b=2"
    jar.store(HERE, ["b=; Max-Age=0"])
    assert jar.header_for(HERE) == ""


def test_other_bytes_are_preserved() -> None:
    assert sent('a="x, y=z"; Path=/', "b=\xc3\xa4") == 'b=\xc3\xa4; a="x, y=z"'


def test_at_most_fifty_cookies_are_kept() -> None:
    assert sent(*(f"c{number}=x" for number in range(52))).split("; ")[0] == "c2=x"


def test_at_most_sixteen_kibibytes_are_kept() -> None:
    names = [pair[0] for pair in sent(*(f"{name}={4000 * 'x'}" for name in "abcdef")).split("; ")]
    assert names == ["c", "d", "e", "f"]


def test_expired_cookies_leave_first() -> None:
    clock = Clock()
    jar = CookieJar(clock)
    jar.store(HERE, ["old=1", "short=1; Max-Age=1", *(f"c{number}=x" for number in range(48))])
    clock.now += 1
    jar.store(HERE, ["new=1"])
    assert jar.header_for(HERE).startswith("old=1; c0=x")


def test_a_value_that_is_replaced_does_not_count_twice() -> None:
    jar = CookieJar(Clock())
    for _ in range(10):
        jar.store(HERE, [f"a={4000 * 'x'}"])
    jar.store(HERE, ["b=1"])
    assert jar.header_for(HERE).startswith("a=x")


def test_values_are_not_shown() -> None:
    jar = CookieJar()
    jar.store(HERE, ["key=secret"])
    assert repr(jar) == "<CookieJar of 1>"
