"""The answer to code that is rejected (MGP 0.2.0 section 7.4)."""

from __future__ import annotations

__all__ = ("rejected", "violations_of_call")

import re
from collections.abc import Collection

from kinwire.mgp.rules.code_safety.arguments import (
    DeepArgumentsError,
    code_arguments,
    languages_of,
)
from kinwire.mgp.rules.code_safety.check import MOST_VIOLATIONS, check_code
from kinwire.mgp.rules.code_safety.levels import CodeRules
from kinwire.mgp.rules.code_safety.parsing import MOST_BYTES
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mgp.models import CodeHints, CodeRejection

_PYTHON = re.compile(r"[ci]?py(?:thon)?[\d .-]*", re.IGNORECASE)


def violations_of_call(
    arguments: JsonObject, schema: JsonObject, rules: CodeRules, names: Collection[str] = ()
) -> list[str]:
    """Return the violations of all code among the arguments of a call, each once.

    `schema` is the `inputSchema` of the tool, and `names` are the arguments that the configuration
    calls code.
    """
    if not rules.checks:
        return []
    found: dict[str, None] = {}
    for language in languages_of(arguments):
        if _PYTHON.fullmatch(language.strip()) is None:
            found[f"Blocked language: '{language:.40}'"] = None
    try:
        texts = code_arguments(arguments, schema, names)
    except DeepArgumentsError:
        return ["Arguments nested too deeply"]
    if sum(len(text) for _, text in texts.code) > MOST_BYTES:
        return [f"Code too large: at most {MOST_BYTES} bytes in all arguments"]
    for _, text in (*texts.code, *texts.maybe):
        found.update(dict.fromkeys(check_code(text, rules)))
    return list(found)[:MOST_VIOLATIONS]


def rejected(violations: list[str], rules: CodeRules) -> CodeRejection:
    """Return the structured rejection, with what code has to keep to."""
    hints = CodeHints(
        blocked_imports=list(rules.blocked_imports),
        allowed_imports=None if rules.allowed_imports is None else list(rules.allowed_imports),
        max_code_size_bytes=rules.most_bytes,
    )
    return CodeRejection(reason="Code validation failed", violations=violations, hints=hints)
