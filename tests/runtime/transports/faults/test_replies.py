"""Invalid replies: their call fails with an error that says so, and the next one works."""

from __future__ import annotations

import pytest

from kinwire import InvalidResponseError, UnsendableError
from tests.runtime.transports.faults.fixtures_ends import (
    CARRYING_BYTES,
    PLACES,
    Client,
    Place,
    Session,
)
from tests.runtime.transports.faults.table import CLIENT

pytestmark = pytest.mark.faults

REPLIES = [
    pytest.param(b"[" * 100_000, id="100,000 brackets", marks=pytest.mark.fault(7)),
    pytest.param(
        b'{"a":' * 20_000 + b"1" + b"}" * 20_000, id="objects", marks=pytest.mark.fault(7)
    ),
    pytest.param(b"NaN", id="NaN", marks=pytest.mark.fault(10)),
    pytest.param(b"[-Infinity]", id="minus infinity", marks=pytest.mark.fault(10)),
    pytest.param(b'"\\ud800"', id="half a character", marks=pytest.mark.fault(11)),
]


@pytest.fixture(scope="module", params=[one for one in PLACES if one.end == CLIENT], ids=str)
def where(request: pytest.FixtureRequest) -> Place:
    found: Place = request.param
    return found


@pytest.mark.parametrize("result", REPLIES)
def test_a_reply_that_is_not_json_fails_its_call(session: Session, result: bytes) -> None:
    assert isinstance(session, Client)
    check(session, result)


@pytest.mark.fault(13)
@pytest.mark.parametrize(
    "where", [one for one in CARRYING_BYTES if one.end == CLIENT], indirect=True, ids=str
)
def test_a_reply_that_is_not_text_fails_its_call(session: Session) -> None:
    assert isinstance(session, Client)
    check(session, b'"\xc0\xaf"')


def check(session: Client, result: bytes) -> None:
    call = session.call()
    request = session.server.asked("x")
    session.server.reply(b'{"jsonrpc":"2.0","id":%d,"result":%b}' % (request["id"], result))
    with pytest.raises(InvalidResponseError):
        call.result(20)
    assert session.lives()


@pytest.mark.fault(11)
def test_half_a_character_in_params_fails_the_call_immediately(session: Session) -> None:
    assert isinstance(session, Client)
    with pytest.raises(UnsendableError):
        session.call(text="x\ud800").result(20)
    assert session.lives()
