"""Validators that judge again and again what differs in one place from what they judged before."""

from __future__ import annotations

__all__ = ("remembering",)

import json
from collections.abc import Iterator
from typing import Any

from jsonschema import ValidationError, validators


def remembering(judge: Any) -> Any:
    """Return a class that judges as `judge` does, but each value once for each `$ref`.

    Its errors have no details. Make one class for schemas that share their definitions.
    """
    by_reference = judge.VALIDATORS["$ref"]
    known: dict[
        int, tuple[Any, dict[str, bool]]
    ] = {}  # by the id of a schema; holding the schema, no other gets its id

    def reference(
        validator: Any, target: str, value: Any, schema: Any
    ) -> Iterator[ValidationError]:
        _, seen = known.setdefault(id(schema), (schema, {}))
        text = json.dumps(value, sort_keys=True)
        if text not in seen:
            found = by_reference(validator, target, value, schema)
            seen[text] = next(iter(found), None) is None
        if not seen[text]:
            yield ValidationError("it does not fit")

    extended: Any = validators.extend(  # type: ignore[no-untyped-call]
        judge, {"$ref": reference}
    )
    return extended
