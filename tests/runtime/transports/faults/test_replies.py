"""Replies that are none: their call fails, with an error that says so, and the next one works."""

from __future__ import annotations

import pytest

from kinwire import InvalidResponseError, UnsendableError
from tests.runtime.transports.faults.table import CLIENT
from tests.runtime.transports.faults.victims import PLACES, Client, Place, Session

pytestmark = pytest.mark.faults

REPLIES = [
    pytest.param(b"[" * 100_000, id="100,000 brackets", marks=pytest.mark.fault(7)),
    pytest.param(
        b'{"a":' * 20_000 + b"1" + b"}" * 20_000, id="objects", marks=pytest.mark.fault(7)
    ),
    pytest.param(b"NaN", id="NaN", marks=pytest.mark.fault(10)),
    pytest.param(b"[-Infinity]", id="minus infinity", marks=pytest.mark.fault(10)),
    pytest.param(b'"\\ud800"', id="half a character", marks=pytest.mark.fault(11)),
    pytest.param(b'"\xc0\xaf"', id="overlong UTF-8", marks=pytest.mark.fault(13)),
]


@pytest.fixture(scope="module", params=[one for one in PLACES if one.end == CLIENT], ids=str)
def where(request: pytest.FixtureRequest) -> Place:
    found: Place = request.param
    return found


@pytest.mark.parametrize("result", REPLIES)
def test_a_reply_that_is_no_json_fails_its_call(
    session: Session, where: Place, result: bytes
) -> None:
    assert isinstance(session, Client)
    if where.transport == "ws" and b"\xc0" in result:
        pytest.skip("ends the connection, as text has to be UTF-8 there")
    call = session.call()
    request = session.server.asked("x")
    session.server.reply(b'{"jsonrpc":"2.0","id":%d,"result":%b}' % (request["id"], result))
    with pytest.raises(InvalidResponseError):
        call.result(20)
    assert session.lives()


@pytest.mark.fault(11)
def test_half_a_character_in_params_fails_the_call_at_once(session: Session) -> None:
    assert isinstance(session, Client)
    with pytest.raises(UnsendableError):
        session.call(text="x\ud800").result(20)
    assert session.lives()
