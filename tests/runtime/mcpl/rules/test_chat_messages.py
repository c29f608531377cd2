"""Injections become part of a conversation for a provider of chat completions."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire.mcpl import Injection, Injections
from kinwire_protocols.mcp import TextContent
from kinwire_protocols.mcpl import Block, Content, ImageBlock, InferenceMessage, Position
from tests.each import each

PICTURE = ImageBlock(data="aGk=", mime_type="image/png")


def injection(position: Position, *content: Block | str) -> Injection:
    blocks = [TextContent(text=one) if isinstance(one, str) else one for one in content]
    return Injection("recall", "memory.retrieval", "memory", position, blocks)


def said(role: str, content: Content) -> InferenceMessage:
    return InferenceMessage(role=role, content=content)


SYSTEM = Injections(system=[injection("system", "Emma is here."), injection("system", "Be brief.")])
AROUND = Injections(
    before_user=[injection("beforeUser", "Before")], after_user=[injection("afterUser", "After")]
)
SEEN = Injections(before_user=[injection("beforeUser", "This is it:", PICTURE)])


@pytest.mark.spec("mcpl-10.4-2")
@each(
    ("context", "messages", "expected"),
    [
        (Injections(), "Hello", [("user", "Hello")]),
        (Injections(), [], []),
        (SYSTEM, "Hello", [("system", "Emma is here.\n\nBe brief."), ("user", "Hello")]),
        (
            SYSTEM,
            [said("developer", "You help."), said("user", "Hello")],
            [("developer", "You help.\n\nEmma is here.\n\nBe brief."), ("user", "Hello")],
        ),
        (
            SYSTEM,
            [said("user", "Hello"), said("system", "Later")],
            [("system", "Emma is here.\n\nBe brief."), ("user", "Hello"), ("system", "Later")],
        ),
        (AROUND, "Hello", [("user", "Before\n\nHello\n\nAfter")]),
        (
            AROUND,
            [
                said("user", "Hello"),
                said("assistant", "Hi"),
                said("user", "And?"),
                said("tool", "3"),
            ],
            [
                ("user", "Hello"),
                ("assistant", "Hi"),
                ("user", "Before\n\nAnd?\n\nAfter"),
                ("tool", "3"),
            ],
        ),
        (
            AROUND,
            [said("assistant", "Hi")],
            [("assistant", "Hi"), ("user", "Before\n\nAfter")],
        ),
        (
            SEEN,
            "What is it?",
            [
                (
                    "user",
                    [TextContent(text="This is it:"), PICTURE, TextContent(text="What is it?")],
                )
            ],
        ),
    ],
)
def test_injections_go_to_their_position(
    context: Injections, messages: Any, expected: list[tuple[str, Content]]
) -> None:
    found = context.chat_messages(messages)
    assert [(one.role, one.content) for one in found] == expected


@pytest.mark.spec("mcpl-10.4-2")
def test_the_messages_of_the_caller_are_not_changed() -> None:
    messages = [said("system", "You help."), said("user", "Hello")]
    Injections(system=SYSTEM.system, after_user=AROUND.after_user).chat_messages(messages)
    assert messages == [said("system", "You help."), said("user", "Hello")]


@pytest.mark.spec("mcpl-10.4-2")
def test_other_messages_are_refused_with_the_right_call() -> None:
    wrong: Any = [{"role": "user", "content": "Hello"}]
    with pytest.raises(TypeError, match=r"messages\[0\]: expected mcpl\.InferenceMessage"):
        SYSTEM.chat_messages(wrong)
