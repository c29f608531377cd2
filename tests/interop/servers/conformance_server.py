"""What the protocol's own conformance suite expects of a server, as far as 2024-11-05 has it.

`kinwire serve` serves it over HTTP; names and texts are the suite's. What a later version brought
(elicitation) is not here: `expected_failures.yml` has those scenarios.
"""

from __future__ import annotations

import json
from typing import Any

import anyio

from kinwire import Context, Server, ToolError
from kinwire_protocols import mcp

server = Server("conformance", "1.0")

PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGA"
    "hKmMIQAAAABJRU5ErkJggg=="
)
WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA="
IMAGE = mcp.ImageContent(data=PNG, mime_type="image/png")
PAUSE = 0.05  # seconds between two messages


def resource(uri: str, mime_type: str, text: str) -> mcp.EmbeddedResource:
    return mcp.EmbeddedResource(
        resource=mcp.TextResourceContents(uri=uri, mime_type=mime_type, text=text)
    )


@server.tool
def test_simple_text() -> str:
    """Return a text."""
    return "This is a simple text response for testing."


@server.tool
def test_image_content() -> mcp.ImageContent:
    """Return an image."""
    return IMAGE


@server.tool
def test_audio_content() -> mcp.AudioContent:
    """Return a sound."""
    return mcp.AudioContent(data=WAV, mime_type="audio/wav")


@server.tool
def test_embedded_resource() -> mcp.EmbeddedResource:
    """Return a resource."""
    text = "This is an embedded resource content."
    return resource("test://embedded-resource", "text/plain", text)


@server.tool
def test_multiple_content_types() -> list[Any]:
    """Return text, an image and a resource."""
    data = json.dumps({"test": "data", "value": 123})
    return [
        "Multiple content types test:",
        IMAGE,
        resource("test://mixed-content-resource", "application/json", data),
    ]


@server.tool
async def test_tool_with_logging(context: Context) -> str:
    """Log three messages."""
    for text in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await context.log("info", text)
        await anyio.sleep(PAUSE)
    return "Logged."


@server.tool
async def test_tool_with_progress(context: Context) -> str:
    """Report progress three times."""
    for done in (0, 50, 100):
        await context.progress(done, total=100)
        await anyio.sleep(PAUSE)
    return "Done."


@server.tool
def test_error_handling() -> None:
    """Fail."""
    raise ToolError("This tool intentionally returns an error for testing")


@server.tool
async def test_sampling(prompt: str, context: Context) -> str:
    """Have the client's model answer."""
    answer = await context.sample(prompt, max_tokens=100)
    return f"LLM response: {getattr(answer.content, 'text', '')}"


@server.resource("test://static-text", mime_type="text/plain")
def static_text() -> str:
    """A text."""
    return "This is the content of the static text resource."


@server.resource("test://static-binary", mime_type="image/png")
def static_binary() -> mcp.BlobResourceContents:
    """An image."""
    return mcp.BlobResourceContents(uri="test://static-binary", mime_type="image/png", blob=PNG)


@server.resource("test://watched-resource", mime_type="text/plain")
def watched() -> str:
    """What clients subscribe to."""
    return "Watched."


@server.resource("test://template/{id}/data", mime_type="application/json")
def template(id: str) -> str:
    """The data of an id."""
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


@server.prompt
def test_simple_prompt() -> str:
    """A prompt without arguments."""
    return "This is a simple prompt for testing."


@server.prompt
def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    """A prompt with arguments."""
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@server.prompt
def test_prompt_with_embedded_resource(resourceUri: str) -> list[Any]:  # noqa: N803 - its wire name
    """A prompt with a resource."""
    text = "Embedded resource content for testing."
    embedded = resource(resourceUri, "text/plain", text)
    return [embedded, "Please process the embedded resource above."]


@server.prompt
def test_prompt_with_image() -> list[Any]:
    """A prompt with an image."""
    return [IMAGE, "Please analyze the image above."]


@server.completion("test_prompt_with_arguments", "arg1")
def places(typed: str) -> list[str]:
    return [place for place in ("paris", "park", "party") if place.startswith(typed)]


if __name__ == "__main__":
    server.run()
