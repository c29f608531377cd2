"""What this library and `httpx2` make of responses; `docs/transports.md` shows the differences."""

from __future__ import annotations

__all__ = ("ROWS",)

import gzip
import zlib

from tests.runtime.mcp.http_client.raw_responses import (
    CHUNKED,
    JSON,
    LENGTH,
    OK,
    Row,
    after,
    bare_lf,
    chunked,
    closes,
    deflated,
    if_sent,
    moved,
    on_a_kept_connection,
    plays,
    refuses,
    resets,
    unless_sent,
    whole,
)

KEPT, CLOSED, REFUSED = "answered, kept", "answered, closed", "refused, closed"
UNREAD = "refused, kept"
TWICE = "answered, kept, sent 2 times"

FRAMING = "the body could end in two places, and what follows could pass for another response"
VERSION = "the framing of other versions is not known"
REST = "what came belongs to no request"
BODY = "the rest of a response that is refused is not read"
GET = "a GET in place of the POST calls nothing; the error names the new address"
ORIGIN = "arguments and headers are for the origin that the user named"
AGAIN = "a `ping` may run twice, so it is sent again on a new connection"

LENGTHS = [
    Row("a length", whole(), KEPT),
    Row(
        "a length between spaces",
        plays(OK, JSON, "Content-Length: \t<length> \t", "", "<body>"),
        KEPT,
    ),
    Row("the same length in two lines", whole(LENGTH), KEPT),
    Row(
        "the same length twice in one line",
        plays(OK, JSON, "Content-Length: <length>, <length>", "", "<body>"),
        KEPT,
    ),
    Row("two lengths", whole("Content-Length: 5"), REFUSED),
    Row(
        "a length with a sign",
        plays(OK, JSON, "Content-Length: +<length>", "", "<body>"),
        REFUSED,
    ),
    Row("a length and chunks", chunked(LENGTH), REFUSED, KEPT, FRAMING),
    Row(
        "fewer bytes than the length",
        plays(OK, JSON, "Content-Length: 500", "", "<body>", close=True),
        REFUSED,
    ),
    Row(
        "more bytes than the length",
        plays(OK, JSON, LENGTH, "", "<body>HTTP/1.1 200 OK"),
        REFUSED,
        KEPT,
        REST,
    ),
    Row("no length, until the end", plays(OK, JSON, "", "<body>", close=True), CLOSED),
    Row("HTTP/1.0 with a length", whole(first="HTTP/1.0 200 OK"), CLOSED),
    Row(
        "HTTP/1.0 with `Connection: keep-alive`",
        whole("Connection: keep-alive", first="HTTP/1.0 200 OK"),
        KEPT,
        CLOSED,
        "RFC 9112, 9.3 allows it",
    ),
    Row("HTTP/1.0 until the end", plays("HTTP/1.0 200 OK", JSON, "", "<body>", close=True), CLOSED),
    Row("`Connection: close` from a server that waits", whole("Connection: close"), CLOSED),
    Row("`Connection: foo, Close`", whole("Connection: foo, Close"), CLOSED),
]

CHUNKS = [
    Row("chunks", chunked(), KEPT),
    Row("sizes of chunks with zeros in front", chunked(size="000<size>", last=("000", "")), KEPT),
    Row("extensions of chunks", chunked(size='<size>;a=1;b="x"', last=("0;c", "")), KEPT),
    Row(
        "extensions of chunks behind a space",
        chunked(size="<size>;a=1; b=2"),
        REFUSED,
        KEPT,
        "the parser reads none, and nobody sends them",
    ),
    Row("trailers", chunked("Trailer: X-Sum", last=("0", "X-Sum: 1", "")), KEPT),
    Row("a trailer that names a length", chunked(last=("0", "Content-Length: 5", "")), KEPT),
    Row("chunks without the last one", chunked(last=(), close=True), REFUSED),
    Row("a chunk whose size is not a number", chunked(size="0x<size>"), REFUSED),
    Row("a chunk longer than its size", chunked(size="5"), REFUSED),
    Row("`Transfer-Encoding: Chunked`", chunked(coding="Transfer-Encoding: Chunked"), KEPT),
    Row(
        "`Transfer-Encoding: gzip, chunked`",
        chunked(coding="Transfer-Encoding: gzip, chunked", coded=gzip.compress),
        REFUSED,
    ),
]

FIRST_LINES = [
    Row(
        "100 Continue first",
        plays("HTTP/1.1 100 Continue", "", OK, JSON, LENGTH, "", "<body>"),
        KEPT,
    ),
    Row(
        "103 Early Hints first, twice",
        plays(
            *("HTTP/1.1 103 Early Hints", "Link: </a>; rel=preload", "") * 2,
            *(OK, JSON, LENGTH, "", "<body>"),
        ),
        KEPT,
    ),
    Row(
        "101 Switching Protocols",
        plays("HTTP/1.1 101 Switching Protocols", "Upgrade: h2c", "", ""),
        REFUSED,
    ),
    Row(
        "101 Switching Protocols with a folded line",
        plays("HTTP/1.1 101 Switching Protocols", "X-A: a", "\tb", "", ""),
        REFUSED,
    ),
    Row("an empty reason", whole(first="HTTP/1.1 200 "), KEPT),
    Row("nothing behind the status", whole(first="HTTP/1.1 200"), KEPT),
    Row("a reason in UTF-8", whole(first="HTTP/1.1 200 Tr\u00c3\u00a8s bien"), KEPT),
    Row("a status of two digits", whole(first="HTTP/1.1 20 OK"), REFUSED),
    Row("HTTP/1.2", whole(first="HTTP/1.2 200 OK"), REFUSED, KEPT, VERSION),
    Row("HTTP/2.0", whole(first="HTTP/2.0 200 OK"), REFUSED, KEPT, VERSION),
    Row("`http/1.1`", whole(first="http/1.1 200 OK"), REFUSED),
    Row("`ICY 200 OK`", whole(first="ICY 200 OK"), REFUSED),
    Row(
        "an empty line first",
        plays("", OK, JSON, LENGTH, "", "<body>"),
        KEPT,
        REFUSED,
        "the parser skips it, which changes nothing",
    ),
]

HEADERS = [
    Row(
        "names in odd case",
        plays(OK, "cONTENT-tYPE: application/json", "CONTENT-LENGTH: <length>", "", "<body>"),
        KEPT,
    ),
    Row(
        "no space behind colons",
        plays(OK, "Content-Type:application/json", "Content-Length:<length>", "", "<body>"),
        KEPT,
    ),
    Row("a space before a colon", whole("X-A : 1"), REFUSED),
    Row("a header without a name", whole(": 1"), REFUSED),
    Row("a line without a colon", whole("X-A"), REFUSED),
    Row("an empty header", whole("X-A:"), KEPT),
    Row("a header in Latin-1", whole("X-A: gr\u00fc\u00dfe"), KEPT),
    Row("a header in UTF-8", whole("X-A: gr\u00c3\u00bc"), KEPT),
    Row("NUL in a header", whole("X-A: a\0b"), REFUSED),
    Row("CR alone in a header", whole("X-A: a\rX-B: b"), REFUSED),
    Row(
        "folded lines",
        plays(
            *(OK, "Content-Type: application/json;", "  charset=utf-8"),
            *("X-A: a", "\tb", LENGTH, "", "<body>"),
        ),
        KEPT,
    ),
    Row("lines that end with LF alone", bare_lf(OK, JSON, LENGTH, "", "<body>"), KEPT),
    Row(
        "chunks whose lines end with LF alone",
        bare_lf(OK, JSON, CHUNKED, "", "<size>", "<body>", "0", "", "", close=True),
        REFUSED,
    ),
    Row("a header of 20 kB", whole("X-A: " + "a" * 20_000), KEPT),
    Row("headers of 20 kB", whole(*[f"X-{number}: " + "a" * 90 for number in range(200)]), KEPT),
    Row("headers of 200 kB", whole(*["X-A: " + "a" * 2000] * 100), REFUSED),
    Row("300 headers", whole(*[f"X-{number}: a" for number in range(300)]), KEPT),
    Row("the same `Content-Type` twice", whole(JSON), KEPT),
    Row("`Content-Type` twice, in odd case", whole("Content-Type: Application/JSON"), KEPT),
    Row(
        "two values of `Content-Type`",
        whole("Content-Type: text/html"),
        REFUSED,
        KEPT,
        "which of them the body has is not known",
    ),
    Row(
        "`Application/JSON ; charset=UTF-8`",
        plays(OK, "Content-Type: Application/JSON ; charset=UTF-8", LENGTH, "", "<body>"),
        KEPT,
    ),
    Row("no `Content-Type`", plays(OK, LENGTH, "", "<body>"), REFUSED, UNREAD, BODY),
]

UNCODED = ("`Content-Encoding: identity`", "an empty `Content-Encoding`")

CODINGS = [
    Row("`Content-Encoding: gzip`", whole("Content-Encoding: gzip", coded=gzip.compress), KEPT),
    Row(
        "`Content-Encoding: x-gzip`",
        whole("Content-Encoding: x-gzip", coded=gzip.compress),
        KEPT,
        UNREAD,
        "RFC 9110, 8.4.1.3 gives it the same meaning",
    ),
    Row("`Content-Encoding: GZIP`", whole("Content-Encoding: GZIP", coded=gzip.compress), KEPT),
    Row(
        "`Content-Encoding: deflate`",
        whole("Content-Encoding: deflate", coded=zlib.compress),
        KEPT,
    ),
    Row(
        "`Content-Encoding: deflate` without the header of zlib",
        whole("Content-Encoding: deflate", coded=deflated),
        KEPT,
    ),
    Row(
        "`Content-Encoding: gzip, gzip`",
        whole(
            "Content-Encoding: gzip, gzip", coded=lambda data: gzip.compress(gzip.compress(data))
        ),
        KEPT,
    ),
    Row(UNCODED[0], whole("Content-Encoding: identity"), KEPT),
    Row(UNCODED[1], whole("Content-Encoding:"), KEPT),
    Row(
        "an unknown coding",
        whole("Content-Encoding: zip9", coded=gzip.compress),
        REFUSED,
        UNREAD,
        BODY,
    ),
    Row("gzip in chunks", chunked("Content-Encoding: gzip", coded=gzip.compress), KEPT),
    Row("gzip that is not gzip", whole("Content-Encoding: gzip"), REFUSED),
    Row(
        "gzip that is cut off",
        whole("Content-Encoding: gzip", coded=lambda data: gzip.compress(data)[:-12]),
        UNREAD,
    ),
    Row(
        "gzip of two members",
        whole(
            "Content-Encoding: gzip",
            coded=lambda data: gzip.compress(data[:9]) + gzip.compress(data[9:]),
        ),
        KEPT,
        UNREAD,
        "RFC 1952, 2.2 allows several",
    ),
]

ELSEWHERE = "http://localhost:<port>/mcp"

REDIRECTS = [
    *(
        Row(f"{status} to {name}", moved(status, to), f"HTTP {status}, kept", "HTTP 405, kept", GET)
        for status in (301, 302, 303)
        for name, to in (("the same origin", "/other"), ("another origin", ELSEWHERE))
    ),
    *(Row(f"{status} to the same origin", moved(status, "/other"), TWICE) for status in (307, 308)),
    *(
        Row(
            f"{status} to another origin",
            moved(status, ELSEWHERE),
            f"HTTP {status}, kept",
            "answered, closed, sent 2 times",
            ORIGIN,
        )
        for status in (307, 308)
    ),
    Row(
        "307 without an address",
        plays("HTTP/1.1 307 x", "Content-Length: 0", "", ""),
        "HTTP 307, kept",
    ),
    Row(
        "307 to itself",
        moved(307, "/mcp"),
        "HTTP 307, kept, sent 4 times",
        "refused, kept, sent 21 times",
        "a server needs no more than three",
    ),
]

HABITS = [
    Row("400 without `User-Agent`", if_sent("user-agent"), KEPT),
    Row(
        "400 without its cookie",
        if_sent("cookie", "node=a"),
        KEPT,
        cookies=("node=a; Path=/",),
    ),
    Row(
        "400 without both cookies",
        if_sent("cookie", "node=a; way=b"),
        KEPT,
        cookies=("node=a; Path=/", "way=b; HttpOnly"),
    ),
    Row(
        "400 with the cookie of another path",
        unless_sent("cookie"),
        KEPT,
        cookies=("node=a; Path=/other",),
    ),
    Row(
        "400 with the cookie of another domain",
        unless_sent("cookie"),
        KEPT,
        cookies=("node=a; Domain=example.com",),
    ),
    Row(
        "400 with a cookie that was set and deleted",
        unless_sent("cookie"),
        KEPT,
        "HTTP 400, kept",
        "the headers of a response count in their order",
        cookies=("node=a; Path=/", "node=; Path=/; Max-Age=0"),
    ),
    Row(
        "400 with a cookie for TLS",
        unless_sent("cookie"),
        KEPT,
        cookies=("node=a; Secure",),
    ),
]

TIMEOUT_408 = ("HTTP/1.1 408 Request Time-out", "Connection: close", "Content-Length: 0", "", "")

CONNECTIONS = [
    Row("closed with the answer", after(0, closes), CLOSED, pause=0.005),
    Row("reset with the answer", after(0, resets), CLOSED, pause=0.005),
    Row("closed 1 ms after the answer", after(0.001, closes), CLOSED, pause=0.006),
    Row("closed 20 ms after the answer", after(0.02, closes), CLOSED, pause=0.03),
    Row("closed 1 s after the answer", after(1, closes), CLOSED, pause=1.1),
    Row(
        "408 on the idle connection",
        after(0.002, plays(*TIMEOUT_408, close=True)),
        CLOSED,
        pause=0.02,
    ),
    *(
        Row(
            f"a kept connection is {what} when a `ping` comes",
            on_a_kept_connection(ending),
            TWICE,
            REFUSED,
            AGAIN,
            method="ping",
        )
        for what, ending in (("closed", closes), ("reset", resets))
    ),
    *(
        Row(
            f"a kept connection is {what} when a `tools/call` comes",
            on_a_kept_connection(ending),
            REFUSED,
        )
        for what, ending in (("closed", closes), ("reset", resets))
    ),
    Row("cut off in the head", plays(OK, "Content-Ty", close=True), REFUSED, method="ping"),
    Row(
        "cut off in the body",
        plays(OK, JSON, "Content-Length: 500", "", "<body>", close=True),
        REFUSED,
        method="ping",
    ),
    Row(
        "413 before the body is read",
        refuses(close=False),
        "HTTP 413, closed",
        size=4_000_000,
        early=True,
    ),
    Row(
        "413 and the end before the body is read",
        refuses(close=True),
        "HTTP 413, closed",
        size=4_000_000,
        early=True,
        late="refused, closed",
    ),
]

ROWS = (
    *LENGTHS,
    *CHUNKS,
    *FIRST_LINES,
    *HEADERS,
    *CODINGS,
    *REDIRECTS,
    *HABITS,
    *CONNECTIONS,
)
