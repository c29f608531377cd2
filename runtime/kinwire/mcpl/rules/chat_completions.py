"""The bodies of chat completions, as OpenAI defined them and many servers of models offer them.

Pure. What comes is read member by member, and what is not as expected is a `ProviderError` that
has nothing of the provider's own text in it: some servers repeat there what they were sent.
"""

from __future__ import annotations

__all__ = ("StreamedAnswer", "answer_of", "failure_of", "request_body")

import json
from typing import cast

from kinwire.mcpl.errors import ProviderError, UnsupportedMessageError
from kinwire.mcpl.rules.content import blocks_of
from kinwire.mcpl.rules.inference import ModelAnswer, ModelRequest
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcp.models import TextContent, TextResourceContents
from kinwire_protocols.mcpl.models import (
    AudioBlock,
    Block,
    Content,
    ImageBlock,
    ResourceBlock,
    TokenUsage,
)

_ROLES = ("assistant", "developer", "system", "user")
_SOUNDS = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}
_LATE = (408, 504)
_TOO_MANY = 429
_CODES = frozenset(  # words that may be logged; any other may repeat what was sent
    {
        "authentication_error",
        "context_length_exceeded",
        "insufficient_quota",
        "invalid_api_key",
        "invalid_request_error",
        "model_not_found",
        "not_found_error",
        "overloaded_error",
        "permission_error",
        "rate_limit_exceeded",
        "server_error",
        "unsupported_parameter",
        "unsupported_value",
    }
)

_END = b"[DONE]"


def request_body(request: ModelRequest, *, stream: bool) -> JsonObject:
    """Return the body of a request.

    Raises:
        UnsupportedMessageError: a role or a block is not supported.
    """
    body: JsonObject = {
        "model": request.model,
        "messages": [
            {"role": _role(place, one.role), "content": _content(place, one.content)}
            for place, one in enumerate(request.messages)
        ],
    }
    if request.max_tokens is not None:
        body["max_tokens"] = request.max_tokens
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if stream:
        body["stream"] = True
        body["stream_options"] = {"include_usage": True}
    return body


def answer_of(body: bytes, model: str) -> ModelAnswer:
    """Return the answer in a whole body; `model` is the requested model.

    Raises:
        ProviderError: it has no answer.
    """
    found = _object_of(body)
    choice = _first(found)
    if not isinstance(choice.get("message"), dict):
        raise _unlike("/choices/0/message", "an object")
    return ModelAnswer(
        _sendable(_said("/choices/0/message/content", _below(choice["message"]))),
        _word(found, "model") or model,
        _word(choice, "finish_reason") or "",
        _usage(found),
    )


class StreamedAnswer:
    """An answer that comes in pieces."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._said: list[str] = []
        self._half = ""  # half of a character that JSON escapes have split
        self._stopped: str | None = None
        self._usage: TokenUsage | None = None
        self.ended = False
        """Whether the answer is complete."""

    def take(self, data: bytes) -> str:
        """Take the data of one event, and return the text that it adds.

        Raises:
            ProviderError: it is not a piece of an answer, or is an error.
        """
        if data.strip() == _END:
            self.ended = True
            return ""
        found = _object_of(data)
        self._model = _word(found, "model") or self._model
        self._usage = _usage(found) or self._usage
        if not found.get("choices"):  # the last event has only the usage
            return ""
        choice = _first(found)
        self._stopped = _word(choice, "finish_reason") or self._stopped
        added = self._half + _said("/choices/0/delta/content", _below(choice.get("delta")))
        self._half = added[-1:] if "\ud800" <= added[-1:] <= "\udbff" else ""
        added = _sendable(added.removesuffix(self._half))
        self._said.append(added)
        return added

    def whole(self) -> ModelAnswer:
        """Return the whole answer, after the last event.

        Raises:
            ProviderError: it was broken off.
        """
        if not self.ended and self._stopped is None:
            raise ProviderError("provider_failed", "its stream was broken off")
        said = "".join([*self._said, _sendable(self._half)])
        return ModelAnswer(said, self._model, self._stopped or "", self._usage)


def failure_of(status: int, body: bytes) -> ProviderError:
    """Return the error for an HTTP status other than 200."""
    return _failure(status, _below(_below(_json(body)).get("error")))


def _failure(status: int, error: JsonObject) -> ProviderError:
    words = (error.get("code"), error.get("type"))
    codes = [one for one in words if isinstance(one, str) and one in _CODES]
    why = ", ".join([f"HTTP status {status}", *codes])
    if status == _TOO_MANY or "rate_limit_exceeded" in codes:
        return ProviderError("rate_limited", why)
    return ProviderError("timeout" if status in _LATE else "provider_failed", why)


def _role(place: int, role: str) -> str:
    if role not in _ROLES:
        expected = " or ".join(_ROLES)
        raise UnsupportedMessageError(f"/{place}/role", f"expected {expected}, got {role!r:.40}")
    return role


def _content(place: int, content: Content) -> str | list[JsonObject]:
    if isinstance(content, str):
        return content
    return [_part(f"/{place}/content/{at}", one) for at, one in enumerate(blocks_of(content))]


def _part(pointer: str, block: Block) -> JsonObject:
    match block:
        case TextContent(text=text):
            return {"type": "text", "text": text}
        case ResourceBlock(resource=TextResourceContents(text=text)):
            return {"type": "text", "text": text}
        case ImageBlock(data=str(data), mime_type=str(kind)):
            return {"type": "image_url", "image_url": {"url": f"data:{kind};base64,{data}"}}
        case AudioBlock(data=str(data), mime_type=str(kind)) if kind in _SOUNDS:
            return {"type": "input_audio", "input_audio": {"data": data, "format": _SOUNDS[kind]}}
        case _:  # URLs too: the provider would fetch them from its own network
            raise UnsupportedMessageError(
                pointer,
                "expected text, a picture with its data, or a sound as wav or mp3 with its data, "
                f"got another block of type {block.type}",
            )


def _json(data: bytes) -> object:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _object_of(data: bytes) -> JsonObject:
    found = _json(data)
    if not isinstance(found, dict):
        raise _unlike("", "an object of JSON")
    answer = cast("JsonObject", found)
    if answer.get("error") is not None:
        raise _failure(200, _below(answer["error"]))
    return answer


def _first(answer: JsonObject) -> JsonObject:
    choices = answer.get("choices")
    if isinstance(choices, list) and choices:
        return _below(cast("list[object]", choices)[0])
    raise _unlike("/choices", "a list that is not empty")


def _below(value: object) -> JsonObject:
    return cast("JsonObject", value) if isinstance(value, dict) else {}


def _said(pointer: str, message: JsonObject) -> str:
    """Return content as text; of a list of parts, which some servers send, those of text count."""
    content = message.get("content")
    if content is None:  # it refuses, or calls an unknown tool
        content = message.get("refusal") or ""
    if isinstance(content, list):
        parts = [_below(part).get("text") for part in cast("list[object]", content)]
        content = "".join(part for part in parts if isinstance(part, str))
    if not isinstance(content, str):
        raise _unlike(pointer, "text")
    return content


def _sendable(text: str) -> str:
    """Return text that UTF-8 can encode: a lone surrogate is replaced."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _word(found: JsonObject, member: str) -> str | None:
    word = found.get(member)
    return _sendable(word) if isinstance(word, str) else None


def _usage(answer: JsonObject) -> TokenUsage | None:
    usage = _below(answer.get("usage"))
    read, written = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if type(read) is int and type(written) is int and read >= 0 and written >= 0:
        return TokenUsage(input_tokens=read, output_tokens=written)
    return None


def _unlike(pointer: str, expected: str) -> ProviderError:
    return ProviderError("provider_failed", f"its answer#{pointer}: expected {expected}")
