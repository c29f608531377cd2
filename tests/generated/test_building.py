"""When modules are loaded and classes are built: on first use, and no sooner."""

from __future__ import annotations

import ast
import os
import sys
from importlib import import_module
from pkgutil import iter_modules
from types import FunctionType
from typing import Any

import pytest

from tests.generated.interpreter import PROGRAMS, run
from tests.generated.messages import DOCUMENTS, generated_type

NAMES = [(document.name, name) for document in DOCUMENTS for name in document.definitions]
CLASSES = [name for name in NAMES if isinstance(generated_type(*name), type)]
PARTS = [
    (document, part)
    for document in DOCUMENTS
    for part in (
        "models",
        "methods",
        *(("handlers", "stubs") if document.name != "jsonrpc" else ()),
    )
]

LOADED = """
import sys
{before}
known = set(sys.modules)
{after}
print(sorted(set(sys.modules) - known))
"""


def loaded(after: str, *, before: str = "") -> list[str]:
    """Return the modules that `after` loads in addition to those of `before`."""
    found: list[str] = ast.literal_eval(run("-c", LOADED.format(before=before, after=after)))
    return found


def test_every_definition_has_its_class_or_alias() -> None:
    assert [(one, generated_type(one, name).__name__) for one, name in NAMES] == NAMES


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_the_models_have_no_class_that_the_document_does_not_define(document: Any) -> None:
    home = f"kinwire_protocols.{document.module}.models"
    below = getattr(import_module(home), "__path__", ())
    modules = [home, *(f"{home}.{found.name}" for found in iter_modules(below))]
    made = [
        name
        for module in map(import_module, modules)
        for name, value in vars(module).items()
        if getattr(value, "__module__", "") == module.__name__
        and not isinstance(value, FunctionType)
    ]
    assert sorted(made) == sorted(document.definitions)


def test_importing_every_class_builds_none() -> None:
    program = f"""
from kinwire_protocols.base import Message
from tests.generated.messages import generated_type
for name in {NAMES}:
    generated_type(*name)
kinds = [kind for kind in Message.__subclasses__() if kind.__module__.count(".") > 1]
print(len(kinds), sum(kind.__pydantic_complete__ for kind in kinds))
"""
    assert run("-c", program).split() == [str(len(CLASSES)), "0"]


def test_rows_stubs_and_tables_of_large_protocols_make_no_class() -> None:
    program = """
from importlib import import_module
from pkgutil import iter_modules
from kinwire_protocols.base import Message
for name in ("mcp", "mcpl", "mgp", "mcpe"):
    home = import_module(f"kinwire_protocols.{name}")
    for found in iter_modules(home.__path__):
        import_module(f"{home.__name__}.{found.name}")
print([kind.__name__ for kind in Message.__subclasses__()])
"""
    assert ast.literal_eval(run("-c", program)) == ["UnknownVariant", "NoParams"]


@pytest.mark.parametrize("seed", ["1", "2", "3"])
@pytest.mark.parametrize("way", ["wire", "name"])
@pytest.mark.slow
def test_every_class_builds_on_first_use_whatever_came_before(way: str, seed: str) -> None:
    assert run(str(PROGRAMS / "first_use.py"), way, seed).split() == [str(len(CLASSES))]


@pytest.mark.parametrize("way", ["schema", "dump", "threads"])
@pytest.mark.slow
def test_every_class_builds_however_it_is_first_used(way: str) -> None:
    assert run(str(PROGRAMS / "first_use.py"), way, "4").split() == [str(len(CLASSES))]


def test_importing_a_protocol_loads_neither_its_models_nor_pydantic() -> None:
    found = loaded("import kinwire_protocols.mcp")
    foreign = [name for name in found if name.split(".")[0] not in sys.stdlib_module_names]
    assert foreign == ["kinwire_protocols", "kinwire_protocols.lazy", "kinwire_protocols.mcp"]
    assert "dataclasses" not in found  # it takes longer than the rest


@pytest.mark.parametrize(
    ("name", "modules"),
    [
        ("Tool", {"base", "mcp.models", "mcp.models.common", "mcp.models.tools"}),
        ("ResourceNotFoundError", {"base", "jsonrpc", "jsonrpc.errors", "mcp.errors"}),
    ],
)
def test_a_name_of_a_protocol_loads_the_module_that_has_it(name: str, modules: set[str]) -> None:
    found = loaded(f"mcp.{name}", before="from kinwire_protocols import mcp")
    ours = {name.removeprefix("kinwire_protocols.") for name in found if "kinwire" in name}
    assert ours <= modules


def test_the_models_of_one_protocol_add_few_modules_to_those_of_pydantic() -> None:
    one_class = "import pydantic\nclass One(pydantic.BaseModel):\n    x: int | None = None"
    found = loaded("from kinwire_protocols.mcp.models import Tool", before=one_class)
    ours = ["base", "lazy", "mcp", "mcp.models", "mcp.models.common", "mcp.models.tools"]
    expected = {"kinwire_protocols", *(f"kinwire_protocols.{name}" for name in ours)}
    assert set(found) >= expected
    assert len(found) <= len(expected) + 4, found  # a newer Python may split its own modules


# Each module in a process of its own, which has pydantic already.
LOADED_EACH = """
import os
import sys
import pydantic.main
for name in {names}:
    if os.fork() == 0:
        __import__(name)
        print([name for name in sys.modules if name.startswith("kinwire_protocols.")], flush=True)
        os._exit(0)
    assert os.wait()[1] == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that begin as copies")
@pytest.mark.slow
def test_importing_a_protocol_loads_only_those_that_it_extends() -> None:
    names = [f"kinwire_protocols.{document.module}.{part}" for document, part in PARTS]
    lines = run("-c", LOADED_EACH.format(names=names)).splitlines()
    for (document, part), line in zip(PARTS, lines, strict=True):
        found = {name.split(".")[1] for name in ast.literal_eval(line) if name.count(".") > 1}
        assert document.module in found
        others = {one.module for one in DOCUMENTS} - {document.module}
        extended = {one.replace("-", "") for one in (*document.extends, "jsonrpc")}
        assert found & others <= extended, (document.name, part)


def test_a_name_that_a_protocol_does_not_have_is_an_attribute_error() -> None:
    from kinwire_protocols import mcp

    with pytest.raises(
        AttributeError, match=r"'kinwire_protocols\.mcp' has no attribute 'Tol'"
    ) as caught:
        mcp.Tol  # type: ignore[attr-defined]  # noqa: B018
    assert (caught.value.name, caught.value.obj) == ("Tol", mcp)  # so that Python names near ones


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_every_name_that_a_protocol_lists_is_there(document: Any) -> None:
    package = import_module(f"kinwire_protocols.{document.module}")
    assert set(document.definitions) < set(dir(package))
    assert [name for name in dir(package) if not hasattr(package, name)] == []
