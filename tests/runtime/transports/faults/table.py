"""Which faults are tried on which transport and at which end, and why some cannot be there.

A test says what it tries: `@pytest.mark.fault(6, "server")`, on the transport that its parameter
`transport` names, or the mark behind the end; `where` may name both.

`python -m tests.runtime.transports.faults.table` prints the table; it returns 1 while a place in it
is empty.
"""

from __future__ import annotations

__all__ = (
    "ABSENT",
    "CLIENT",
    "FAULTS",
    "MISSING",
    "SERVER",
    "TRANSPORTS",
    "Cell",
    "Fault",
    "cells",
    "tried",
)

import contextlib
import io
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

TRANSPORTS = ("memory", "stdio", "http", "sse", "ws")
CLIENT, SERVER = "client", "server"
BOTH = (CLIENT, SERVER)


class Fault(NamedTuple):
    """What goes wrong, and whom it meets: the end that has to bear it."""

    what: str
    ends: tuple[str, ...] = BOTH


FAULTS = {
    4: Fault("half a message, then the end"),
    5: Fault("half a message, then silence"),
    6: Fault("a message without end"),
    7: Fault("a hundred thousand brackets, params 20,000 deep"),
    8: Fault("an id that is in use"),
    9: Fault("ids of every type and size"),
    10: Fault("NaN and infinity, in and out"),
    11: Fault("half a surrogate pair, in and out"),
    12: Fault("characters that end a line elsewhere"),
    13: Fault("a BOM, UTF-16, overlong UTF-8"),
    14: Fault("strangers on standard output"),
    18: Fault("a peer that does not read"),
    # A store's server that is gone or cut off: `storage/test_nats_faults.py`.
    21: Fault("a server that is killed and comes back, a network that is cut", (CLIENT,)),
    37: Fault("a peer of another version"),
    38: Fault("a server that is asked to end while it works", (SERVER,)),
    39: Fault("a kept connection that ends, at each moment", (CLIENT,)),
    40: Fault("cookies that expire", (CLIENT,)),
    41: Fault("a proxy that dies", (CLIENT,)),
    42: Fault("a body that grows when it is decoded", (CLIENT,)),
}

_WHOLE = "a frame is handed over whole or not at all"
_NOT_HTTP = "requests of HTTP and what belongs to them; HTTP+SSE has the same client"
_NO_STDOUT = "messages do not go over standard output"

ABSENT = {
    (4, "memory"): _WHOLE,
    (5, "memory"): _WHOLE,
    **{(14, transport): _NO_STDOUT for transport in TRANSPORTS if transport != "stdio"},
    **{
        (fault, transport): _NOT_HTTP
        for fault in (39, 40, 41, 42)
        for transport in TRANSPORTS
        if transport != "http"
    },
    (21, "memory"): "the two ends are one process, and nothing lies between them",
}

MISSING = "MISSING"


class Cell(NamedTuple):
    """One place of the table."""

    fault: int
    end: str
    transport: str


def cells() -> Iterator[Cell]:
    """Yield the places that need a test."""
    for number, fault in FAULTS.items():
        for transport in TRANSPORTS:
            if (number, transport) not in ABSENT:
                yield from (Cell(number, end, transport) for end in fault.ends)


def tried() -> dict[Cell, set[str]]:
    """Return the tests for each place, as pytest collects them.

    Raises:
        RuntimeError: the tests cannot be collected; the message is what pytest says.
    """
    collector = _Collector()
    said = io.StringIO()
    files = [str(file) for file in Path("tests/runtime").rglob("test_*.py") if _claims(file)]
    with contextlib.redirect_stdout(said):
        arguments = [*files, "--collect-only", "-qqq", "-m", "", "-p", "no:cacheprovider"]
        status = pytest.main(arguments, plugins=[collector])
    if status != pytest.ExitCode.OK:
        raise RuntimeError(said.getvalue())
    return dict(collector.found)


def _claims(file: Path) -> bool:
    return "mark.fault(" in file.read_text(encoding="utf-8")


class _Collector:
    def __init__(self) -> None:
        self.found: dict[Cell, set[str]] = defaultdict(set)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            for mark in item.iter_markers("fault"):
                cell = Cell(mark.args[0], *_where(item, *mark.args[1:]))
                self.found[cell].add(item.nodeid.partition("[")[0])


def _where(item: pytest.Item, *named: str) -> tuple[str, str]:
    """Return end and transport, as the mark names them or else the test's parameters."""
    assert isinstance(item, pytest.Function)
    if len(named) == 2:
        return named[0], named[1]
    parameters: dict[str, Any] = dict(item.callspec.params)
    place = parameters.get("where")
    return (named[0], parameters["transport"]) if place is None else (place.end, place.transport)


def main() -> int:
    """Print the table; return 1 if a place is empty."""
    found = tried()
    for number, fault in FAULTS.items():
        print(f"{number:3}  {fault.what}")
        for transport in TRANSPORTS:
            if (number, transport) in ABSENT:
                print(f"     {transport:8}         none: {ABSENT[number, transport]}")
                continue
            for end in fault.ends:
                tests = sorted(found.get(Cell(number, end, transport), [MISSING]))
                names = ", ".join(test.rpartition("/")[2] for test in tests)
                print(f"     {transport:8}{end:8} {names}")
    return 1 if set(cells()) - set(found) else 0


if __name__ == "__main__":
    sys.exit(main())
