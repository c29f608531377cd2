"""An OpenRPC description as a document: JSON or YAML, in one file or in several.

OpenRPC does not say who sends, so every row is sent by the client. What it says and documents do
not, such as tags, is kept in `x-openrpc-` entries.
"""

from __future__ import annotations

__all__ = ("NotOpenRpcError", "openrpc_document", "read_openrpc")

import re
from pathlib import Path
from typing import Any

from kinwire_codegen.imports.bundling import Bundler
from kinwire_codegen.imports.drafts import DraftTypes, Node
from kinwire_codegen.imports.fitting import drop_misfits
from kinwire_codegen.imports.folders import read_folder
from kinwire_codegen.imports.imported import Imported, ImportSource, UselessFileError
from kinwire_codegen.imports.openrpc_errors import ErrorRows
from kinwire_codegen.imports.openrpc_methods import MethodRows
from kinwire_codegen.imports.own_openrpc import is_own, own_document
from kinwire_codegen.imports.reading import read_data

_POSITIONS = {"name": False, "position": True}
_KEPT_OF_INFO = ("termsOfService", "contact", "license")


class NotOpenRpcError(Exception):
    """The file is not an OpenRPC document."""


def read_openrpc(source: ImportSource) -> Imported:
    """Return the document of an OpenRPC file, or of a folder with the pieces of one.

    Raises:
        UselessFileError: it cannot be imported.
    """
    path = source.path
    by = source.options.get("params-by", "name")
    if by not in _POSITIONS:
        raise UselessFileError(f"--params-by {by}: unknown.", "Write name or position.")
    whole = path.is_dir()
    content = read_folder(path) if whole else read_data(path)
    if is_own(content):
        return _own(content, source)
    root = Path(source.options.get("root") or (path if whole else path.parent))
    try:
        return openrpc_document(
            content,
            protocol=source.protocol,
            version=source.version,
            taken=source.taken,
            path=path / "openrpc.json" if whole else path,
            root=root,
            by_position=_POSITIONS[by],
        )
    except NotOpenRpcError as error:
        hint = "Name another file or another kind."
        raise UselessFileError(f"{path}: {error}.", hint) from None


def _own(content: Node, source: ImportSource) -> Imported:
    try:
        found = own_document(content)
    except UselessFileError as error:
        raise UselessFileError(f"{source.path}: {error}", error.hint) from None
    if source.protocol is not None:
        found["protocol"] = source.protocol
    if source.version is not None:
        found["version"] = source.version
    return Imported(found)


def openrpc_document(
    content: Any,
    *,
    protocol: str | None,
    version: str | None,
    taken: frozenset[str],
    path: Path = Path("openrpc.json"),
    root: Path = Path(),
    by_position: bool = False,
) -> Imported:
    """Return the document; `taken` are names that the generated code uses itself.

    References may lead to files below `root`, as seen from `path`. `by_position` says how params
    are sent where the description allows both.

    Raises:
        NotOpenRpcError: it is not OpenRPC, or none of its methods can be represented.
    """
    if not isinstance(content, dict) or not isinstance(content.get("methods"), list):
        raise NotOpenRpcError("it has no list of methods")
    bundler = Bundler(content, path, root)
    content = bundler.bundled()
    errors = ErrorRows(content["methods"])
    schemas = content["components"]["schemas"]
    types = DraftTypes(schemas, taken | errors.class_names, bundler.unresolved)
    rows = MethodRows(types, errors, by_position=by_position)
    methods = dict(rows.read(content["methods"]))
    if not methods and content["methods"]:
        why = "; ".join(rows.left_out[:3])
        raise NotOpenRpcError(f"none of its methods can be represented in a document ({why})")
    types.finish()
    rows.add_examples()
    unused = {name: types.reference(name) for name in types.unused()}
    types.finish()
    records = {
        name: _record(name, one)
        for name, one in unused.items()
        if one.rpartition("/")[2] in types.made
    }
    found = _head(content, protocol, version)
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


def _record(name: str, reference: str) -> Node:
    summary = f"The type `{name}`, which no method refers to."
    return {"section": "OpenRPC", "summary": summary, "type": reference}


def _head(content: Node, protocol: str | None, version: str | None) -> Node:
    info = content.get("info") if isinstance(content.get("info"), dict) else {}
    assert isinstance(info, dict)
    title = str(info.get("title") or protocol or "Imported")
    kept = {key: info[key] for key in _KEPT_OF_INFO if info.get(key)}
    kept |= {key: content[key] for key in ("servers", "externalDocs") if content.get(key)}
    own = {key: value for key, value in {**info, **content}.items() if key.startswith("x-")}
    return {
        "$schema": "meta.schema.json",
        "protocol": protocol or _protocol(title),
        "title": title,
        "version": version or str(info.get("version") or "1"),
        "description": str(info.get("description") or f"{title}, imported from OpenRPC."),
        "capability": None,
        "roles": {"client": "client", "server": "server"},
        **own,
        **({"x-openrpc": kept} if kept else {}),
    }


def _protocol(title: str) -> str:
    words = re.findall(r"[a-z0-9]+", title.lower())
    name = "-".join(words) or "imported"
    return name if name[0].isalpha() else f"p-{name}"
