"""The pages that lead to the others: one for each protocol, and the first of all."""

from __future__ import annotations

__all__ = ("protocol_page", "start_page")

from collections import defaultdict
from collections.abc import Iterator

from kinwire_codegen.augmented import target_of
from kinwire_codegen.document import Document
from kinwire_codegen.names import class_name
from kinwire_codegen.package import OWNED
from kinwire_codegen.reference.links import Links
from kinwire_codegen.reference.parts import cell, decision, head, table, told


def start_page(links: Links) -> str:
    """Return the first page: the protocols, and every code with all its meanings."""
    lines = ["# Reference", "", f"<!-- Generated from the documents {OWNED}. -->", ""]
    rows = [
        (
            f"[{document.content['title']}]({document.name}/README.md)",
            cell(document.content["version"]),
            str(len(document.content["methods"])),
            str(len(document.table("tools"))),
            str(len(document.definitions)),
        )
        for document in links.chosen
    ]
    lines += table(("protocol", "version", "methods", "tools", "types"), rows)
    return "\n".join([*lines, *_codes(links)])


def _codes(links: Links) -> Iterator[str]:
    meanings: dict[int, list[str]] = defaultdict(list)
    for document in links.chosen:
        for name, error in document.content["errors"].items():
            place = f"{document.name}/README.md#{name}"
            meanings[error["code"]].append(f"[{document.name} {name}]({place})")
    if not meanings:
        return
    yield from ("## Error codes", "")
    yield "One code may mean different things in different protocols; nothing maps a code alone."
    yield ""
    rows = [
        (f"`{code}`", ", ".join(names), "several meanings" if len(names) > 1 else "")
        for code, names in sorted(meanings.items())
    ]
    yield from table(("code", "errors", ""), rows)


def protocol_page(links: Links, document: Document) -> str:
    """Return the page that leads to everything of one protocol."""
    content = document.content
    lines = [*head(f"{content['title']} {content['version']}", document)]
    lines += [content["description"], "", *decision(content), *_offers(links, document)]
    lines += [*_rows(links, document), *_augments(links, document), *_errors(links, document)]
    if links.has_data(document):
        lines += [
            "## Data",
            "",
            "Tables, limits and bindings are on [a page of their own](data.md).",
            "",
        ]
    lines += ["## Types", ""]
    lines += [f"- [{name}](types/{name}.md)" for name in document.definitions]
    # What links make is for pages two folders down; this one is one folder down.
    return "\n".join([*lines, ""]).replace("](../../", "](../")


def _offers(links: Links, document: Document) -> Iterator[str]:
    capability = document.content.get("capability")
    if capability is None:
        return
    aliases = document.content.get("capabilityAliases", ())
    also = f", also read at {', '.join(f'`{one}`' for one in aliases)}" if aliases else ""
    yield f"Offered in `initialize` at `capabilities.{capability}`{also}."
    yield ""
    for role, kind in document.content.get("offers", {}).items():
        name = document.content["roles"][role]
        yield f"- What a {name} offers: {links.named(kind, document.name)}."
    yield ""


def _rows(links: Links, document: Document) -> Iterator[str]:
    for name, title in (("methods", "Methods"), ("tools", "Tools")):
        rows = [
            (
                links.row(document.name, name, wire),
                row.get("kind", "tool"),
                row.get("from", "client"),
                f"`{row['gate']}`" if row.get("gate") else "",
                cell(row["section"]),
                cell(row.get("status", "")),
                cell(row["summary"]),
            )
            for wire, row in document.table(name).items()
        ]
        if rows:
            yield from (f"## {title}", "")
            columns = (name[:-1], "kind", "sent by", "gate", "section", "status", "meaning")
            yield from table(columns, rows)


def _augments(links: Links, document: Document) -> Iterator[str]:
    rows = []
    for row in document.augments:
        target = target_of(document, links.documents, row["to"])
        where = target.label if target else ""
        if target and target.kind:
            where += f" ({links.kind(target.kind)})"
        kind = links.named(row["schema"]["$ref"], document.name)
        errors = ", ".join(row.get("errors", ()))
        rows.append(
            (
                where,
                f"`{row['member']}`",
                kind,
                row["from"],
                cell(row["section"]),
                errors,
                told(row, "summary"),
            )
        )
    if rows:
        yield '## <a id="augments"></a>What it adds to other messages'
        yield ""
        columns = ("to", "member", "type", "written by", "section", "errors", "meaning")
        yield from table(columns, rows)


def _errors(links: Links, document: Document) -> Iterator[str]:
    rows = []
    for name, error in document.content["errors"].items():
        data = f" Data: {links.named(error['data'], document.name)}." if "data" in error else ""
        rows.append(
            (
                f"`{error['code']}`",
                f'<a id="{name}"></a>{name}',
                f"`{document.module}.{class_name(name)}`",
                cell(error["message"]),
                told(error, "description") + data,
            )
        )
    if rows:
        yield from ("## Errors", "")
        yield from table(("code", "error", "class", "message", "meaning"), rows)
