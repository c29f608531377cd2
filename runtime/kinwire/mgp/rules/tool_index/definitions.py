"""What of a definition the index keeps: servers may list tools of any size."""

from __future__ import annotations

__all__ = ("LARGEST_DEFINITION", "LONGEST_DESCRIPTION", "kept_of")

from dataclasses import replace
from typing import Final

from kinwire.mgp.rules.tools import KnownTool
from kinwire.support.json_values import json_size

LARGEST_DEFINITION: Final = 100_000
"""Bytes of a definition; a tool with a larger one is left out of the index."""
LONGEST_DESCRIPTION: Final = 4096
"""Characters of a description; of a longer one the index has the beginning."""


def kept_of(tool: KnownTool) -> KnownTool | None:
    """Return a tool as the index keeps it, with its digest as it was; None if it is too large."""
    description = tool.description
    if len(description) > LONGEST_DESCRIPTION:
        description = f"{description[: LONGEST_DESCRIPTION - 1]}\N{HORIZONTAL ELLIPSIS}"
        definition = {**tool.definition, "description": description}
        tool = replace(tool, description=description, definition=definition)
    if json_size(tool.definition, LARGEST_DEFINITION) > LARGEST_DEFINITION:
        return None
    return tool
