"""The rules of a level of code safety, and how a tool narrows them (MGP 0.2.0, 7.2 and 7.3)."""

from __future__ import annotations

__all__ = ("LEVELS", "CodeRules", "effective_rules", "kernel_rules")

from dataclasses import dataclass, replace
from functools import reduce
from typing import Final

from kinwire.mgp.rules.code_safety.module_tables import COMPUTING
from kinwire.mgp.rules.code_safety.parsing import MOST_BYTES
from kinwire_protocols.mgp.models import CodeSafety, SafetyRule
from kinwire_protocols.mgp.tables import CODE_SAFETY_PRESETS, SAFETY_LEVELS

LEVELS: Final = tuple(SAFETY_LEVELS)
"""The levels, from the one that checks nothing to the strictest."""

_PRESET = CODE_SAFETY_PRESETS["standard"]
_STRICTEST = LEVELS[-1]
_PYTHON = "python"


@dataclass(frozen=True, slots=True)
class CodeRules:
    """What code of one tool is checked against."""

    level: str
    language: str
    most_bytes: int
    """The most bytes of one piece of code, in UTF-8."""
    blocked_imports: tuple[str, ...]
    """Modules that are blocked whatever else is allowed, with their submodules."""
    allowed_imports: tuple[str, ...] | None
    """The only modules that may be imported; None if the level has no such list."""
    blocked_patterns: tuple[str, ...]
    """Calls, names and other pieces of code that are blocked, as Python's tokens."""

    @property
    def checks(self) -> bool:
        """Whether the level checks anything."""
        return self.level != LEVELS[0]

    @property
    def blocks_writes(self) -> bool:
        """Whether code may only read."""
        return bool(self._row.blocks_writes)

    @property
    def asks_nobody(self) -> bool:
        """Whether code may not wait for input of a user."""
        return bool(self._row.allows_listed_imports_only)

    @property
    def _row(self) -> SafetyRule:
        return SAFETY_LEVELS[self.level]


def kernel_rules(level: str) -> CodeRules:
    """Return the kernel's own rules of `level`.

    Raises:
        ValueError: `level` is not a level of section 7.2.
    """
    if level not in LEVELS:
        raise ValueError(f"code safety level: expected one of {', '.join(LEVELS)}, got {level!r}")
    row = SAFETY_LEVELS[level]
    preset_bytes = _PRESET.max_code_size_bytes or MOST_BYTES
    allowed = tuple(sorted({*COMPUTING, *(_PRESET.allowed_imports or ())}))
    return CodeRules(
        level,
        _PYTHON,
        preset_bytes if row.limits_size else MOST_BYTES,
        tuple(_PRESET.blocked_imports or ()) if level != LEVELS[0] else (),
        allowed if row.allows_listed_imports_only else None,
        tuple(_PRESET.blocked_patterns or ()) if row.blocks_patterns else (),
    )


def effective_rules(level: str, *declared: CodeSafety | None) -> CodeRules:
    """Return the kernel's rules of `level`, narrowed by all that a tool has declared.

    The strictest level counts. Lists of blocked things are joined, of lists of allowed modules the
    common part counts, and of two sizes the smaller one. A level that is not known counts as the
    strictest.

    Raises:
        ValueError: `level` is not a level of section 7.2.
    """
    kernel_rules(level)  # it raises
    narrower = [one for one in declared if one is not None]
    levels = [level, *(_known_level(one.level) for one in narrower)]
    rules = kernel_rules(max(levels, key=LEVELS.index))
    return reduce(_narrowed, narrower, rules) if rules.checks else rules


def _known_level(level: str) -> str:
    return str(level) if level in LEVELS else _STRICTEST


def _narrowed(rules: CodeRules, declared: CodeSafety) -> CodeRules:
    size = declared.max_code_size_bytes
    language = declared.language if rules.language == _PYTHON else None
    return replace(
        rules,
        language=str(language or rules.language),
        most_bytes=min(rules.most_bytes, rules.most_bytes if size is None else max(size, 0)),
        blocked_imports=_joined(rules.blocked_imports, declared.blocked_imports),
        allowed_imports=_common(rules.allowed_imports, declared.allowed_imports),
        blocked_patterns=_joined(rules.blocked_patterns, declared.blocked_patterns),
    )


def _joined(own: tuple[str, ...], declared: list[str] | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*own, *(declared or ()))))


def _common(own: tuple[str, ...] | None, declared: list[str] | None) -> tuple[str, ...] | None:
    if own is None or declared is None:
        return own
    roots = set(own)
    return tuple(name for name in declared if name.partition(".")[0] in roots)
