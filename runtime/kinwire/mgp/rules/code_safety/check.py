"""The check of a piece of code: all its violations, in order (MGP 0.2.0 section 7.4).

It is a filter, not a jail: it stops code that is known to be harmful and what most attacks need.
To run code of strangers also takes limits of time and memory, and a separate process.
"""

from __future__ import annotations

__all__ = ("MOST_VIOLATIONS", "check_code")

import ast
import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from kinwire.mgp.rules.code_safety.calls import call_rule, joined_path_rule
from kinwire.mgp.rules.code_safety.code import CheckedCode, Rule
from kinwire.mgp.rules.code_safety.imports import import_from_rule, import_rule
from kinwire.mgp.rules.code_safety.levels import CodeRules
from kinwire.mgp.rules.code_safety.names import (
    attribute_rule,
    definition_rule,
    match_class_rule,
    name_rule,
    scope_rule,
)
from kinwire.mgp.rules.code_safety.parsing import UnreadableCodeError, tree_of
from kinwire.mgp.rules.code_safety.patterns import pattern_violations
from kinwire.mgp.rules.code_safety.strings import (
    constant_rule,
    format_rule,
    subscript_rule,
    take_in_annotations,
)
from kinwire.mgp.rules.code_safety.writes import environment_rule, sending_rule

MOST_VIOLATIONS: Final = 20
"""The most violations that are reported for a piece of code."""

_OTHER_PROGRAM: Final = re.compile(
    r"\ufeff?#!(?!\s*/(?:usr/)?(?:local/)?bin/(?:env\s+)?python[\d.]*\s*(?:\n|\Z))"
)
"""The first line of a script that another program runs, though Python may read it, too."""
_DEFINITIONS = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs),
    *(ast.MatchStar, ast.MatchMapping, ast.alias, ast.arg),
)

_RULES: Final[dict[type[ast.AST], tuple[Rule, ...]]] = {
    ast.Import: (import_rule,),
    ast.ImportFrom: (import_from_rule,),
    ast.Name: (name_rule,),
    ast.Attribute: (attribute_rule, format_rule),
    ast.Call: (call_rule, subscript_rule),
    ast.Subscript: (subscript_rule,),
    ast.BinOp: (joined_path_rule,),
    ast.Constant: (constant_rule,),
    ast.MatchClass: (match_class_rule,),
    ast.Global: (scope_rule,),
    ast.Nonlocal: (scope_rule,),
    **dict.fromkeys(_DEFINITIONS, (definition_rule,)),
}
_READONLY: Final[dict[type[ast.AST], tuple[Rule, ...]]] = {
    ast.Name: (environment_rule,),
    ast.Attribute: (environment_rule, sending_rule),
}


def check_code(code: str, rules: CodeRules) -> list[str]:
    """Return the violations of `code`, at most 20 and each once; an empty list if it may run.

    Code that cannot be read or checked has a violation. At the level `unrestricted` nothing is
    read.
    """
    if not rules.checks:
        return []
    if rules.language.strip().lower() not in ("python", "python3", "py"):
        return [f"Blocked language: '{rules.language:.40}'"]
    if _OTHER_PROGRAM.match(code):
        return ["Blocked language: the first line names another interpreter"]
    try:
        tree = tree_of(code, rules.most_bytes)
        found = dict.fromkeys(_violations(CheckedCode(tree, rules), code))
        return list(islice(found, MOST_VIOLATIONS))
    except UnreadableCodeError as error:
        return [str(error)]
    except (RecursionError, MemoryError):
        return ["Code cannot be checked: it is too deep"]


def _violations(code: CheckedCode, text: str) -> Iterator[str]:
    yield from take_in_annotations(code)
    tables = [_RULES, _READONLY] if code.rules.blocks_writes else [_RULES]
    for node in sorted(code.nodes, key=_place):
        for table in tables:
            for rule in table.get(type(node), ()):
                yield from rule(code, node)
    yield from pattern_violations(code, text)


def _place(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
