"""Which bound and which end holds on which way of serving, and the test that shows it.

`python -m tests.runtime.ways.table` writes both tables into the guide; a test fails while the guide
has others, and while a place is empty or names a test that is not there.
"""

from __future__ import annotations

__all__ = ("BOUNDS", "ENDS", "GUIDE", "WAYS", "Absent", "Cell", "tables_in", "tables_now")

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[3]
GUIDE = ROOT / "docs" / "transports.md"
TABLES = re.compile(r"(?<=<!-- ways -->\n).*?(?=<!-- end of ways -->)", re.DOTALL)

WAYS = (
    "stdio",
    "HTTP, uvicorn",
    "HTTP, hypercorn",
    "HTTP+SSE",
    "WebSocket, own port",
    "WebSocket, uvicorn",
    "memory",
    "MCP-lite, HTTP",
    "MCP-lite, gRPC",
    "gateway",
)
"""The ways of serving. `run` and `kinwire serve` use uvicorn."""


class Absent(NamedTuple):
    """Why a place cannot be: a clause that the guide prints."""

    why: str


Cell = str | Absent
"""A test, as `file::name` below `tests/runtime`, or the reason for having no test."""

Row = dict[str, Cell]

_ONE = Absent("there is one session")
_NO_HTTP = Absent("there are no requests of HTTP")
_NO_PINGS = Absent("only WebSocket has pings")
_NO_PROCESS = Absent("it has no process of its own")
_PROGRAM = Absent("the program takes the signals")
_SERVER = Absent("it is up to that server")
_SAME = Absent("it is served over stdio and HTTP by the same code")
_NO_SESSION = Absent("calls have no session")
_LIBRARY = Absent("the library has a bound of its own")

_HTTP_WAYS = ("HTTP, uvicorn", "HTTP, hypercorn", "HTTP+SSE")
_UNDER_UVICORN = ("HTTP, uvicorn", "HTTP+SSE", "WebSocket, uvicorn", "MCP-lite, HTTP")
_SOCKETS = ("WebSocket, own port", "WebSocket, uvicorn")
_SESSIONS = ("stdio", *_HTTP_WAYS, *_SOCKETS, "memory")

_BOUNDED = "transports/http/test_bounded_requests.py::"
_LISTENER = "transports/websocket/test_listener.py::"
_ASGI = "transports/websocket/test_asgi.py::"
_TORN = "transports/faults/test_torn.py::"
_UNREAD = "transports/faults/test_unread.py::"
_LITE = "mcplite/server/http/"
_GRPC = "mcplite/server/test_grpc_calls.py::"
_CALLS_OF_LITE = f"{_LITE}test_endpoints.py::test_calls_beyond_the_limit_are_asked_to_come_back"
_CALLS_OF_GRPC = f"{_GRPC}test_calls_beyond_the_limit_are_refused"
_BODY = "mcp/http/test_refusals.py::test_a_body_without_a_length_is_read_up_to_the_limit"
_MESSAGE_OF_GRPC = f"{_GRPC}test_messages_beyond_the_limit_are_refused_before_they_are_read"
_NO_MEMORY = f"{_LISTENER}test_what_is_not_read_or_never_complete_costs_no_memory"


def _row(*parts: tuple[tuple[str, ...] | str, Cell], gateway: Cell = _SAME) -> Row:
    """Return a row; a later part stands for the ways that no part before it has named."""
    found: Row = {"gateway": gateway}
    for ways, cell in parts:
        for way in WAYS if ways == "others" else (ways,) if isinstance(ways, str) else ways:
            found.setdefault(way, cell)
    return {way: found[way] for way in WAYS if way in found}


BOUNDS: dict[str, Row] = {
    "frame": _row(
        ("memory", "transports/test_memory.py::test_a_frame_beyond_the_limit_is_refused"),
        (
            "WebSocket, own port",
            f"{_LISTENER}test_a_message_that_is_too_long_is_answered_and_skipped",
        ),
        ("WebSocket, uvicorn", f"{_ASGI}test_a_message_that_is_too_long_is_answered"),
        (
            "MCP-lite, HTTP",
            f"{_LITE}test_endpoints.py::test_a_body_without_a_length_is_read_up_to_the_limit",
        ),
        ("MCP-lite, gRPC", _MESSAGE_OF_GRPC),
        ("others", f"{_TORN}test_a_frame_beyond_the_limit_is_refused_by_a_server"),
    ),
    "head": _row(
        (_UNDER_UVICORN, f"{_BOUNDED}test_what_is_outside_a_body_has_a_bound"),
        (
            "WebSocket, own port",
            f"{_LISTENER}test_what_is_sent_before_it_is_known_who_calls_costs_no_memory",
        ),
        ("HTTP, hypercorn", _SERVER),
        ("MCP-lite, gRPC", _LIBRARY),
        ("others", _NO_HTTP),
    ),
    "body": _row(
        (_HTTP_WAYS, _BODY),
        (
            "MCP-lite, HTTP",
            f"{_LITE}test_endpoints.py::test_a_body_without_a_length_is_read_up_to_the_limit",
        ),
        (
            "WebSocket, uvicorn",
            f"{_BOUNDED}test_an_upgrade_with_a_body_is_refused_and_hurts_nobody",
        ),
        ("MCP-lite, gRPC", _MESSAGE_OF_GRPC),
        ("others", _NO_HTTP),
    ),
    "trailers": _row(
        (_UNDER_UVICORN, f"{_BOUNDED}test_trailers_are_not_headers"),
        ("HTTP, hypercorn", _SERVER),
        ("others", _NO_HTTP),
    ),
    "unread output": _row(
        (
            "stdio",
            "transports/test_stdio.py::"
            "test_a_client_that_reads_nothing_for_a_while_costs_bounded_memory",
        ),
        (
            "WebSocket, own port",
            f"{_LISTENER}test_a_client_that_does_not_read_holds_up_nobody_else_and_no_memory",
        ),
        ("memory", f"{_UNREAD}test_the_same_in_memory"),
        (
            "MCP-lite, HTTP",
            f"{_LITE}test_streams.py::test_a_client_that_does_not_read_holds_the_tool_up",
        ),
        ("MCP-lite, gRPC", f"{_GRPC}test_a_stream_waits_for_a_slow_reader"),
        ("HTTP, hypercorn", _SERVER),
        ("others", f"{_UNREAD}test_who_does_not_read_costs_no_memory_and_slows_nobody"),
    ),
    "unsent answers": _row(
        (_SESSIONS, "ways/test_unsent.py::test_handlers_wait_until_answers_are_read"),
        ("others", _NO_SESSION),
    ),
    "sessions": _row(
        (_HTTP_WAYS, "mcp/http/test_streamable.py::test_the_number_of_sessions_is_limited"),
        (
            "WebSocket, own port",
            f"{_LISTENER}test_a_client_too_many_is_refused_with_the_reason",
        ),
        (
            "WebSocket, uvicorn",
            f"{_ASGI}test_it_counts_among_the_sessions_of_its_application",
        ),
        ("MCP-lite, HTTP", _CALLS_OF_LITE),
        ("MCP-lite, gRPC", _CALLS_OF_GRPC),
        ("others", _ONE),
    ),
    "sessions of one client": _row(
        (_HTTP_WAYS, "mcp/http/test_fairness.py::test_one_client_has_no_more_sessions_than_it_may"),
        (
            "WebSocket, own port",
            f"{_LISTENER}test_one_client_has_no_more_sessions_than_it_may",
        ),
        ("WebSocket, uvicorn", f"{_ASGI}test_one_client_has_no_more_sessions_than_it_may"),
        (("MCP-lite, HTTP", "MCP-lite, gRPC"), _NO_SESSION),
        ("others", _ONE),
    ),
    "requests in flight": _row(
        ("MCP-lite, HTTP", _CALLS_OF_LITE),
        ("MCP-lite, gRPC", _CALLS_OF_GRPC),
        (
            "others",
            "rpc/engine/test_inbound.py::"
            "test_beyond_the_limit_requests_fail_and_notifications_are_counted",
        ),
    ),
    "rate of error answers": _row(
        (
            _SESSIONS,
            "rpc/engine/test_engine.py::test_errors_are_answered_up_to_a_rate_and_counted_beyond",
        ),
        ("others", _NO_SESSION),
    ),
    "time of a head": _row(
        (_UNDER_UVICORN, "transports/http/test_connections.py::test_what_stands_still_is_given_up"),
        ("WebSocket, own port", f"{_TORN}test_a_client_that_says_half_and_no_more_is_given_up"),
        ("HTTP, hypercorn", _SERVER),
        ("MCP-lite, gRPC", _LIBRARY),
        ("others", _NO_HTTP),
    ),
    "sessions without use": _row(
        (_HTTP_WAYS, "mcp/http/test_fairness.py::test_a_session_that_was_never_used_gives_way"),
        (_SOCKETS, Absent("a session lasts as long as the peer answers pings")),
        (("MCP-lite, HTTP", "MCP-lite, gRPC"), _NO_SESSION),
        ("others", _ONE),
    ),
    "pings": _row(
        (
            "WebSocket, uvicorn",
            f"{_BOUNDED}test_pings_of_a_peer_that_does_not_read_are_not_answered",
        ),
        ("WebSocket, own port", _NO_MEMORY),
        ("MCP-lite, gRPC", _LIBRARY),
        ("others", _NO_PINGS),
    ),
}

_DEADLINE = "ways/test_ends.py::test_a_process_ends_by_its_deadline_on_every_way"
_STOPPED = "mcplite/server/test_grpc_listener.py::test_a_program_ends_with_its_calls_at_sigterm"
_WATCHED = ("stdio", "HTTP, uvicorn", "HTTP+SSE", "WebSocket, uvicorn", "MCP-lite, HTTP")


def _ended(gateway: Cell) -> Row:
    """Return a row for ends of a process; a way that is not watched leaves them to the program."""
    return _row(
        (_WATCHED, _DEADLINE),
        ("memory", _NO_PROCESS),
        ("HTTP, hypercorn", _SERVER),
        ("WebSocket, own port", _PROGRAM),
        ("MCP-lite, gRPC", _STOPPED),
        gateway=gateway,
    )


ENDS: dict[str, Row] = {
    **{
        signal: _ended(Absent("it takes signals itself, and waits for the calls under way"))
        for signal in ("SIGTERM", "SIGINT", "SIGHUP", "a second signal")
    },
    "end of input": _row(
        ("stdio", _DEADLINE),
        (_HTTP_WAYS, Absent("a session does not end with a connection")),
        ("WebSocket, own port", f"{_LISTENER}test_a_close_is_answered_with_its_own_code"),
        (
            "WebSocket, uvicorn",
            f"{_ASGI}test_a_session_is_served_until_the_client_leaves",
        ),
        (
            "memory",
            "rpc/test_session_end.py::test_running_handlers_may_finish_when_the_peer_ends_its_side",
        ),
        ("MCP-lite, HTTP", f"{_LITE}test_streams.py::test_a_client_that_leaves_cancels_its_call"),
        ("MCP-lite, gRPC", f"{_GRPC}test_work_ends_with_its_client_and_at_its_deadline"),
    ),
    "DELETE": _row(
        (
            _HTTP_WAYS,
            "mcp/http/test_short_sessions.py::"
            "test_a_handler_that_runs_may_finish_and_the_session_is_over_then",
        ),
        (("MCP-lite, HTTP", "MCP-lite, gRPC"), _NO_SESSION),
        ("others", _NO_HTTP),
    ),
    "parent killed": _row(
        ("stdio", "ways/test_ends.py::test_a_server_whose_parent_is_killed_ends"),
        ("memory", _NO_PROCESS),
        ("others", Absent("a listener does not depend on its parent")),
    ),
    **{
        handler: _ended(Absent("it has no handlers of a user"))
        for handler in ("a thread that goes on", "a blocked loop", "a swallowed cancellation")
    },
}


def tables_in(text: str) -> str:
    """Return what the guide has between its marks."""
    found = TABLES.search(text)
    assert found is not None, f"{GUIDE.name} has no place for the tables"
    return found[0]


def tables_now() -> str:
    """Return both tables, and the reasons for the places without a test."""
    reasons: list[str] = []
    tables = [_table("bound", BOUNDS, reasons), _table("end", ENDS, reasons)]
    notes = "".join(f"{number}. {why}\n" for number, why in enumerate(reasons, 1))
    return "\n".join(
        ["", *tables, f"A number is that of the reason why a place has no test:\n\n{notes}", ""]
    )


def _table(corner: str, rows: dict[str, Row], reasons: list[str]) -> str:
    lines = [[corner, *WAYS], ["---"] * (1 + len(WAYS))]
    lines += [[name, *(_sign(row[way], reasons) for way in WAYS)] for name, row in rows.items()]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _sign(cell: Cell, reasons: list[str]) -> str:
    if isinstance(cell, str):
        return "yes"
    if cell.why not in reasons:
        reasons.append(cell.why)
    return str(reasons.index(cell.why) + 1)


if __name__ == "__main__":
    text = GUIDE.read_text(encoding="utf-8")
    GUIDE.write_text(TABLES.sub(lambda _: tables_now(), text), encoding="utf-8")
