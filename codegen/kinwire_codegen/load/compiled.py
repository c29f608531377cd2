"""JSON Schemas compiled by jsonschema-rs: they quickly say that a value fits.

Why one does not fit is what `jsonschema` says in better words. It takes hundreds of times as long.
"""

from __future__ import annotations

__all__ = ("compiled", "registry_of")

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonschema_rs import Registry

_FOLDER = "kinwire:/"


def registry_of(files: Mapping[str, dict[str, Any]]) -> Registry:
    """Return schemas by the names of their files, for references from one to another."""
    from jsonschema_rs import Registry

    return Registry([(_FOLDER + file, schema) for file, schema in files.items()])


def compiled(
    schema: dict[str, Any], registry: Registry | None = None, file: str = ""
) -> Callable[[Any], bool]:
    """Return a function that says whether a value certainly fits `schema`.

    References of `schema` are those of `file`, and lead into `registry`; nothing else is read.
    The function returns False also where it cannot tell: `schema` may be anybody's, and may not be
    a JSON Schema at all.
    """
    from jsonschema_rs import Draft202012Validator, RegexOptions

    try:
        validator = Draft202012Validator(
            schema,
            base_uri=_FOLDER + file,
            registry=registry,
            pattern_options=RegexOptions(),  # takes linear time, as in the bindings
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
