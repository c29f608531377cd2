"""Blocked patterns of a tool, compared with the tokens and names of code (section 7.3).

`eval(` blocks a call of the builtin, with any space inside, and neither a method of that name nor
the word in a string. `os.system` blocks that function under any name that the code gives it.
"""

from __future__ import annotations

__all__ = ("pattern_violations",)

import ast
import tokenize
from collections.abc import Iterator
from contextlib import suppress

from kinwire.mgp.rules.code_safety.code import CheckedCode

_LAYOUT = frozenset(
    {
        *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
        *(tokenize.ENCODING, tokenize.ENDMARKER),
    }
)
_NOT_THE_NAME = frozenset({".", "def", "class"})


def pattern_violations(code: CheckedCode, text: str) -> Iterator[str]:
    """Yield a violation for each pattern of the rules that `text`, parsed as `code`, has."""
    tokens = _tokens(text)
    for pattern in code.rules.blocked_patterns:
        if _is_used(code, pattern.strip()) or _has(tokens, _tokens(pattern)):
            yield f"Blocked pattern: '{pattern}'"


def _is_used(code: CheckedCode, pattern: str) -> bool:
    """Return whether the code uses what a pattern names, called or not."""
    names = tuple(pattern.rstrip("( ").split("."))
    if not all(name.isidentifier() for name in names):
        return False
    if len(names) == 1:
        reads = (node for node in code.nodes if isinstance(node, ast.Name))
        return any(
            isinstance(node.ctx, ast.Load) and code.is_builtin(node, names[0]) for node in reads
        )
    chains = (node for node in code.nodes if isinstance(node, ast.Attribute | ast.Name))
    return any(path[: len(names)] == names for node in chains for path in code.paths(node))


def _tokens(text: str) -> list[str]:
    """Return the tokens of `text` without layout and comments, or what can be read of it."""
    lines = iter(text.splitlines(keepends=True))
    found: list[str] = []
    # A pattern is often not whole: `eval(`
    with suppress(tokenize.TokenError, SyntaxError):
        for token in tokenize.generate_tokens(lambda: next(lines, "")):
            found += [token.string] * (token.type not in _LAYOUT)
    return found


def _has(tokens: list[str], wanted: list[str]) -> bool:
    if not wanted:
        return False
    ends = range(len(tokens) - len(wanted) + 1)
    return any(
        tokens[at] == wanted[0]
        and tokens[at : at + len(wanted)] == wanted
        and (at == 0 or tokens[at - 1] not in _NOT_THE_NAME)
        for at in ends
    )
