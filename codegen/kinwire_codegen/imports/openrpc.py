"""An OpenRPC description as a document: JSON or YAML, in one file or in several.

OpenRPC does not say who sends, so every row is sent by the client. What it says and documents do
not, such as tags, is kept in `x-openrpc-` entries.
"""

from __future__ import annotations

__all__ = ("openrpc_document", "read_openrpc")

import re
from pathlib import Path
from typing import Any

from kinwire_codegen.imports.assembling import document_head
from kinwire_codegen.imports.bundling import Bundler
from kinwire_codegen.imports.drafts import DraftTypes, Node
from kinwire_codegen.imports.fitting import drop_misfits
from kinwire_codegen.imports.folders import read_folder
from kinwire_codegen.imports.imported import Imported, ImportSource, UselessFileError
from kinwire_codegen.imports.openrpc_errors import ErrorRows
from kinwire_codegen.imports.openrpc_methods import MethodRows
from kinwire_codegen.imports.own_openrpc import is_own, own_document
from kinwire_codegen.imports.reading import read_data

_KEPT_OF_INFO = ("termsOfService", "contact", "license")


def read_openrpc(source: ImportSource) -> Imported:
    """Return the document of an OpenRPC file, or of a folder with the pieces of one.

    Raises:
        UselessFileError: it cannot be imported.
    """
    content = read_folder(source.path) if source.path.is_dir() else read_data(source.path)
    return _own(content, source) if is_own(content) else openrpc_document(content, source)


def _own(content: Node, source: ImportSource) -> Imported:
    found = own_document(content)
    if source.protocol is not None:
        found["protocol"] = source.protocol
    if source.version is not None:
        found["version"] = source.version
    return Imported(found)


def openrpc_document(content: Any, source: ImportSource) -> Imported:
    """Return the document of a description; `source` has what the user chose.

    References may lead to files below the option `root`, as seen from the source's path. The option
    `params-by` says how params are sent where the description allows both.

    Raises:
        UselessFileError: it is not OpenRPC, or none of its methods can be represented.
    """
    if not isinstance(content, dict) or not isinstance(content.get("methods"), list):
        raise _not_openrpc("it is not an OpenRPC document: it has no list 'methods'")
    bundler = _bundler(content, source)
    content = bundler.bundled()
    errors = ErrorRows(content["methods"])
    schemas = content["components"]["schemas"]
    types = DraftTypes(schemas, source.taken | errors.class_names, bundler.unresolved)
    rows = MethodRows(types, errors, by_position=source.options.get("params-by") == "position")
    methods = dict(rows.read(content["methods"]))
    if not methods and content["methods"]:
        why = "; ".join(rows.left_out[:3])
        raise _not_openrpc(f"none of its methods can be represented in a document ({why})")
    types.finish()
    rows.add_examples()
    unused = {name: types.reference(name) for name in types.unused()}
    types.finish()
    records = {
        name: _record(name, one)
        for name, one in unused.items()
        if one.rpartition("/")[2] in types.made
    }
    found = _head(content, source)
    found |= {"methods": methods, "errors": errors.rows, "$defs": dict(sorted(types.made.items()))}
    found |= {"records": records} if records else {}
    left_out = [*rows.left_out, *drop_misfits(found)]
    left_out += [f"{name}: no method contains it" for name in unused.keys() - records.keys()]
    left_out += [f"{name}: no method refers to it" for name in bundler.unused()]
    return Imported(
        found,
        tuple(left_out),
        widened=(*rows.widened, *types.widened()),
        folded=tuple(errors.folded),
        without_effect=types.without_effect(),
    )


def _bundler(content: Node, source: ImportSource) -> Bundler:
    path = source.path / "openrpc.json" if source.path.is_dir() else source.path
    return Bundler(content, path, Path(source.options.get("root") or path.parent))


def _record(name: str, reference: str) -> Node:
    summary = f"The type `{name}`, which no method refers to."
    return {"section": "OpenRPC", "summary": summary, "type": reference}


def _not_openrpc(what: str) -> UselessFileError:
    return UselessFileError(f"{what}.", "Name another file or another kind.")


def _head(content: Node, source: ImportSource) -> Node:
    info = content.get("info") if isinstance(content.get("info"), dict) else {}
    assert isinstance(info, dict)
    title = str(info.get("title") or source.protocol or "Imported")
    kept = {key: info[key] for key in _KEPT_OF_INFO if info.get(key)}
    kept |= {key: content[key] for key in ("servers", "externalDocs") if content.get(key)}
    own = {key: value for key, value in {**info, **content}.items() if key.startswith("x-")}
    return {
        **document_head(
            source.protocol or _protocol(title),
            title,
            source.version or str(info.get("version") or "1"),
            str(info.get("description") or f"{title}, imported from OpenRPC."),
            {"client": "client", "server": "server"},
        ),
        **own,
        **({"x-openrpc": kept} if kept else {}),
    }


def _protocol(title: str) -> str:
    words = re.findall(r"[a-z0-9]+", title.lower())
    name = "-".join(words) or "imported"
    return name if name[0].isalpha() else f"p-{name}"
