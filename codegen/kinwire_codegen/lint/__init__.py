"""Rules for documents that the meta-schema cannot say: a function a rule, which yields faults."""

from __future__ import annotations

__all__ = ("lint",)

from collections.abc import Iterable, Iterator
from keyword import iskeyword

from kinwire_codegen.lint.bounds import bounds_fit_their_kind
from kinwire_codegen.lint.circles import circles_are_short
from kinwire_codegen.lint.data import DATA_RULES
from kinwire_codegen.lint.enums import enum_values_fit
from kinwire_codegen.lint.examples import examples_that_do_not_fit
from kinwire_codegen.lint.kept import names_differ, types_are_kept
from kinwire_codegen.lint.rows import ROW_RULES
from kinwire_codegen.lint.shorthands import shorthands_fit
from kinwire_codegen.lint.types import types_are_well_formed, types_have_an_end
from kinwire_codegen.load.document import Document, Documents, Reference, Rule
from kinwire_codegen.load.findings import Fault, Finding, pointer
from kinwire_codegen.load.names import class_name, nearest, snake_name
from kinwire_codegen.load.places import ERRORS, at
from kinwire_codegen.support import SHARED

# Names that the generated modules import or define themselves.
RESERVED = {
    *("Annotated", "Any", "ClassVar", "Field", "Final", "Literal", "MISSING", "Mapping"),
    *("ClientHandlers", "ClientOn", "ClientStub", "ServerHandlers", "ServerOn", "ServerStub"),
    *("Handlers", "Message", "Method", "On", "Peer", "ProtocolTable", "Register", "RpcError"),
    *("InvalidParamsError", "MethodNotFoundError", "NoParams"),
    *("PROTOCOL", "TYPE_CHECKING", "TypeAliasType"),
    *("ServerTools", "ToolHandlers", "ToolMethod"),
}
RESERVED_METHODS = {"call", "dispatch", "notify", "rows"}
PAGES = ("methods", "tools", "$defs")  # with a page for each entry, which has its name
LONGEST = 100  # characters: systems end at 143 to 255 bytes, and names get more signs in a file's
TAKEN = "is a name that the generated code uses itself"


def lint(documents: Documents) -> list[Finding]:
    """Return everything that is wrong with the documents, in order of file and place."""
    # Rules of types follow references, which must resolve for that, and lead to an end.
    return _apply(FIRST, documents) or _apply(NEXT, documents) or _apply(THEN, documents)


def _apply(rules: Iterable[Rule], documents: Documents) -> list[Finding]:
    return sorted(
        {
            document.finding(fault)
            for document in documents
            for rule in rules
            for fault in rule(document, documents)
        }
    )


def extends_is_a_tree(document: Document, documents: Documents) -> Iterator[Fault]:
    for index, name in enumerate(document.extends):
        place = pointer("extends", index)
        if name not in documents:
            yield place, f"there is no document {name!r}", f"Add {name}.json or correct the name."
        elif document.name in (name, *(one.name for one in documents.extended(documents[name]))):
            yield place, "extends goes in a circle", "Break the circle."


def references_resolve(document: Document, documents: Documents) -> Iterator[Fault]:
    reachable = {document.name, *(other.name for other in documents.extended(document))}
    for steps, (protocol, name) in document.references:
        if protocol not in documents:
            yield (
                pointer(*steps),
                f"there is no document {protocol!r}",
                f"Add {protocol}.json or correct the name.",
            )
        elif name not in documents[protocol].definitions:
            hint = _did_you_mean(name, documents[protocol].definitions, "Define it under $defs.")
            yield pointer(*steps), f"{name!r} is not a definition", hint
        elif protocol not in reachable:
            what = f"{protocol!r} is not extended here"
            yield pointer(*steps), what, f"Add {protocol!r} to extends."


def modules_are_distinct(document: Document, documents: Documents) -> Iterator[Fault]:
    for other in documents:
        if other.name < document.name and other.module == document.module:
            what = f"its Python package {document.module!r} is also that of {other.file}"
            yield "/protocol", what, "Rename one of the protocols."
    if document.module in SHARED:
        yield "/protocol", f"{document.module!r} {TAKEN}", "Rename the protocol."
    if iskeyword(document.module):
        what = f"{document.module!r} is a Python keyword and cannot be the name of a package"
        yield "/protocol", what, "Rename the protocol."


def errors_exist(document: Document, documents: Documents) -> Iterator[Fault]:
    for pattern in ERRORS:
        for place, error in at(document.content, pattern):
            protocol, _, short = error.rpartition("#")
            home = protocol or document.name
            known = documents[home].content["errors"] if home in documents else ()
            if short not in known:
                hint = _error_hint(error, document, documents)
                yield pointer(*place), f"{error!r} is not an error", hint


def notifications_expect_nothing(document: Document, documents: Documents) -> Iterator[Fault]:
    for name, row in document.content["methods"].items():
        for part in ("result", "errors"):
            if row["kind"] == "notification" and row.get(part):
                what = f"a notification has no answer, so no {part}"
                yield pointer("methods", name, part), what, "Remove it."


def names_fit_a_file(document: Document, documents: Documents) -> Iterator[Fault]:
    names: list[tuple[str, str]] = [("protocol", document.name)]
    names += [(table, name) for table in PAGES for name in document.table(table)]
    for table, name in names:
        if len(name) > LONGEST:
            place = pointer(table) if table == "protocol" else pointer(table, name)
            what = f"a name of {len(name)} characters: {LONGEST} are the most for its files"
            yield place, what, "Shorten it."


def names_are_free(document: Document, documents: Documents) -> Iterator[Fault]:
    taken = {
        name: other.file for other in documents.extended(document) for name in other.definitions
    }
    used = RESERVED | {class_name(name) for name in document.content["errors"]}
    for name in document.definitions:
        place = pointer("$defs", name)
        if name in used:
            yield place, f"{name!r} {TAKEN}", "Choose another name."
        elif name in taken:
            hint = "Use that one, or choose another name."
            yield place, f"{name!r} is also a definition of {taken[name]}", hint


def methods_stay_apart(document: Document, documents: Documents) -> Iterator[Fault]:
    seen: dict[str, str] = {}
    for name, row in document.content["methods"].items():
        if snake_name(name) in RESERVED_METHODS:
            yield pointer("methods", name), f"{name!r} {TAKEN}", "Choose another wire name."
        for wire in (name, *row.get("aliases", ())):
            first = seen.setdefault(snake_name(wire), name)
            if first != name:
                what = f"{wire!r} and {first!r} are both {snake_name(wire)!r} in Python"
                yield pointer("methods", name), what, "Rename one of them."


def codes_are_distinct(document: Document, documents: Documents) -> Iterator[Fault]:
    seen: dict[int, str] = {}
    for name, error in document.content["errors"].items():
        first = seen.setdefault(error["code"], name)
        if first != name:
            what = f"code {error['code']} is also that of {first!r}"
            yield pointer("errors", name, "code"), what, "Give each error its own code."


def definitions_are_used(document: Document, documents: Documents) -> Iterator[Fault]:
    used = {reference for other in documents for _, reference in other.references}
    for name in document.definitions:
        # A document without methods is a library of types.
        if document.content["methods"] and Reference(document.name, name) not in used:
            yield pointer("$defs", name), f"{name!r} is used nowhere", "Use it or remove it."


FIRST: tuple[Rule, ...] = (
    extends_is_a_tree,
    references_resolve,
    modules_are_distinct,
    errors_exist,
)
NEXT: tuple[Rule, ...] = (types_have_an_end,)
THEN: tuple[Rule, ...] = (
    notifications_expect_nothing,
    names_fit_a_file,
    names_are_free,
    methods_stay_apart,
    codes_are_distinct,
    *ROW_RULES,
    *DATA_RULES,
    definitions_are_used,
    types_are_well_formed,
    types_are_kept,
    names_differ,
    bounds_fit_their_kind,
    shorthands_fit,
    enum_values_fit,
    circles_are_short,
    examples_that_do_not_fit,
)


def _error_hint(error: str, document: Document, documents: Documents) -> str:
    home, _, short = error.rpartition("#")
    if home and home not in documents:
        return f"Add {home!r} to extends, or correct the name."
    if home:
        near = nearest(short, documents[home].content["errors"])
        return f"Did you mean {f'{home}#{near}'!r}?" if near else f"{home}.json has no such error."
    for one in documents.extended(document):
        if short in one.content["errors"]:
            return f"Did you mean {f'{one.name}#{short}'!r}?"
    return _did_you_mean(short, document.content["errors"], "Define it under errors.")


def _did_you_mean(name: str, known: Iterable[str], otherwise: str) -> str:
    near = nearest(name, known)
    return f"Did you mean {near!r}?" if near else otherwise
