"""Tagged unions that keep objects whose tag the protocol does not define.

Such an object is read as an `UnknownVariant` and refused where a message is made: JSON Schemas for
others have only the known tags.
"""

from __future__ import annotations

__all__ = ("with_open_unions",)

import re

_UNION = re.compile(
    r"""Annotated\[\s*([\w.\s|]+?),\s*Field\(\s*discriminator=["'](\w+)["']\s*\),?\s*\]"""
)


def with_open_unions(models: str, shared: str) -> str:
    """Return a module of models in which tagged unions read objects with unknown tags.

    `shared` is the package that has the base class.
    """
    models, count = _UNION.subn(r'Annotated[\1 | UnknownVariant, OpenUnion("\2")]', models)
    if "discriminator=" in models:
        raise TypeError("the model generator wrote a tagged union in another form")
    if not count:
        return models
    imports = f"from {shared}.base import OpenUnion, UnknownVariant\n"
    return re.sub(r"^(?=from )", imports, models, count=1, flags=re.M)
