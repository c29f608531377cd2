"""Documents in ten lines, for tests that need one fault or one construct."""

from __future__ import annotations

__all__ = ("build_types", "documents", "load_package", "protocol")

import importlib
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from kinwire_codegen.atomic_files import apply_changes
from kinwire_codegen.build import build, changes
from kinwire_codegen.load.document import Documents
from kinwire_codegen.load.loading import load_documents

SCHEMA = Path(__file__).parents[2] / "schema"


def protocol(
    name: str = "toy", types: dict[str, Any] | None = None, **members: Any
) -> dict[str, Any]:
    """Return a document with these types, and no methods and errors but for `members`."""
    return {
        "protocol": name,
        "title": name.title(),
        "version": "1",
        "description": "For a test.",
        "roles": {"client": "client", "server": "server"},
        "methods": {},
        "errors": {},
        "$defs": types or {},
    } | members


def documents(folder: Path, *contents: dict[str, Any]) -> Documents:
    """Write the documents into `folder` and load them."""
    for content in contents:
        path = folder / f"{content['protocol']}.json"
        path.write_text(json.dumps(content), encoding="utf-8")
    for shared in ("meta.schema.json", "jsonrpc.json"):
        (folder / shared).write_bytes((SCHEMA / shared).read_bytes())
    return load_documents(folder)


@contextmanager
def load_package(
    found: Documents, out: Path, package: str, *, shared: str | None = None
) -> Iterator[ModuleType]:
    """Build the bindings into `out` and import them; forget them afterwards."""
    files = build(found, package, shared=shared)
    apply_changes(changes(files, out), out)
    sys.path.insert(0, str(out))
    importlib.invalidate_caches()
    try:
        yield importlib.import_module(package)
    finally:
        sys.path.remove(str(out))
        for name in [name for name in sys.modules if name.partition(".")[0] == package]:
            del sys.modules[name]


@contextmanager
def build_types(folder: Path, **definitions: dict[str, Any]) -> Iterator[ModuleType]:
    """Build a protocol with these types and yield its module of models."""
    described = {name: {"description": "A type."} | node for name, node in definitions.items()}
    schema = folder / "schema"
    schema.mkdir()
    found = documents(schema, protocol(types=described))
    with load_package(found, folder / "out", "toy_bindings") as package:
        yield importlib.import_module(f"{package.__name__}.toy.models")
