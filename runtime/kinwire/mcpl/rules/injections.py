"""Injections of servers into the context: one form, checks, and order (MCPL 10.3 to 10.8)."""

from __future__ import annotations

__all__ = (
    "Dropped",
    "Injection",
    "InjectionLimits",
    "Injections",
    "grouped",
    "injection_problem",
    "length_of",
    "size_of",
)

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from kinwire.mcpl.rules.content import blocks_of
from kinwire.mcpl.rules.names import ServerPattern
from kinwire.support.arguments import (
    COUNT,
    TEXTS,
    ArgumentCheck,
    instance_of,
    list_of,
    table_of,
)
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcp.models import TextContent
from kinwire_protocols.mcpl.models import (
    AudioBlock,
    Block,
    Content,
    ImageBlock,
    InferenceMessage,
    Position,
)


@dataclass(frozen=True, slots=True)
class Injection:
    """Content that goes into the context."""

    server: str
    """What the host calls the server."""
    feature_set: str
    namespace: str
    position: Position
    content: Sequence[Block]
    metadata: JsonObject | None = None


class Dropped(NamedTuple):
    """Something that a server injected and the host does not use."""

    feature_set: str | None
    """None if it belongs to no set that may inject it."""
    reason: str
    late: bool


@dataclass(frozen=True, slots=True)
class Injections:
    """All injections by position, in the order in which they are inserted."""

    system: list[Injection] = field(default_factory=list[Injection])
    before_user: list[Injection] = field(default_factory=list[Injection])
    after_user: list[Injection] = field(default_factory=list[Injection])

    def chat_messages(self, messages: str | Sequence[InferenceMessage]) -> list[InferenceMessage]:
        """Return a conversation with the injections in it, for a provider of chat completions.

        What goes into the system prompt is added to the system message at the beginning; without
        one, it becomes one. The rest goes into the last message of the user, before and after what
        was said. If no message is of the user, it becomes one at the end. A string is one message
        of the user. Content that is only text is joined, with an empty line between its parts.
        """
        _CHAT_MESSAGES.check(messages=messages)
        if isinstance(messages, str):
            messages = [InferenceMessage(role="user", content=messages)]
        found = list(messages)
        if self.before_user or self.after_user:
            users = [at for at, one in enumerate(found) if one.role == "user"]
            at = users[-1] if users else len(found)
            found[at : at + 1] = [
                _around(self.before_user, found[at : at + 1], self.after_user, role="user")
            ]
        if self.system:
            count = 1 if found and found[0].role in _SYSTEM else 0
            found[:count] = [_around([], found[:count], self.system, role="system")]
        return found


_SYSTEM = ("developer", "system")

_CHAT_MESSAGES = ArgumentCheck(
    "Injections.chat_messages",
    'context.chat_messages("...")',
    {
        "messages": list_of(
            instance_of(
                InferenceMessage, "mcpl.InferenceMessage", 'mcpl.InferenceMessage(role="user", ...)'
            ),
            "several messages",
        ).or_text
    },
)


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectionLimits:
    """Limits of injections. Sizes are characters of text."""

    size: int = 32 * 1024
    hook_size: int = 128 * 1024
    """The size of all injections in one reply."""
    types: frozenset[str] = frozenset({"text", "image", "audio"})
    """The types of blocks that the host's model accepts; others are dropped."""
    positions: Mapping[str, frozenset[Position]] = field(
        default_factory=dict[str, frozenset[Position]]
    )
    """Where feature sets may inject, by `PATTERN` or `SERVER/PATTERN`; a set that no pattern
    matches may everywhere."""

    def __post_init__(self) -> None:
        _INJECTION_LIMITS.check(
            size=self.size, hook_size=self.hook_size, types=self.types, positions=self.positions
        )
        for pattern in self.positions:
            ServerPattern.read(pattern)


_INJECTION_LIMITS = ArgumentCheck(
    "InjectionLimits",
    "InjectionLimits()",
    {},
    size=COUNT,
    hook_size=COUNT,
    types=TEXTS,
    positions=table_of(TEXTS, "a dictionary of positions", '"notes.*"'),
)


def injection_problem(
    injection: Injection, limits: InjectionLimits, server_id: str | None, *, before: int
) -> str | None:
    """Return why an injection may not be used, as a clause; None if it may.

    `server_id` is the one of its server, None without one. `before` is the size of what the same
    reply brought before it.
    """
    size = size_of(injection.content)
    if size > limits.size:
        return f"it has {size} characters of text, more than {limits.size}"
    if before + size > limits.hook_size:
        return f"the reply has more than {limits.hook_size} characters of text"
    allowed = [
        places
        for pattern, places in limits.positions.items()
        if ServerPattern.read(pattern).matches(server_id, injection.feature_set)
    ]
    if allowed and not any(injection.position in places for places in allowed):
        return f"{injection.feature_set} may not inject at {injection.position}"
    return None if injection.content else "nothing of it can be used"


def size_of(content: Sequence[Block]) -> int:
    """Return how many characters of text there are."""
    return sum(len(block.text) for block in content if isinstance(block, TextContent))


def length_of(block: Block) -> int:
    """Return how many characters of text or data a block has in it."""
    match block:
        case TextContent(text=text):
            return len(text)
        case ImageBlock(data=str(data)) | AudioBlock(data=str(data)):
            return len(data)
        case _:
            return 0


def grouped(injections: Iterable[Injection]) -> Injections:
    """Return the injections by position; those of one position keep their order."""
    found = Injections()
    places = {
        "system": found.system,
        "beforeUser": found.before_user,
        "afterUser": found.after_user,
    }
    for injection in injections:
        places[injection.position].append(injection)
    return found


def _around(
    before: Sequence[Injection],
    said: Sequence[InferenceMessage],
    after: Sequence[Injection],
    *,
    role: str,
) -> InferenceMessage:
    """Return a message with injections before and after what `said` has, no message or one."""
    blocks = [block for one in before for block in one.content]
    blocks += [block for one in said for block in blocks_of(one.content)]
    blocks += [block for one in after for block in one.content]
    role = said[0].role if said else role
    return InferenceMessage(role=role, content=_joined(blocks))


def _joined(blocks: list[Block]) -> Content:
    """Return content that is only text as a string: not every provider takes blocks of text."""
    texts = [block.text for block in blocks if isinstance(block, TextContent)]
    return "\n\n".join(texts) if len(texts) == len(blocks) else blocks
