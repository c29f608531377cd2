"""What is suspicious in the definition of a tool: texts that are written to steer a model.

A definition reaches the model whole, so all of it is read: name, description, names and values in
the schemas, and fields that no version of MCP has. It goes by classes of words in one sentence, so
it finds usual attacks and no proof: a definition without flags may still lie.
"""

from __future__ import annotations

__all__ = ("definition_flags",)

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final, TypeGuard

from kinwire.mgp.rules.hidden_text import hidden_in, plain_text
from kinwire.rpc.codec import is_object
from kinwire.support.json_values import json_size, pointer_below
from kinwire_protocols.base import JsonObject

_MOST_FLAGS = 20
_MOST_VALUES = 20_000
_WORD = 64  # characters of a text whose flags are kept
_MOST_CHARACTERS = 100_000
_LONGEST = 8000  # characters; of 527 real tools the longest description has 3866
_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./:-]{0,127}")
_EVENT_TOOLS: Final = frozenset(
    f"events_{name}" for name in ("subscribe", "unsubscribe", "list", "pause", "resume", "update")
)
_RESERVED: Final = re.compile(r"(mgp|mcpl?|mcpe)[./].*|events_\w+|redeem|await|mcp-lite")

_READ = (
    r"\b(read|open|cat|get|fetch|load|collect|gather|retrieve|extract|copy|dump|list|find|"
    r"look up)\b"
)
_GIVE = (
    r"\b(pass|send|includ|put|provid|append|attach|add|forward|post|upload|submit|leak|exfiltrat|"
    r"email|mail|bcc|cc|encod|embed|insert|transmit|return|write|store|copy)\w*"
)
_PRIVATE = (
    r"(\bssh\b.{0,12}\b(key|rsa|folder|config)|\bid_?(rsa|dsa|ecdsa|ed25519)\b|id rsa|"
    r"\.ssh\b|\.aws\b|\.gnupg\b|\.netrc\b|\.npmrc\b|\.kube\b|\.env\b|\.git-credentials|"
    r"/etc/(passwd|shadow|hosts)|\bmcp\.json\b|claude_desktop_config|\bkeychain\b|\bwallet\.dat\b|"
    r"private keys?\b|\bcredentials?\b|\bpasswords?\b|\bsecrets?\b|\bapi[ _-]?keys?\b|"
    r"\b(access|auth|session|bearer|api)[ _-]?tokens?\b|\bsession cookies?\b|\bseed phrases?\b|"
    r"\benvironment variables?\b|"
    r"\b(chat|conversation|message|browsing|whatsapp|email) (history|log)s?\b|"
    r"(entire|whole|full|complete|previous|prior|all) (conversation|chat|context|messages?)\b|"
    r"\bsystem prompt\b)"
)
_PERSONAL = (
    r"\b(chat transcripts?|transcripts?|everything the user|what the user (said|wrote)|"
    r"(all|any|every) (the )?(user'?s )?(e-?mails?|messages?|files?|file contents?)|"
    r"(user'?s?|their|your) (e-?mail address|phone number|home address|location|name and)|"
    r"home directory|personal (data|information|details)|hidden prompt|file contents?)\b"
)
_MODEL = r"(AI|AI (assistant|agent|model)s?|assistants?|agents?|LLMs?|language models?|models?)"
_WHO = r"(the |any )?(user|human|operator|person|people|anyone|them|customer|developer)\b"
_DEMAND = (
    r"\b(must|should|always|have to|need to|shall|ensure|instead|first|please|make sure|be sure)\b"
)


class _Sign:
    """Patterns that follow each other in a text, each at most some characters after the last."""

    def __init__(self, reason: str, first: str, *then: tuple[int, str]) -> None:
        self.reason = reason
        self._first = _compiled(first)
        self._then = [(gap, _compiled(pattern)) for gap, pattern in then]

    def is_in(self, text: str) -> bool:
        """Return whether the patterns follow each other, in time that grows with the text."""
        ends = [found.end() for found in self._first.finditer(text)]
        for gap, pattern in self._then:
            if not ends:
                return False
            ends = [
                found.end()
                for found in pattern.finditer(text)
                if _has_between(ends, found.start() - gap, found.start())
            ]
        return bool(ends)


def _has_between(sorted_values: list[int], least: int, most: int) -> bool:
    at = bisect_left(sorted_values, least)
    return at < len(sorted_values) and sorted_values[at] <= most


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.DOTALL)


_PRIVATE_DATA = "asks for private data"
_HIDES = "asks to hide something from people"
_SIGNS: Final = (
    _Sign(
        "asks to ignore other instructions",
        r"\b(ignor|disregard|forget|overrid|bypass|supersed|replac)\w*",
        (
            40,
            r"\b(all|any|every|everything|previous|prior|earlier|above|other|existing|former|"
            r"original|your|system|safety|security|preceding)\b",
        ),
        (
            40,
            r"\b(instruction|rule|prompt|direction|guideline|polic|command|restriction|message|"
            r"warning|constraint)",
        ),
    ),
    _Sign(
        _HIDES,
        r"\b(do not|don'?t|never|must not|should not|avoid|without|refrain from)\b",
        (
            30,
            r"\b(tell|mention|inform|reveal|notif|show|alert|warn|disclos|ask|report|explain|"
            r"display|say|let)\w*",
        ),
        (40, _WHO),
    ),
    _Sign(
        _HIDES,
        r"\b(keep|hide|hidden|conceal|secretly|silently|quietly|discreetly)\b",
        (50, rf"\b(from {_WHO}|secret\b|confidential\b|in the background\b)"),
    ),
    _Sign(_PRIVATE_DATA, _READ, (80, _PRIVATE), (120, _GIVE)),
    _Sign(_PRIVATE_DATA, _DEMAND, (80, rf"{_READ}|{_GIVE}"), (60, _PRIVATE)),
    _Sign(
        _PRIVATE_DATA,
        _GIVE,
        (60, _PRIVATE),
        (
            40,
            r"\b(to|as|into|in|with) (https?:|\S{1,80}@|(this|the|a|an|each|every) "
            r"(param|argument|field|note|quer|request|server|call|address|url|context|tool))",
        ),
    ),
    _Sign(
        "names private files",
        r"(~|\$HOME|/home/\w{1,40}|/root|%USERPROFILE%)[\\/]\.\w|\.ssh/|"
        r"\bid_(rsa|dsa|ecdsa|ed25519)\b|\bid rsa\b|\.aws/credentials|/etc/(passwd|shadow)|"
        r"\.cursor/|\bmcp\.json\b|claude_desktop_config",
    ),
    _Sign(
        "steers the use of other tools",
        r"\b(when|whenever|if|before|after|once|every time|as soon as|while)\b",
        (
            60,
            r"\b(is available|are available|is present|is called|is used|is invoked|calling|using|"
            r"invoking|any (other )?tools?|other tools?|another tool|send_\w{1,60}|"
            r"\w{1,60}_(mail|email|message))\b",
        ),
        (80, _DEMAND),
        (
            60,
            r"\b(chang|replac|modif|redirect|alter|rewrit|substitut|bcc|cc|recipient|address|"
            r"amount|destination|set its|forward|also send|copy)\w*",
        ),
    ),
    _Sign(
        "speaks to the model as the system",
        r"<\s{0,5}/?\s{0,5}(important|system|instructions?|secret|hidden|admin|assistant|prompt|"
        r"critical|mandatory|override|sys|inst|tool_call|function_calls?|thinking)\b[^<>]{0,40}>|"
        r"\[\s{0,5}/?\s{0,5}(INST|SYSTEM|SYS)\s{0,5}\]|<\|[\w ]{1,30}\|>|<<\s{0,5}SYS\s{0,5}>>|"
        r"#{1,4}\s{0,5}(system|assistant)\b[\w ]{0,20}:|"
        r"\b(system|assistant) (prompt|message|note|override)\s{0,5}:|"
        r"\b(system|admin|developer) (override|mode|notice)\b|\byou are now\b|"
        r"\bnew instructions?\b|\bjailbreak\b|<!--",
    ),
    _Sign(
        "runs a command if it reaches a shell",
        r"\$\([^)]{1,200}\)|`\s{0,5}(cat|curl|wget|rm|bash|sh|nc)\s[^`]|"
        r"(;|&&|\|\||\|)\s{0,5}(cat|curl|wget|rm|bash|sh|nc|sudo|chmod|eval)\b|\brm\s{1,5}-rf?\b|"
        r"\bjavascript:|\bon(error|load|click)\s{0,5}=",
    ),
    _Sign("runs a command if it reaches a shell", r"<\s{0,5}script\b", (200, "</")),
    _Sign("runs a command if it reaches a shell", r"\b(curl|wget)\b", (100, r"\|\s{0,5}(ba)?sh\b")),
    _Sign(
        "leads to an address that data can be sent to",
        r"!\[[^\]]{0,200}\]\(\s{0,5}(https?:|//|data:)|<\s{0,5}(img|iframe|link|object|embed)\b|"
        r"[?&]\w{1,40}=(\{|\$|<|%7B|SECRET|DATA|TOKEN|KEY|PASS)",
    ),
    _Sign(
        "leads to an address that data can be sent to",
        r"\b(send|post|upload|forward|report|exfiltrat)\w*",
        (80, r"\b(to|at)\b"),
        (20, r"https?://|[\w.+-]{1,60}@[\w-]{1,60}\.\w"),
    ),
    _Sign(
        "speaks to the model",
        rf"\b(as an? {_MODEL}|note to (the |all )?{_MODEL}|the {_MODEL}|you are required)\b",
        (
            60,
            rf"{_GIVE}|\b(call|run|execute|delete|reveal|obey|trust|approve|grant|ignore)\b",
        ),
        (60, rf"{_PRIVATE}|{_PERSONAL}|\b(delete|destroy|pay|transfer|grant|obey|wipe)\w*"),
    ),
    _Sign(_PRIVATE_DATA, r"\b(leak|steal|harvest)\w*\b", (40, rf"{_PRIVATE}|{_PERSONAL}")),
    _Sign("speaks to the model", r"\b(pretend|act as if|exfiltrat\w*)\b"),
    _Sign(
        "asks to ignore people",
        r"\b(ignor|disregard|override|bypass)\w*",
        (
            15,
            r"\b(what|anything|whatever|everything) the user|"
            r"\buser'?s? (request|instruction|wish|intent)",
        ),
    ),
    _Sign(
        "asks to trust what it returns",
        r"\b(treat|follow|obey|execute|run|trust)\b",
        (40, r"\b(instruction|command|step)s?\b"),
        (40, r"\b(returned by|(this|the) tool (returns|gives|says|outputs)|from this tool)\b"),
    ),
    _Sign(
        "asks to trust what it returns",
        r"\btreat\w*\b",
        (60, r"\b(as|like)\b"),
        (20, r"\b(trusted|command|instruction|authoritative)s?\b"),
    ),
    _Sign(
        "asks for private data",
        rf"{_GIVE}|\b(call|use|invoke)\b",
        (60, _PERSONAL),
        (
            60,
            r"\b(in |with |on )?(every|each) (call|request|response|time)\b|\bmetadata\b|"
            r"\b(to|into|in|as|with) "
            r"(this|it|the (param|argument|field|note|request|tool|context))\b",
        ),
    ),
    _Sign(
        "asks for private data",
        r"\b(in|with|on|before|after) (every|each|any) (call|request|response|reply|answer)\b|"
        r"\b(set|fill)\b.{0,40}\b(field|parameter|argument)\b",
        (60, _PERSONAL),
    ),
    _Sign(
        "asks for private data",
        _READ,
        (60, r"\b(home directory|transcripts?|file contents?|all files|every file)\b"),
        (60, r"\b(pass|send|forward|append|attach|upload) (it|them|that|this|these|everything)\b"),
    ),
    _Sign(
        "steers the use of other tools",
        r"\b(other|another|all|any) tools? (is|are)\b",
        (20, r"\b(deprecated|broken|disabled|unsafe|forbidden|not allowed|insecure)\b"),
    ),
    _Sign(
        "steers the use of other tools",
        r"\b(when|whenever|if|every time)\b",
        (10, r"\b(the )?(user|customer|human)\b"),
        (20, r"\b(ask|mention|say|request|want|talk)\w*"),
        (60, r"\b(replac|redirect|bcc|substitut|alter|transfer|wire|divert)\w*"),
    ),
)


def definition_flags(definition: JsonObject, *, has_events: bool = False) -> tuple[str, ...]:
    """Return what is suspicious in an entry of `tools/list`: places with the reason, at most 20.

    An empty tuple means that nothing was found. The names of tools of MCP Events are reserved for
    a server that offers it, which `has_events` says.
    """
    found = dict.fromkeys(_flags(definition, has_events=has_events))
    return tuple(found)[:_MOST_FLAGS]


def _flags(definition: JsonObject, *, has_events: bool) -> Iterator[str]:
    name = definition.get("name")
    if isinstance(name, str) and not (has_events and name in _EVENT_TOOLS):
        yield from (f"/name: {reason}" for reason in _of_name(name))
    if json_size(definition, _MOST_CHARACTERS) > _MOST_CHARACTERS:
        yield f": is larger than {_MOST_CHARACTERS} bytes"
    for place, text, is_key in _texts(definition):
        # Most texts of a list are words such as `type` and `string`.
        reasons = _of_word(text, is_key) if len(text) <= _WORD else _of_text(text, is_key)
        yield from (f"{place}: {reason}" for reason in reasons)


def _of_text(text: str, is_key: bool) -> Iterator[str]:
    yield from hidden_in(text)
    plain = plain_text(text)
    # Names of parameters are words, too: `content_of_ssh_id_rsa`.
    spoken = re.sub(r"[_-]+", " ", plain) if is_key else plain
    for sign in _SIGNS:
        if sign.is_in(plain) or (spoken != plain and sign.is_in(spoken)):
            yield sign.reason
    if len(text) > _LONGEST:
        yield f"is longer than {_LONGEST} characters"


@lru_cache(maxsize=4096)
def _of_word(text: str, is_key: bool) -> tuple[str, ...]:
    return tuple(_of_text(text, is_key))


def _of_name(name: str) -> Iterator[str]:
    if not _NAME.fullmatch(name) or ".." in name or "//" in name:
        yield "is not a name of a tool"
    if _RESERVED.fullmatch(plain_text(name)):
        yield "is a name that a protocol reserves"


def _texts(definition: JsonObject) -> Iterator[tuple[str, str, bool]]:
    """Yield each string with its place, names of fields included."""
    todo: list[tuple[Any, str]] = [(definition, "")]
    left = _MOST_CHARACTERS
    for _ in range(_MOST_VALUES):
        if not todo or left < 0:
            break
        value, place = todo.pop()
        if isinstance(value, str):
            left -= len(value)
            yield place, value[: _LONGEST + 1], False
        elif is_object(value):
            for key, inner in reversed(value.items()):
                at = pointer_below(place, key[:60])
                todo.append((inner, at))
                left -= len(key)
                yield at, key[: _LONGEST + 1], True
        elif _is_array(value):
            items = [(inner, f"{place}/{number}") for number, inner in enumerate(value)]
            todo += reversed(items)


def _is_array(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list)
