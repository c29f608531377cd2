"""The arrows between packages and folders: who may import whom. Read from the source.

An arrow is an import in any form: late, for type checkers alone, computed, or by a lazy table.
Inside one folder of the runtime, imports may point anywhere.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from tests.each import each
from tests.fixtures_imports import (
    COMPUTED,
    Module,
    imports_of,
    modules_of,
    owner_of,
    reachable,
)

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

# -- the table of the runtime --

ROOT_FILES = {"__init__.py", "__main__.py", "testing.py", "py.typed"}

NEUTRAL = {  # what is generated for every protocol
    f"{GENERATED}.{name}"
    for name in (*("base", "peer", "problems", "lenient", "nearest", "augment", "jsonrpc"),)
}
BINDINGS = {f"{GENERATED}.{name}" for name in ("mcp", "mcpl", "mgp", "mcpe", "mcplite")}
SHARED = {GENERATED, *NEUTRAL, f"{GENERATED}.tables", f"{GENERATED}.tool_methods"}

BELOW_MCP = {"support", "rpc", "transports", "storage", "managers"}
FOLDERS = {*BELOW_MCP, "mcp", "mcpl", "mgp", "mcpe", "mcplite"}


def on_mcp(protocol: str) -> set[str]:
    """Return what the folder of a protocol that extends MCP may import."""
    return {*BELOW_MCP, "mcp", *SHARED, f"{GENERATED}.mcp", f"{GENERATED}.{protocol}"}


TABLE: dict[str, set[str]] = {
    "support": set(),
    "rpc": {"support", *NEUTRAL},
    "transports": {"support", "rpc", *NEUTRAL},
    "storage": {"support", *NEUTRAL},
    "managers": {"support", "rpc", "transports", "storage", *NEUTRAL},
    "mcp": {*BELOW_MCP, *SHARED, f"{GENERATED}.mcp"},
    "mcpl": on_mcp("mcpl"),
    "mgp": on_mcp("mgp"),
    "mcpe": on_mcp("mcpe"),
    "mcplite": {*BELOW_MCP, *SHARED, f"{GENERATED}.mcplite"},  # one adapter to MCP: NAMED
    "testing": {*FOLDERS, *SHARED, *BINDINGS},
    RUNTIME: {*FOLDERS, "testing", *SHARED, *BINDINGS},  # the face of the package
    "__main__": set(),
    COMMAND: {*FOLDERS, "testing", RUNTIME, *SHARED, *BINDINGS, COMPUTED},
}

NAMED = {  # these stay
    *(
        ("kinwire.mcplite.server.mcp_tools", target)
        for target in (
            *("kinwire.mcp.context", "kinwire.mcp.functions.outcomes", "kinwire.mcp.server"),
            *("kinwire.mcp.functions.pieces", "kinwire.mcp.result_text", "kinwire.mcp.tools"),
            *("kinwire.mcp.sessionless", "kinwire_protocols.mcp", f"{GENERATED}.mcp.methods"),
        )
    ),
    ("kinwire.__main__", "kinwire_cli.program"),
    ("kinwire.support.lazy_names", COMPUTED),  # the tables are seen in the packages
}


GENERATOR_TABLE: dict[str, set[str]] = {
    "load": set(),
    "support": set(),
    "lint": {"load", "support"},
    "emit": {"load", "support"},
    "exports": {"load", "emit"},
    "imports": {"load", "lint"},
    "compare": {"load"},
    "docs": {"load", "emit", "exports", "compare"},
    "build": {"load", "lint", "emit", "exports", "docs"},
    "commands": {"load", "lint", "emit", "exports", "imports", "compare", "docs", "build"},
}


def layer_of(module: str) -> str:
    """Return the row of the table for a module, or for generated code the name in a row."""
    parts = module.split(".")
    if parts[0] == GENERATED:
        return ".".join(parts[:2])
    return parts[1] if parts[0] == RUNTIME and len(parts) > 1 else parts[0]


def arrows_of(
    importer: str, imports: Iterator[tuple[int, str]], modules: Mapping[str, object]
) -> Iterator[tuple[int, str]]:
    """Yield line and target of the imports that are of ours; names become their modules."""
    for line, target in imports:
        if (importer, target) in NAMED or target == COMPUTED:
            yield line, target
        elif (owner := owner_of(target, modules)) is not None:
            yield line, owner


def crossings(importer: str, arrows: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield the arrows that the table does not have."""
    layer = layer_of(importer)
    for line, target in arrows:
        allowed = {layer, *TABLE.get(layer, ())}
        if (importer, target) not in NAMED and layer_of(target) not in allowed:
            yield line, target


def unknown_folders(names: Iterator[str]) -> list[str]:
    """Return those that the table does not have."""
    return sorted(f"unknown folder {name}: add it to the table" for name in {*names} - FOLDERS)


def cycles_between_folders(graph: Mapping[str, set[str]]) -> Iterator[tuple[str, str]]:
    """Yield the arrows of import cycles that leave a folder."""
    for importer, targets in graph.items():
        for target in targets:
            across = layer_of(importer) != layer_of(target)
            if across and importer in reachable(target, graph):
                yield importer, target


@cache
def sources_of(package: str) -> dict[str, Module]:
    return modules_of(ROOT / HOMES[package] / package)


@cache
def ours() -> dict[str, Module]:
    return {**sources_of(RUNTIME), **sources_of(COMMAND), **sources_of(GENERATED)}


@cache
def imports_of_module(module: Module) -> list[tuple[int, str]]:
    return list(imports_of(module.source, module.package, ours()))


@cache
def arrows_of_module(module: Module) -> list[tuple[int, str]]:
    return list(arrows_of(module.name, iter(imports_of_module(module)), ours()))


@cache
def runtime_arrows() -> dict[str, set[str]]:
    """Return which modules each module of the runtime imports, without the named exceptions."""
    return {
        module.name: {target for _, target in arrows_of_module(module) if target in ours()}
        for module in sources_of(RUNTIME).values()
    }


@cache
def packages_imported_by(package: str) -> list[tuple[str, str]]:
    """Return place and imported top-level package for every import in `package`."""
    return [
        (f"{module.file.relative_to(ROOT)}:{line}", target.split(".")[0])
        for module in sources_of(package).values()
        for line, target in imports_of_module(module)
        if target != COMPUTED
    ]


# -- every form of an import is seen --

SMALL: dict[str, object] = dict.fromkeys(
    ("kinwire", "kinwire.rpc", "kinwire.rpc.errors", "kinwire.mcp", "kinwire.mcp.server")
)


def seen(source: str, importer: str = "kinwire.rpc.errors", package: str = "") -> set[str]:
    imports = imports_of(source, package or importer.rpartition(".")[0], SMALL)
    return {target for _, target in arrows_of(importer, imports, SMALL)}


@each(
    "source",
    [
        "import kinwire.mcp.server",
        "import json, kinwire.mcp.server as served",
        "from kinwire.mcp import server",
        "from kinwire.mcp.server import Server",
        "from kinwire.mcp.server import *",
        "from ..mcp.server import Server",
        "from ..mcp import server",
        "def late():\n    from kinwire.mcp import server",
        "if TYPE_CHECKING:\n    import kinwire.mcp.server",
        "if a: ...\nelif b: ...\nelse:\n    import kinwire.mcp.server",
        "try: ...\nexcept E:\n    import kinwire.mcp.server",
        "try: ...\nfinally:\n    import kinwire.mcp.server",
        "match a:\n    case 1:\n        import kinwire.mcp.server",
        "class A:\n    with b, c:\n        import kinwire.mcp.server",
        "import_module('kinwire.mcp.server')",
        "importlib.import_module('kinwire.mcp.server')",
        "__import__('kinwire.mcp.server')",
        "import_module(f'{__name__}.{places.get(name, \"kinwire.mcp.server\")}')",
    ],
)
def test_an_import_is_seen_in_every_form(source: str) -> None:
    assert seen(source) == {"kinwire.mcp.server"}


@pytest.mark.parametrize(
    "source", ["_HOMES = {'Server': 'server'}", "_HOMES: dict[str, str] = {'Server': 'server'}"]
)
def test_a_lazy_table_is_seen(source: str) -> None:
    lazy = f"{source}\nimport_module(f'{{__name__}}.{{_HOMES[name]}}')"
    assert seen(lazy, "kinwire.mcp", "kinwire.mcp") == {"kinwire.mcp.server"}


@pytest.mark.parametrize("source", ["import_module(name)", "import_module(f'{__name__}.{name}')"])
def test_a_computed_import_without_a_table_is_seen(source: str) -> None:
    assert seen(source) == {COMPUTED}


def test_a_text_and_a_third_party_are_not_arrows() -> None:
    assert seen("import json\nfrom anyio import abc\nhint = 'kinwire.mcp.server'") == set()


@each("package", HOMES)
def test_every_package_has_imports_to_look_at(package: str) -> None:
    assert packages_imported_by(package)


# -- a violation of each kind is found --


def found(importer: str, *targets: str) -> list[str]:
    return [target for _, target in crossings(importer, iter((1, one) for one in targets))]


@each(
    ("importer", "target"),
    [
        ("kinwire.support.errors", "kinwire.rpc.errors"),
        ("kinwire.support.errors", "kinwire_protocols.base"),
        ("kinwire.rpc.session", "kinwire.transports.memory"),
        ("kinwire.rpc.session", "kinwire_protocols.mcp.methods"),
        ("kinwire.rpc.session", "kinwire_protocols.tool_methods"),
        ("kinwire.rpc.session", "kinwire"),
        ("kinwire.storage.log", "kinwire.rpc.errors"),
        ("kinwire.transports.memory", "kinwire.storage"),
        ("kinwire.managers.inbox", "kinwire.mcp.extension"),
        ("kinwire.mcp.server", "kinwire.mcpl.server.server"),
        ("kinwire.mcp.server", "kinwire_protocols.mcpl"),
        ("kinwire.mcp.server", "kinwire.testing"),
        ("kinwire.mcp.server", "kinwire"),
        ("kinwire.mcpl.host.host", "kinwire.mgp.grants"),
        ("kinwire.mcplite.server", "kinwire.mcp.server"),
        ("kinwire.mcplite.server", "kinwire_protocols.mcp"),
        ("kinwire.testing", "kinwire_cli"),
        ("kinwire.testing", "kinwire"),
        ("kinwire.__main__", "kinwire.mcp.server"),
        ("kinwire", "kinwire_cli"),
        ("kinwire.rpc.session", COMPUTED),
        ("kinwire.unheard_of.module", "kinwire.support.errors"),
        ("kinwire.mcp.server", "kinwire.unheard_of"),
        ("kinwire_cli.call", "kinwire_protocols.unheard_of"),
    ],
)
def test_an_arrow_that_is_not_in_the_table_is_found(importer: str, target: str) -> None:
    assert found(importer, target) == [target]


@each(
    ("importer", "target"),
    [
        ("kinwire.rpc.session", "kinwire.rpc.engine.engine"),
        ("kinwire.rpc.engine.engine", "kinwire.rpc.session"),
        ("kinwire.rpc.session", "kinwire_protocols.jsonrpc.errors"),
        ("kinwire.__main__", "kinwire_cli.program"),
        ("kinwire.mcpl.host.host", "kinwire.mcp.host"),
        ("kinwire_cli.call", "kinwire"),
    ],
)
def test_an_arrow_of_the_table_is_accepted(importer: str, target: str) -> None:
    assert found(importer, target) == []


def test_an_unknown_folder_is_found() -> None:
    assert unknown_folders(iter(["rpc", "helpers"])) == [
        "unknown folder helpers: add it to the table"
    ]


def test_a_cycle_is_found_only_where_it_leaves_a_folder() -> None:
    inside = {"kinwire.rpc.a": {"kinwire.rpc.b"}, "kinwire.rpc.b": {"kinwire.rpc.a"}}
    assert list(cycles_between_folders(inside)) == []
    across = {
        "kinwire.rpc.a": {"kinwire.rpc.b"},
        "kinwire.rpc.b": {"kinwire.mcp.c", "kinwire.support.d"},
        "kinwire.mcp.c": {"kinwire.rpc.a"},
    }
    assert set(cycles_between_folders(across)) == {
        ("kinwire.rpc.b", "kinwire.mcp.c"),
        ("kinwire.mcp.c", "kinwire.rpc.a"),
    }


# -- what there is --


def test_the_root_of_the_runtime_has_folders_of_the_table_and_four_files() -> None:
    below = list((ROOT / "runtime" / RUNTIME).iterdir())
    assert {path.name for path in below if path.is_file()} == ROOT_FILES
    folders = (path.name for path in below if path.is_dir() and any(path.rglob("*.py")))
    assert unknown_folders(folders) == []


def test_arrows_of_the_runtime_are_those_of_the_table() -> None:
    places = {
        (module.name, target): f"{module.file.relative_to(ROOT)}:{line} imports {target}"
        for module in (*sources_of(RUNTIME).values(), *sources_of(COMMAND).values())
        for line, target in crossings(module.name, iter(arrows_of_module(module)))
    }
    assert list(places.values()) == []


def test_the_named_exceptions_are_there() -> None:
    importers = {importer for importer, _ in NAMED}
    arrows = {(name, target) for name in importers for _, target in arrows_of_module(ours()[name])}
    assert NAMED - arrows == set()


def test_import_cycles_stay_inside_one_folder() -> None:
    assert list(cycles_between_folders(runtime_arrows())) == []


def test_generated_code_imports_the_standard_library_and_pydantic_only() -> None:
    allowed = MAY_BE_GENERATED | sys.stdlib_module_names
    assert [found for found in packages_imported_by(GENERATED) if found[1] not in allowed] == []


def test_the_runtime_never_imports_the_generator() -> None:
    imports = packages_imported_by(RUNTIME) + packages_imported_by(COMMAND)
    assert [found for found in imports if found[1] == GENERATOR] == []


def test_the_generator_imports_neither_the_runtime_nor_what_it_writes() -> None:
    forbidden = {RUNTIME, COMMAND, GENERATED}
    assert [found for found in packages_imported_by(GENERATOR) if found[1] in forbidden] == []


def test_arrows_of_the_generator_are_those_of_its_table() -> None:
    found = []
    for name, module in sources_of(GENERATOR).items():
        layer = name.removeprefix(GENERATOR).strip(".").partition(".")[0]
        for line, target in arrows_of_module(module) if layer else ():
            there = target.removeprefix(f"{GENERATOR}.").partition(".")[0]
            if target.startswith(f"{GENERATOR}.") and there not in {layer, *GENERATOR_TABLE[layer]}:
                found.append(f"{module.file.relative_to(ROOT)}:{line} imports {target}")
    assert found == []
