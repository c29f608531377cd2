"""Frames and what a server answers: the code and the id of its one reply, or none.

They cover every vector of the JSON-RPC corpus, read by our rules: a batch is refused as a whole,
and an unreadable frame is answered with its id where that can still be found. `SERVED` and
`SLOW` are the methods of the server under test; a result is written as code 0.
"""

from __future__ import annotations

__all__ = ("BYTES", "NO_REPLY", "RESULT", "TEXTS", "Reply")

from typing import Any

Reply = tuple[int, Any] | None
"""Error code (0 for a result) and id."""

NO_REPLY: Reply = None
RESULT = 0

TEXTS: list[tuple[str, Reply]] = [
    # Requests and their ids, which come back with their type.
    ('{"jsonrpc":"2.0","id":1,"method":"ping"}', (RESULT, 1)),
    ('{"jsonrpc":"2.0","id":"1","method":"ping"}', (RESULT, "1")),
    ('{"jsonrpc":"2.0","id":0,"method":"ping"}', (RESULT, 0)),
    ('{"jsonrpc":"2.0","id":"","method":"ping"}', (RESULT, "")),
    ('{"jsonrpc":"2.0","id":-1,"method":"ping"}', (RESULT, -1)),
    ('{"jsonrpc":"2.0","id":"1.0","method":"ping"}', (RESULT, "1.0")),
    ('{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}', (RESULT, 9007199254740993)),
    ('{"jsonrpc":"2.0","id":100000000000000000000,"method":"ping"}', (RESULT, 10**20)),
    ('{"jsonrpc":"2.0","id":1.0,"method":"ping"}', (-32600, None)),
    ('{"jsonrpc":"2.0","id":1.5,"method":"ping"}', (-32600, None)),
    ('{"jsonrpc":"2.0","id":true,"method":"ping"}', (-32600, None)),
    ('{"jsonrpc":"2.0","id":null,"method":"ping"}', (-32600, None)),
    ('{"jsonrpc":"2.0","id":{},"method":"ping"}', (-32600, None)),
    ('{"jsonrpc":"2.0","id":[1],"method":"ping"}', (-32600, None)),
    ('{"jsonrpc":"2.0","method":"notifications/initialized"}', NO_REPLY),
    ('{"jsonrpc":"2.0","method":"x/y","params":{"a":1}}', NO_REPLY),
    ('{"jsonrpc":"2.0","method":"notifications/cancelled"}', NO_REPLY),
    ('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":999}}', NO_REPLY),
    ('{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo"}}', NO_REPLY),
    # Methods and params.
    ('{"jsonrpc":"2.0","id":2,"method":"no/such"}', (-32601, 2)),
    ('{"jsonrpc":"2.0","id":2,"method":""}', (-32601, 2)),
    ('{"jsonrpc":"2.0","id":2,"method":"rpc.discover"}', (-32601, 2)),
    ('{"jsonrpc":"2.0","id":2,"method":"notifications/initialized"}', (-32601, 2)),
    ('{"jsonrpc":"2.0","id":2,"method":1}', (-32600, 2)),
    ('{"jsonrpc":"2.0","id":2}', (-32600, 2)),
    ('{"jsonrpc":"2.0","id":2,"method":"tools/call","params":[]}', (-32602, 2)),
    ('{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{}}', (-32602, 2)),
    ('{"jsonrpc":"2.0","id":2,"method":"ping","params":null}', (0, 2)),
    ('{"jsonrpc":"2.0","id":2,"method":"ping","params":"x"}', (-32602, 2)),
    ('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}', (-32602, 1)),
    (
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":'
        '{"name":"__proto__","arguments":{"__class__":{}}}}',
        (RESULT, 1),  # what a tool is called is the handler's business
    ),
    # Envelopes.
    ('{"jsonrpc":2.0,"id":2,"method":"ping"}', (-32600, 2)),
    ('{"jsonrpc":"1.0","id":1,"method":"ping"}', (-32600, 1)),
    ('{"hello":"world"}', (-32600, None)),
    ('{"JSONRPC":"2.0","id":2,"METHOD":"ping"}', (-32600, 2)),
    ('{"jsonrpc":"2.0","id":2,"method":"ping","\u017f":1}', (RESULT, 2)),  # a long s
    ('{"jsonrpc":"2.0","id":2,"id":3,"method":"ping"}', (-32600, None)),
    ('{"jsonrpc":"2.0","id":2,"method":"ping","method":"tools/call"}', (-32600, 2)),
    ('{"jsonrpc":"2.0","id":2,"method":"ping","result":{}}', (-32600, 2)),
    ('{"jsonrpc":"2.0","id":2,"method":"ping","params":{"id":3,"method":"x"}}', (RESULT, 2)),
    # Responses that answer no call of ours: never answered themselves.
    ('{"jsonrpc":"2.0","id":2,"result":null}', NO_REPLY),
    ('{"jsonrpc":"2.0","id":2,"result":{},"error":{"code":1,"message":"x"}}', NO_REPLY),
    ('{"jsonrpc":"2.0","id":2,"error":{"code":"x","message":"x"}}', NO_REPLY),
    ('{"jsonrpc":"2.0","id":2,"error":{"message":"x"}}', NO_REPLY),
    ('{"jsonrpc":"2.0","id":2,"error":null}', NO_REPLY),
    ('{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"batch"}}', NO_REPLY),
    ('{"jsonrpc":"2.0","id":2,"result":NaN}', NO_REPLY),
    # Batches, and JSON that is not a message.
    ("[]", (-32600, None)),
    ("[1,2]", (-32600, None)),
    (
        '[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"x"}]',
        (-32600, None),
    ),
    (
        '[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":1,"method":"ping"}]',
        (-32600, None),
    ),
    ('[{"jsonrpc":"2.0","method":"a"}]', (-32600, None)),
    ('"ping"', (-32600, None)),
    ("null", (-32600, None)),
    ("1", (-32600, None)),
    ("true", (-32600, None)),
    # No JSON.
    ('{"jsonrpc":"2.0","id":1,"method":"ping"}}', (-32700, None)),
    (
        '{"jsonrpc":"2.0","id":1,"method":"ping"} {"jsonrpc":"2.0","id":2,"method":"ping"}',
        (-32700, None),
    ),
    ("{'jsonrpc':'2.0'}", (-32700, None)),
    ("{oops", (-32700, None)),
    ('{"jsonrpc":"2.0","id":1,', (-32700, None)),
    ('{"jsonrpc":"2.0","id":1,"method":"ping",}', (-32700, None)),
    ('{"jsonrpc":"2.0","id":NaN,"method":"ping"}', (-32700, None)),
    ('{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}', (-32700, None)),
    ('{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":Infinity}}', (-32600, 1)),
    (
        '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"x":-Infinity}}}',
        (-32600, 1),
    ),
    ('{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":"\\ud800"}}', (-32600, 1)),
    # A number beyond a double, where nobody can see it: the method is unknown.
    ('{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":1e400}}', (-32601, 1)),
    # The server under test knows neither lists nor the handshake's order.
    ('{"jsonrpc":"2.0","id":1,"method":"tools/list"}', (-32601, 1)),
    # Blank lines.
    ("", NO_REPLY),
    ("   ", NO_REPLY),
]

BYTES: list[tuple[bytes, Reply]] = [
    (b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}', (-32600, 1)),
    (bytes.fromhex("fffe7b007d00"), (-32700, None)),
    (b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"u":"\xc0\x80"}}', (-32700, None)),
    (b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"u":"\x00"}}', (-32700, None)),
    (b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"u":"\x0b"}}', (-32700, None)),
    (b"\x00", (-32700, None)),
    (b"[" * 200_000, (-32700, None)),
    (b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"ping"}', (-32700, None)),
    (
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"n":' + b"9" * 5000 + b"}}",
        (-32600, 1),
    ),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping"}\r', (RESULT, 1)),
    (b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"u":"\xe2\x80\xa8"}}', (-32601, 1)),
    (b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"u":"\xc2\x85"}}', (-32601, 1)),
]
