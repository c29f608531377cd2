"""The meta-schema next to documents, which may be anybody's, and the check against it."""

from __future__ import annotations

__all__ = ("META", "meta_problems", "meta_validator")

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from kinwire_codegen.load.findings import Finding, pointer
from kinwire_codegen.load.patterns import exact_end

META = "meta.schema.json"


def meta_problems(meta: Any) -> list[Finding]:
    """Return why what a file of the name `META` has is not a JSON Schema; nothing if it is one."""
    from jsonschema import Draft202012Validator, SchemaError

    hint = "Correct it, or copy that of kinwire."
    what = "it is not a JSON Schema: expected an object"
    if not isinstance(meta, dict):
        return [Finding(META, "", what, hint)]
    try:
        formats = Draft202012Validator.FORMAT_CHECKER
        Draft202012Validator.check_schema(meta, format_checker=formats)
    except SchemaError as error:
        what = f"it is not a JSON Schema: {error.message}"
        return [Finding(META, pointer(*error.absolute_path), what, hint)]
    if not isinstance(meta.get("$defs", {}).get("included", {}), dict):
        return [Finding(META, "/$defs/included", what, hint)]
    return []


def meta_validator(meta: dict[str, Any], rules: dict[str, Any]) -> Any:
    """Return a validator of `jsonschema` for the meta-schema or a part of it, `rules`."""
    from referencing import Registry

    # An empty registry: without one a reference to a URL would be fetched.
    # "$schema" would bring back the validator's own reading of patterns.
    schema = {key: value for key, value in rules.items() if key != "$schema"}
    return _exact_validator()(meta, registry=Registry()).evolve(schema=schema)


@cache
def _exact_validator() -> Any:
    """Return the class of validators for which `$` in a pattern is the very end, as in JSON."""
    from jsonschema import Draft202012Validator, ValidationError, validators

    def pattern(_: Any, pattern: str, value: Any, __: Any) -> Iterator[ValidationError]:
        if isinstance(value, str) and not re.search(exact_end(pattern), value):
            yield ValidationError(f"{value!r} does not match {pattern!r}")

    extended: Any = validators.extend(  # type: ignore[no-untyped-call]
        Draft202012Validator, {"pattern": pattern}
    )
    return extended
