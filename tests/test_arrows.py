"""The arrows between the rooms: who may import whom. Read from the source, nothing is imported."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

GENERATED, RUNTIME, COMMAND, GENERATOR = (
    "kinwire_protocols",
    "kinwire",
    "kinwire_cli",
    "kinwire_codegen",
)
HOMES = {
    GENERATED: "generated",
    RUNTIME: "runtime",
    COMMAND: "runtime",
    GENERATOR: "codegen",
}

# typing_extensions and pydantic_core come with pydantic: no distribution of their own.
MAY_BE_GENERATED = {GENERATED, "pydantic", "pydantic_core", "typing_extensions"}


def imported(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and top-level package of each import, also the late and the computed ones."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name.split(".")[0]) for alias in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield node.lineno, module.split(".")[0]
            case ast.Call(
                func=ast.Name(id="import_module" | "__import__")
                | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(module)), *_],
            ):
                yield node.lineno, module.split(".")[0]
            case _:
                pass


@cache
def imports_of(package: str) -> list[tuple[str, str]]:
    """Return place and imported package for every import in `package`."""
    files = sorted((ROOT / HOMES[package] / package).rglob("*.py"))
    return [
        (f"{file.relative_to(ROOT)}:{line}", name)
        for file in files
        for line, name in imported(file.read_text(encoding="utf-8"))
    ]


@pytest.mark.parametrize(
    "source",
    [
        "import kinwire_codegen",
        "import json, kinwire_codegen.render as render",
        "from kinwire_codegen.commands import Generate",
        "def late():\n    from kinwire_codegen import commands",
        "if TYPE_CHECKING:\n    import kinwire_codegen",
        "import_module('kinwire_codegen.commands')",
        "importlib.import_module('kinwire_codegen')",
        "__import__('kinwire_codegen')",
    ],
)
def test_an_import_is_seen_in_every_form(source: str) -> None:
    assert GENERATOR in {name for _, name in imported(source)}


def test_a_relative_import_and_a_text_are_no_arrow() -> None:
    assert list(imported("from . import models\nhint = 'kinwire_codegen'")) == []


@pytest.mark.parametrize("package", HOMES)
def test_every_package_has_imports_to_look_at(package: str) -> None:
    assert imports_of(package)


def test_generated_code_imports_the_standard_library_and_pydantic_only() -> None:
    allowed = MAY_BE_GENERATED | sys.stdlib_module_names
    assert [found for found in imports_of(GENERATED) if found[1] not in allowed] == []


def test_the_runtime_never_imports_the_generator() -> None:
    assert [
        found for found in imports_of(RUNTIME) + imports_of(COMMAND) if found[1] == GENERATOR
    ] == []


def test_the_generator_imports_neither_the_runtime_nor_what_it_writes() -> None:
    forbidden = {RUNTIME, COMMAND, GENERATED}
    assert [found for found in imports_of(GENERATOR) if found[1] in forbidden] == []
