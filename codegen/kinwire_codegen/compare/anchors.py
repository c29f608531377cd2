"""Where the reference describes a place of a document, as `protocol/page.md#anchor`."""

from __future__ import annotations

__all__ = ("anchor_of",)

from kinwire_codegen.load.document import DATA, Document
from kinwire_codegen.load.findings import Place
from kinwire_codegen.load.names import anchor, slug

BINDINGS = {"http": "HTTP", "grpc": "gRPC"}


def anchor_of(document: Document, place: Place) -> str:
    """Return the page, and the anchor there, that is nearest to a place of `document`.

    A member of the params or the result of a single method is described on that method's page.
    """
    page = f"{document.name}/README.md"
    if len(place) < 2:
        return {"augments": f"{page}#augments"}.get(str(place[0]) if place else "", page)
    table, entry = str(place[0]), str(place[1])
    if table in ("methods", "tools"):
        part = place[2] if len(place) > 2 and place[2] in ("params", "result") else ""
        return f"{document.name}/{table}/{slug(entry)}.md" + (f"#{part}" if part else "")
    if table == "errors":
        return f"{page}#{entry}"
    if table == "augments":
        return f"{page}#augments"
    if table in DATA:
        return f"{document.name}/data.md#{anchor(entry)}"
    if table in BINDINGS:
        return f"{document.name}/data.md#{BINDINGS[table]}"
    return _type(document, entry, place) if table == "$defs" else page


def _type(document: Document, name: str, place: Place) -> str:
    member = _member(place)
    users = document.users.get(name, [])
    if len(users) == 1:
        table, wire, part = users[0]
        where = f"{part}.{member}" if member else part
        return f"{document.name}/{table}/{slug(wire)}.md#{where}"
    return f"{document.name}/types/{name}.md" + (f"#{member}" if member else "")


def _member(place: Place) -> str:
    """Return the member of the definition that a place is in; empty for the type itself."""
    steps = list(place[2:])
    while len(steps) > 1 and steps[0] == "allOf":  # the definition's own members may stand there
        steps = steps[2:]
    return str(steps[1]) if len(steps) > 1 and steps[0] == "properties" else ""
