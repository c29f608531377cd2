"""The place of each page, and the places that use a type."""

from __future__ import annotations

__all__ = "Links"

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

from kinwire_codegen.docs.reference.groups import LISTED, Group, groups_of
from kinwire_codegen.emit.rows import error_entry
from kinwire_codegen.load.augmented import AugmentTarget, target_of
from kinwire_codegen.load.document import DATA, Document, Documents, Reference, resolve
from kinwire_codegen.load.findings import Place
from kinwire_codegen.load.names import slug
from kinwire_codegen.load.sequences import steps_of

MANY = 30
"""Of more entries than these, a list of links has their groups with counts instead."""

Entry = tuple[Document, str, str]
"""A method, tool or type: its document, the table that it is in, and its name."""


class Links:
    """The pages of some documents. Links are for pages two folders below the reference's top."""

    def __init__(self, documents: Documents, chosen: Sequence[Document]) -> None:
        self.documents = documents
        self.reader = documents.shapes
        """What types take, with everything followed."""
        self.chosen = chosen
        self._pages = {document.name for document in chosen}
        self._groups: dict[tuple[str, str], dict[str, Group]] = {}

    def kind(self, reference: Reference) -> str:
        """Return a link to a type; its bare name if another package has its page."""
        if reference.protocol not in self._pages:
            return f"`{reference.protocol}#{reference.name}`"
        return f"[{reference.name}]({self.entry(reference.protocol, '$defs', reference.name)})"

    def named(self, text: str, home: str) -> str:
        """Return a link to the type that `text` names in the document `home`."""
        return self.kind(resolve(text, home))

    def row(self, protocol: str, table: str, wire: str, anchor: str = "") -> str:
        """Return a link to the page of a method or tool, or to a field there."""
        text = f"`{wire}`" + (f" {anchor}" if anchor else "")
        target = self.entry(protocol, table, wire)
        return f"[{text}]({target}{'#' + anchor if anchor else ''})"

    @staticmethod
    def entry(protocol: str, table: str, name: str) -> str:
        """Return the place of the page of a method, a tool or a type."""
        folder, file = ("types", name) if table == "$defs" else (table, slug(name))
        return f"../../{protocol}/{folder}/{file}.md"

    def groups(self, document: Document, table: str) -> tuple[Group, ...]:
        """Return the groups of a table that is too large for one list, else nothing."""
        return tuple(dict.fromkeys(self._by_name(document, table).values()))

    def group(self, document: Document, table: str, name: str) -> Group | None:
        """Return the group that an entry of a table is in, None if the table has no groups."""
        return self._by_name(document, table).get(name)

    def _by_name(self, document: Document, table: str) -> dict[str, Group]:
        key = (document.name, table)
        if key not in self._groups:
            found = groups_of(table, document.table(table))
            self._groups[key] = {name: group for group in found for name in group.names}
        return self._groups[key]

    @staticmethod
    def group_link(document: Document, group: Group) -> str:
        """Return a link to the page of a group."""
        return f"[`{group.label}`](../../{document.name}/lists/{group.file}.md)"

    def entries(self, entries: Iterable[Entry]) -> list[str]:
        """Return links to entries, or to their groups with counts if there are many entries."""
        found = list(dict.fromkeys((one.name, table, name) for one, table, name in entries))
        if len(found) <= MANY:
            return [self._entry_link(*one) for one in found]
        counts = Counter(self._around(*one) for one in found)
        return [f"{link} ({count})" for link, count in counts.items()]

    def _entry_link(self, protocol: str, table: str, name: str) -> str:
        if table == "$defs":
            return self.kind(Reference(protocol, name))
        return self.row(protocol, table, name)

    def _around(self, protocol: str, table: str, name: str) -> str:
        """Return a link to the list that an entry is in."""
        document = self.documents[protocol]
        group = self.group(document, table, name)
        if group is not None:
            return self.group_link(document, group)
        word = "types" if table == "$defs" else table
        return f"[{word} of {document.content['title']}](../../{protocol}/README.md#{word})"

    @cached_property
    def sequences(self) -> dict[tuple[str, str, str], list[tuple[Document, str]]]:
        """The sequences that a row is part of, by its protocol, table and name on the wire."""
        found: dict[tuple[str, str, str], list[tuple[Document, str]]] = defaultdict(list)
        for document in self.chosen:
            for name in document.table("sequences"):
                for step in steps_of(document, self.documents, name):
                    home, table, wire = step.named
                    known = found[home.name, table, wire]
                    if (document, name) not in known:
                        known.append((document, name))
        return found

    def error(self, document: Document, text: str) -> tuple[str, str, str, str]:
        """Return a table's cells of the error that `text` names in `document`: first its code."""
        entry = error_entry(self.documents, document, text)
        name, protocol = entry["name"], entry["protocol"]
        if protocol in self._pages:
            name = f"[{name}](../../{protocol}/README.md#{name})"
        return f"`{entry['code']}`", name, protocol, entry["description"]

    @staticmethod
    def has_data(document: Document) -> bool:
        """Return whether the document has a page of data."""
        return bool(document.content.keys() & {*DATA, "http", "grpc"})

    @cached_property
    def uses(self) -> dict[Reference, list[tuple[Document, Place]]]:
        """The places that name a type, by type."""
        found: dict[Reference, list[tuple[Document, Place]]] = defaultdict(list)
        for document in self.chosen:
            for place, reference in document.references:
                found[reference].append((document, place))
        return found

    def sections(self, reference: Reference) -> list[str]:
        """Return the sections of the nearest messages and data that a type stands in.

        Those of its own protocol alone: a document says of messages where they are described.
        """
        seen, layer = {reference}, [reference]
        while layer:
            uses = [use for kind in layer for use in self.uses.get(kind, ())]
            own = [place for document, place in uses if document.name == reference.protocol]
            content = self.documents[reference.protocol].content
            found = dict.fromkeys(filter(None, (_section(content, place) for place in own)))
            if found:
                return list(found)
            around = {
                Reference(reference.protocol, str(one[1])) for one in own if one[0] == "$defs"
            }
            layer = sorted(around - seen)
            seen |= around
        return []

    def augments(
        self, kind: Reference, part: str, method: str
    ) -> Iterator[tuple[Document, dict[str, Any]]]:
        """Yield what is added to a type or, if it is one, to that part of a method."""
        for document, row, target, below in self.targets:
            to = row["to"]
            if target.kind is None:
                met = part != "" and to["every"] == part and kind.protocol in below
            else:
                met = target.kind == kind and to.get("part", part) == part
                met = met and target.method in (None, method)
            if met:
                yield document, row

    def target(self, target: AugmentTarget) -> str:
        """Return what an augment extends, with a link to its type if it is a message."""
        return target.label + (f" ({self.kind(target.kind)})" if target.kind else "")

    @cached_property
    def errors_by_code(self) -> dict[int, list[tuple[Document, str, dict[str, Any]]]]:
        """Every error by its code, each with its document and its name there."""
        found: dict[int, list[tuple[Document, str, dict[str, Any]]]] = defaultdict(list)
        for document in self.chosen:
            for name, entry in document.content["errors"].items():
                found[entry["code"]].append((document, name, entry))
        return dict(sorted(found.items()))

    @cached_property
    def returned_by(self) -> dict[tuple[str, str], list[Entry]]:
        """The methods and tools that may return an error, by its protocol and name."""
        found: dict[tuple[str, str], list[Entry]] = defaultdict(list)
        for document in self.chosen:
            for table in ("methods", "tools"):
                for wire, row in document.table(table).items():
                    for text in row.get("errors", ()):
                        entry = error_entry(self.documents, document, text)
                        found[entry["protocol"], entry["name"]].append((document, table, wire))
        return found

    @cached_property
    def targets(self) -> list[tuple[Document, dict[str, Any], AugmentTarget, set[str]]]:
        """Every augment, with what it extends and the protocols that its own one builds on."""
        found: list[tuple[Document, dict[str, Any], AugmentTarget, set[str]]] = []
        for document in self.chosen:
            below = {one.name for one in self.documents.extended(document)}
            for row in document.augments:
                target = target_of(document, self.documents, row["to"])
                if target is not None:
                    found.append((document, row, target, below))
        return found

    def users(self, reference: Reference) -> list[str]:
        """Return a link to each place that names the type, or to their groups if there are many."""
        uses = self.uses.get(reference, ())
        found = {self._user(document, place): (document, place) for document, place in uses}
        if len(found) <= MANY:
            return sorted(found)
        inside = {text for text, (_, place) in found.items() if place[0] in LISTED}
        entries = [
            (found[text][0], str(found[text][1][0]), str(found[text][1][1])) for text in inside
        ]
        return sorted({*self.entries(entries), *(found.keys() - inside)})

    def _user(self, document: Document, place: Place) -> str:
        table, entry = place[0], str(place[1])
        if table in ("methods", "tools"):
            return self.row(document.name, str(table), entry, str(place[2]))
        if table == "$defs":
            return self.kind(Reference(document.name, entry))
        if table == "errors":
            return f"error [{entry}](../../{document.name}/README.md#{entry})"
        if table == "augments":
            return f"what {document.name} [adds](../../{document.name}/README.md#augments)"
        if table == "offers":
            return f"[what the {entry} offers](../../{document.name}/README.md)"
        return f"[{table}](../../{document.name}/data.md)"


def _section(content: Any, place: Place) -> str:
    """Return the section that the innermost entry around a place gives; empty if none does."""
    found = ""
    for step in place:
        if isinstance(content, dict):
            found = content.get("section", found)
        content = content[step]
    return found
