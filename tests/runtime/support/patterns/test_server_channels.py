"""Patterns of channels: of one server, or of each one."""

from __future__ import annotations

import pytest

from kinwire.support.patterns.server_channels import ChannelPattern
from tests.each import each


@pytest.mark.spec("mcpl-14.5-1")
@each(
    ("pattern", "server_id", "channel_id", "matches"),
    [
        ("chat:*", "chat", "chat:#general", True),
        ("chat:*", None, "chat:#general", True),
        ("chat:*", "chat", "mail:inbox", False),
        ("*", "chat", "chat:#general", True),
        ("*", "chat", "chat/general", False),
        ("chat/chat:*", "chat", "chat:#general", True),
        ("chat/chat:*", "other", "chat:#general", False),
        ("chat/chat:*", None, "chat:#general", False),
        ("*/chat/*", "any", "chat/general", True),
        ("*/chat/*", None, "chat/general", True),
        ("chat/**", "chat", "a/b/c", True),
    ],
)
def test_a_pattern_matches_channels_of_its_server(
    pattern: str, server_id: str | None, channel_id: str, matches: bool
) -> None:
    assert ChannelPattern.read(pattern).matches(server_id, channel_id) is matches


@pytest.mark.spec("mcpl-14.5-1")
@each("text", ["", "/a", "chat*/a", "chat/", "x" * 600])
def test_texts_that_are_not_patterns_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        ChannelPattern.read(text)
