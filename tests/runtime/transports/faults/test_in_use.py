"""Two concurrent requests of one id: the second is refused, and the first goes on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.runtime.transports.fake_clients import RawClient, RawHttp, message
from tests.runtime.transports.faults.fake_clients import begun
from tests.runtime.transports.faults.fixtures_ends import Session, answer, answers

pytestmark = pytest.mark.faults


def asking(session: Session, text: str) -> bytes:
    """Return a request of one id whose answer comes immediately, or, for "hold", never."""
    if isinstance(session, RawClient):
        tool = "hold" if text == "hold" else "echo"
        arguments = {} if text == "hold" else {"text": text}
        return message("tools/call", 7, name=tool, arguments=arguments)
    said = {"role": "user", "content": {"type": "text", "text": text}}
    return message("sampling/createMessage", 7, messages=[said], maxTokens=1)


@contextmanager
def sent(session: Session, frame: bytes) -> Iterator[None]:
    """Send a request whose answer does not come during the block."""
    if isinstance(session, RawHttp):
        with begun(session, len(frame)) as half:
            half.write(frame)
            yield
        return
    if isinstance(session, RawClient):
        session.send(frame)
    else:
        session.server.send(frame)
    yield


def refused(found: Any) -> bool:
    return "error" in found and (found["error"]["code"], found["id"]) == (-32600, 7)


@pytest.mark.fault(8)
def test_the_second_is_refused_and_the_first_goes_on(session: Session) -> None:
    second = asking(session, "second")
    with sent(session, asking(session, "hold")):
        while not refused(found := answer(session, second)):
            assert "second" in json.dumps(found)  # the first has not arrived yet
        assert refused(answer(session, second))
        assert answers(session, message("notifications/cancelled", requestId=7)) == []
    while refused(answer(session, second)):
        pass  # it is still being stopped
