"""Everything but the models: rows, errors, stubs, handlers and tables by Jinja, and copies."""

from __future__ import annotations

__all__ = ("package_files", "protocol_files")

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files as resources
from typing import Any

from jinja2 import Environment

from kinwire_codegen.emit.package import OWNED, Package
from kinwire_codegen.emit.rows import (
    AugmentRow,
    Maker,
    Row,
    RowError,
    added_errors,
    augment_rows,
    method_rows,
    tool_rows,
)
from kinwire_codegen.emit.signatures import ProtocolModels
from kinwire_codegen.load.document import CONSTANTS, Document, Documents, resolve
from kinwire_codegen.load.names import class_name, constant_name, docstring
from kinwire_codegen.load.notes import deprecation, described
from kinwire_codegen.load.parsing import json_text
from kinwire_codegen.support import SHARED
from kinwire_codegen.templating import template_environment


def package_files(documents: Documents, package: Package) -> dict[str, str]:
    """Return the modules of the package, except those of its protocols, by path."""
    own = [document for document in documents if document.module in package.own]
    shared = SHARED if package.alone else ()
    files = {f"{name}.py": _support_module(name, package.name) for name in shared}
    files["__init__.py"] = _environment().get_template("package.py.j2").render(documents=own)
    files["py.typed"] = ""
    kept = {"meta": documents.meta, "documents": {one.name: one.content for one in own}}
    files["schema.json"] = json_text(kept, indent=1) + "\n"
    return files


def _support_module(name: str, package: str) -> str:
    """Return the copy of a support module that `package` gets: marked, with its own imports."""
    source = resources("kinwire_codegen.support").joinpath(f"{name}.py").read_text("utf-8")
    summary, _, rest = source.partition("\n")
    text = summary.removesuffix('"""')
    marked = f"{text} Generated {OWNED}.{summary[len(text) :]}\n{rest}"
    return re.sub(r"^( *from )\.(?=\w)", rf"\1{package}.", marked, flags=re.MULTILINE)


def protocol_files(
    documents: Documents, document: Document, models: dict[str, ProtocolModels], package: Package
) -> dict[str, str]:
    """Return the modules of one protocol, except those that have its models, by path."""
    maker = Maker(documents, document, models, package)
    rows = method_rows(maker)
    tools = list(tool_rows(maker))
    augments = list(augment_rows(maker))
    templates = _templates(document, speaks=bool(rows or tools), tools=tools, augments=augments)
    live = [row for row in rows if not row.considered]
    served_tools = [tool for tool in tools if not tool.considered]
    served = (*live, *served_tools)
    added = added_errors(augments)
    errors = document.content["errors"].items()
    data = {name: error["data"] for name, error in errors if "data" in error}
    own = models[document.name]
    if own.modules:
        templates["models/__init__"] = "models.py.j2"
    context = {
        "documents": documents,
        "document": document,
        "package": package,
        "rows": rows,
        "tools": tools,
        "served_tools": served_tools,
        "augments": augments,
        "added_errors": added,
        "speaks": bool(rows or tools),
        "submodules": sorted(
            {name.partition("/")[0] for name in (*templates, "models")} - {"__init__"}
        ),
        "modules": own.modules,
        "names": own.names,
        "error_names": [class_name(name) for name in document.content["errors"]],
        # Exact: ruff needs longer to remove an import than all of this takes.
        "method_types": _lines(row.message_imports for row in rows),
        "tool_types": _lines(tool.message_imports for tool in tools),
        "handler_types": _lines(row.message_imports for row in served),
        "stub_types": _lines(row.stub_imports for row in served),
        "imports": _lines(row.imports for row in served),
        "offers": _paths(maker, document.content.get("offers", {})),
        "error_data": _paths(maker, data),
        "augment_types": _lines(row.type_imports for row in augments),
        "table_types": _table_types(maker),
        "home": maker.module_of,
        "foreign": _foreign(document, [*rows, *tools, *augments]),
        "to_server": [row for row in live if row.sender != "server"],
        "to_client": [row for row in live if row.sender != "client"],
        **_descriptor(document),
    }
    return {
        f"{document.module}/{name}.py": _environment().get_template(template).render(context)
        for name, template in templates.items()
    }


def _templates(
    document: Document, *, speaks: bool, tools: list[Any], augments: list[Any]
) -> dict[str, str]:
    """Return the modules that the protocol has, each with its template."""
    found = {"__init__": "protocol.py.j2", "errors": "errors.py.j2", "methods": "methods.py.j2"}
    if speaks:
        found |= {"handlers": "handlers.py.j2", "stubs": "stubs.py.j2"}
    if tools:
        found["tools"] = "tools.py.j2"
    if augments:
        found["augments"] = "augments.py.j2"
    if document.content.keys() & {*CONSTANTS, "http"}:
        found["tables"] = "tables.py.j2"
    if "grpc" in document.content:
        found["descriptor"] = "descriptor.py.j2"
    return found


def _descriptor(document: Document) -> dict[str, Any]:
    """Return what the template of the gRPC descriptor takes."""
    if "grpc" not in document.content:
        return {}
    from kinwire_codegen.emit.descriptor import codes_of, descriptor_of, words_of

    return {
        "descriptor_parts": descriptor_of(document),
        "descriptor_words": words_of(document),
        "descriptor_codes": codes_of(document),
    }


def _foreign(document: Document, rows: Iterable[Row | AugmentRow]) -> list[str]:
    """Return the other protocols whose errors the rows name."""
    errors: set[RowError] = {error for row in rows for error in row.errors}
    return sorted({error.home for error in errors} - {document.module})


def _lines(imports: Iterable[Iterable[str]]) -> list[str]:
    return sorted(set().union(*imports))


def _paths(maker: Maker, named: dict[str, str]) -> dict[str, str]:
    """Return where the types are that `named` refers to, if they are classes."""
    found = {name: resolve(text, maker.document.name) for name, text in named.items()}
    return {
        name: f"{maker.module_of(kind)}.{kind.name}"
        for name, kind in found.items()
        if kind.name in maker.protocol_models[kind.protocol].classes
    }


def _table_types(maker: Maker) -> list[str]:
    document = maker.document
    named = [table["type"] for table in document.table("tables").values()]
    named += [machine["states"] for machine in document.table("machines").values()]
    return sorted({maker.type_import(resolve(text, document.name)) for text in named})


@cache
def _environment() -> Environment:
    environment = template_environment(autoescape=False)  # the output is Python
    environment.filters |= {
        "deprecation": deprecation,
        "described": described,
        "docstring": docstring,
        "class_name": class_name,
        "constant_name": constant_name,
        "lazy": lambda home, name: f'lazy.Lazy("{home}.{name}")' if home else name,
        "python": repr,
        "python_tuple": lambda values: repr(tuple(values)),
        "resolve": resolve,
    }
    return environment
