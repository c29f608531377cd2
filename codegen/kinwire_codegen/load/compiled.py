"""JSON Schemas compiled by jsonschema-rs: they quickly say that a value fits.

`jsonschema` explains why a value does not fit. It takes hundreds of times as long, so it is loaded
only for that.
"""

from __future__ import annotations

__all__ = ("compiled", "registry_of")

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonschema_rs import Registry

_FOLDER = "kinwire:/"


def registry_of(files: Mapping[str, dict[str, Any]]) -> Registry | None:
    """Return schemas by the names of their files, for references from one to another.

    It is None if one of them is not a JSON Schema.
    """
    from jsonschema_rs import Registry

    try:
        return Registry([(_FOLDER + file, schema) for file, schema in files.items()])
    except ValueError:
        return None


def compiled(
    schema: dict[str, Any],
    registry: Registry | None = None,
    matches: Callable[[str, str], bool] | None = None,
) -> Callable[[Any], bool]:
    """Return a function that says whether a value certainly fits `schema`.

    References lead into `schema` itself and into `registry`; nothing else is read. `matches` says
    whether a pattern matches a text, if patterns do not mean what ECMA-262 says.

    The function returns False also where it cannot tell: `schema` may come from a user, and may
    not be a JSON Schema at all.
    """
    from jsonschema_rs import Draft202012Validator

    class PatternKeyword:
        """The keyword `pattern`, which is made for each place that has it."""

        def __init__(self, _: Any, pattern: str, __: Any) -> None:
            self._pattern = pattern

        def validate(self, value: Any) -> None:
            if matches and isinstance(value, str) and not matches(self._pattern, value):
                raise ValueError(self._pattern)

    try:
        validator = Draft202012Validator(
            schema,
            base_uri=_FOLDER,
            registry=registry,
            keywords={"pattern": PatternKeyword} if matches else None,
            offline=True,
        )
    except ValueError:
        return lambda _: False

    def fits(value: Any) -> bool:
        try:
            return validator.is_valid(value)
        except ValueError:  # for text that is not Unicode
            return False

    return fits
