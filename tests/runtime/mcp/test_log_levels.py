"""Log levels: the order of syslog."""

from __future__ import annotations

from typing import get_args

import pytest

from kinwire.mcp.log_messages import LEVELS, at_least
from kinwire_protocols.mcp.models import LoggingLevel
from tests.each import each


def test_the_order_has_every_level_of_the_protocol() -> None:
    assert set(LEVELS) == set(get_args(LoggingLevel.__value__))


@each("least", LEVELS)
def test_a_level_lets_itself_and_all_that_is_worse_through(least: LoggingLevel) -> None:
    passed = [level for level in LEVELS if at_least(level, least)]
    assert passed == list(LEVELS[LEVELS.index(least) :])


@each(("level", "least"), [("loud", "debug"), ("info", "loud"), ("INFO", "info")])
def test_an_unknown_level_is_refused_with_the_known_ones(level: str, least: str) -> None:
    with pytest.raises(ValueError, match=r"expected one of debug, info, .*, got '(loud|INFO)'"):
        at_least(level, least)
