"""Bindings of two documents, loaded side by side, and what the comparison says of them."""

from __future__ import annotations

__all__ = ("Sides", "two_sides")

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

import pytest

from kinwire_codegen.compare import DocumentChange, compare
from kinwire_codegen.compare.verdict import Category
from tests.codegen.compare.documents import Node
from tests.codegen.documents import documents, load_package


class Sides(NamedTuple):
    old: ModuleType
    new: ModuleType
    changes: list[DocumentChange]
    """Of the wire."""


@contextmanager
def two_sides(folders: pytest.TempPathFactory, old: Node, new: Node) -> Iterator[Sides]:
    """Make the bindings of two documents called `toy`, import them, and forget them afterwards."""
    before, after = (documents(folders.mktemp("side"), content) for content in (old, new))
    changes = compare(before, after, ("toy",)).of(Category.WIRE)
    out = folders.mktemp("out")
    with (
        load_package(before, out / "1", "old_side", shared="kinwire_protocols") as first,
        load_package(after, out / "2", "new_side", shared="kinwire_protocols") as second,
    ):
        toys = [import_module(f"{package.__name__}.toy") for package in (first, second)]
        yield Sides(toys[0], toys[1], changes)
