"""Judge the arguments of a call by the validators of its tool (MGP 0.2.0 section 4.5)."""

from __future__ import annotations

__all__ = ("MOST_VIOLATIONS", "judge")

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Final

from kinwire.mgp.rules.tools import KnownTool
from kinwire.mgp.rules.validators.judgement import ValidatorOptions, Violation
from kinwire.mgp.rules.validators.network import network_violations
from kinwire.mgp.rules.validators.places import TooManyValuesError
from kinwire.mgp.rules.validators.readonly import readonly_violations
from kinwire.mgp.rules.validators.sandbox import sandbox_violations
from kinwire_protocols.base import JsonObject

MOST_VIOLATIONS: Final = 20
"""More of one call are not reported."""

_Rule = Callable[[KnownTool, JsonObject, ValidatorOptions], Iterator[Violation]]


def judge(
    validator: str,
    tool: KnownTool,
    arguments: JsonObject,
    options: ValidatorOptions | None = None,
) -> list[Violation]:
    """Return why `validator` refuses a call; an empty list if it does not.

    `code_safety` has rules of its own and is not a validator here. `network_restricted` judges
    what the arguments say; what names of hosts lead to is judged where they are resolved. A
    validator that is not known refuses.
    """
    rule = _RULES.get(validator)
    if rule is None:
        return [Violation("", f"the validator {validator!r:.40} is not known")]
    try:
        found = rule(tool, arguments, options or ValidatorOptions())
        return list(islice(found, MOST_VIOLATIONS))
    except (TooManyValuesError, RecursionError) as error:
        return [Violation("", str(error) or "the arguments are nested too deeply")]


def _none(*_: object) -> Iterator[Violation]:
    yield from ()


_RULES: Final[Mapping[str, _Rule]] = {
    "sandbox": sandbox_violations,
    "readonly": readonly_violations,
    "network_restricted": network_violations,
    "none": _none,
}
