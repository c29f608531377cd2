"""A class name occurs once in the runtime and the generator, so that it leads to one place."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path

from tests.fixtures_imports import modules_of

ROOT = Path(__file__).parents[1]
PACKAGES = ("runtime/kinwire", "runtime/kinwire_cli", "codegen/kinwire_codegen")


CLASS = re.compile(r"\bclass\s+(\w+)")


def class_names(source: str) -> list[str]:
    """Return the names of all classes, also of those inside classes and functions."""
    return [node.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef)]


def repeated(sources: Mapping[str, str]) -> dict[str, list[str]]:
    """Return in which modules the class names are that occur more than once."""
    likely = {name: CLASS.findall(source) for name, source in sources.items()}
    counts = Counter(found for names in likely.values() for found in names)
    places = defaultdict[str, list[str]](list)
    for name, names in likely.items():
        if any(counts[found] > 1 for found in names):  # or a text says it, so that this parses
            for found in class_names(sources[name]):
                places[found].append(name)
    return {name: found for name, found in places.items() if len(found) > 1}


def sources_of(package: str) -> dict[str, str]:
    return {name: module.source for name, module in modules_of(ROOT / package).items()}


def test_class_names_occur_once() -> None:
    sources = [sources_of(package) for package in PACKAGES]
    assert all(any(map(CLASS.search, package.values())) for package in sources)
    assert repeated({name: text for package in sources for name, text in package.items()}) == {}


def test_a_class_name_is_found_twice_wherever_the_classes_are() -> None:
    one = "class A:\n    class B: ...\ndef make():\n    class A: ..."
    other = "class  B(A): ...\ntext = 'class A'\nclass C: ..."
    assert repeated({"one": one, "other": other}) == {"A": ["one", "one"], "B": ["one", "other"]}
