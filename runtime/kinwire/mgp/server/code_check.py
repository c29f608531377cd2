"""Code safety in a server: the result of a tool that rejects code (MGP 0.2.0 section 7.4)."""

from __future__ import annotations

__all__ = ("code_rejection",)

import json

from kinwire.mgp.rules.code_safety.check import check_code
from kinwire.mgp.rules.code_safety.levels import LEVELS, effective_rules
from kinwire.mgp.rules.code_safety.rejection import rejected
from kinwire.mgp.server.own_events import note_rejected_code
from kinwire.support.arguments import TEXT, ArgumentCheck, instance_of, one_of
from kinwire_protocols import mcp
from kinwire_protocols.base import to_wire
from kinwire_protocols.mgp.models import CodeSafety

_SAFETY = instance_of(CodeSafety, "CodeSafety", 'CodeSafety(level="strict")')
_CODE_REJECTION = ArgumentCheck(
    "code_rejection",
    "code_rejection(code)",
    {"code": TEXT},
    level=one_of(*LEVELS),
    safety=_SAFETY.or_none,
)


def code_rejection(
    code: str, *, level: str = "standard", safety: CodeSafety | None = None
) -> mcp.CallToolResult | None:
    """Return the result of a tool that does not run `code`, or None if the code may run.

    `safety` is what the tool declares in its `security`; it narrows `level`. The result is an error
    (`isError`) whose text is the rejection of section 7.4 as JSON.

    Raises:
        TypeError, ValueError: an argument is not of its type, or not a level.
    """
    _CODE_REJECTION.check(code=code, level=level, safety=safety)
    rules = effective_rules(level, safety)
    found = check_code(code, rules)
    if not found:
        return None
    note_rejected_code()
    rejection = to_wire(rejected(found, rules))
    text = mcp.TextContent(text=json.dumps(rejection, ensure_ascii=False))
    return mcp.CallToolResult(content=[text], is_error=True)
