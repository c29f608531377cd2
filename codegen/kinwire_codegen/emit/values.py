"""Classes of constants for enums whose integers have names.

The type of such an enum stays a `Literal` of plain integers: an `IntEnum` would not be taken in
strict mode, and a union of it with `int` would read some values as one and some as the other.
"""

from __future__ import annotations

__all__ = ("value_classes",)

from collections.abc import Iterable, Iterator

from kinwire_codegen.load.document import Document
from kinwire_codegen.load.names import quoted, with_fields
from kinwire_codegen.load.notes import class_of_values, enum_values


def value_classes(document: Document, names: Iterable[str]) -> Iterator[str]:
    """Yield the class of constants of each enum in `names` that has one; it needs `Final`."""
    for name in names:
        definition = document.definitions[name]
        made = class_of_values(name, definition)
        if made is not None:
            values = [one for one in enum_values(definition) if one.constant is not None]
            listed = ((str(one.constant), one.text or None) for one in values)
            text = with_fields(f"The values of `{name}` that have names.", listed)
            lines = [f"class {made}:", quoted(text, "    ")]
            for one in values:
                lines += ["", f"    {one.constant}: Final = {one.value}", quoted(one.text, "    ")]
            yield "\n".join(lines)
