"""A class name occurs once in the runtime and the generator, so that it leads to one place."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

from tests.each import each
from tests.fixtures_imports import modules_of, syntax_of

ROOT = Path(__file__).parents[1]
PACKAGES = ("runtime/kinwire", "runtime/kinwire_cli", "codegen/kinwire_codegen")


def class_names(tree: ast.Module) -> list[str]:
    """Return the names of all classes, also of those inside classes and functions."""
    return [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]


def test_class_names_occur_once() -> None:
    places = defaultdict[str, list[str]](list)
    for package in PACKAGES:
        for name, module in modules_of(ROOT / package).items():
            for found in class_names(syntax_of(module)):
                places[found].append(name)
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


@each("package", PACKAGES)
def test_every_package_has_classes(package: str) -> None:
    assert any(class_names(syntax_of(module)) for module in modules_of(ROOT / package).values())


def test_nested_classes_are_found() -> None:
    source = "class A:\n    class B: ...\ndef make():\n    class A: ..."
    assert class_names(ast.parse(source)) == ["A", "B", "A"]
