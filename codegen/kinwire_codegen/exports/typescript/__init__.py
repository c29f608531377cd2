"""Protocols as TypeScript: types, a table of methods, and the constants that programs need.

For each document there are `NAME.d.ts` with its types, `NAME.methods.d.ts` with what it says of
methods, tools, augments and errors, and `NAME.methods.js` with the constants declared there.
"""

from __future__ import annotations

__all__ = ("typescript_files",)

from kinwire_codegen.exports.typescript.constants import constants_file
from kinwire_codegen.exports.typescript.definitions import definitions_file
from kinwire_codegen.exports.typescript.methods import methods_file
from kinwire_codegen.load.document import Documents


def typescript_files(documents: Documents) -> dict[str, str]:
    """Return the files of all documents by their names; they import each other."""
    reader = documents.shapes
    files: dict[str, str] = {}
    for document in documents:
        files[f"{document.name}.d.ts"] = definitions_file(documents, document, reader)
        files[f"{document.name}.methods.d.ts"] = methods_file(documents, document, reader)
        files[f"{document.name}.methods.js"] = constants_file(document)
    return files
