"""What came of a tool's function, as the result of a protocol: that of MCP, or another one's."""

from __future__ import annotations

__all__ = ("MCP_OUTCOMES", "ToolOutcomes")

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from kinwire.managers.tool_outcomes import NeedsAnswers, Promised, ToolError, ToolQuestion
from kinwire.mcp.context import Context
from kinwire.mcp.functions.results import error_result, tool_result


@dataclass(frozen=True, slots=True)
class ToolOutcomes:
    """Makes the results of one protocol."""

    returned: Callable[[object, str], Any]
    """Takes the value that a function returned, and the name of its tool."""
    failed: Callable[[ToolError], Any]
    """Takes the error that a function raised."""
    special: Callable[[Promised | NeedsAnswers, str, Context], Awaitable[Any]]
    """Takes a promise or questions, the name of the tool, and the context of the call."""


async def _special(value: Promised | NeedsAnswers, tool: str, context: Context) -> Any:
    """Await a promise; questions are an error that the caller's model reads."""
    if isinstance(value, NeedsAnswers):
        return error_result(questions_text(value))
    try:
        made = await context.reporting_time(value.work, value.estimated_seconds)
    except ToolError as error:
        return error_result(str(error))
    if isinstance(made, Promised | NeedsAnswers):
        return await _special(made, tool, context)
    return tool_result(made, tool)


def questions_text(asked: NeedsAnswers) -> str:
    """Return questions as a text that a model can read."""
    return "\n".join([asked.text, *map(_question_text, asked.questions)])


def _question_text(one: ToolQuestion) -> str:
    options = f" ({', '.join(one.options)})" if one.options else ""
    return f"- {one.id}: {one.text}{options}"


MCP_OUTCOMES = ToolOutcomes(tool_result, lambda error: error_result(str(error)), _special)
