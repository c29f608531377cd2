"""`docs/peers.md` as `cells.py` and the pins have it.

usage: python -m tests.interop.table, which writes what is between the two marks there.
"""

from __future__ import annotations

__all__ = ("DOCUMENT", "MARKS", "written")

import json
import re
from collections.abc import Mapping
from pathlib import Path
from string import ascii_lowercase

from tests.interop.cells import CLIENTS, METHODS, SERVERS, Peer, reason
from tests.interop.expected import KEPT
from tests.interop.peers import HERE

DOCUMENT = Path(__file__).parents[2] / "docs" / "peers.md"
MARKS = "<!-- begin of the tables -->\n", "<!-- end of the tables -->\n"


def pins() -> dict[str, str]:
    """Return the version of each package that is pinned, of several of one name all."""
    found = dict(json.loads((HERE / "package.json").read_text(encoding="utf-8"))["dependencies"])
    for file in sorted(HERE.glob("requirements-*.txt")):
        name, _, version = file.read_text(encoding="utf-8").split()[0].partition("==")
        found[f"mcp {version[0]}" if name == "mcp" else name] = version
    return found


def tables() -> str:
    """Return the tables of all peers, and below each the reasons in it."""
    heads = {
        "Third-party clients, kinwire server": CLIENTS,
        "Third-party servers, kinwire host": SERVERS,
    }
    parts = [f"## {title}\n\n{_table(peers)}" for title, peers in heads.items()]
    return "\n".join([*parts, f"## Fields that MCP does not define\n\n{_kept()}"])


def _table(peers: Mapping[str, Peer]) -> str:
    versions = pins()
    columns = [f"{peer.title} ({versions[peer.package]})" for peer in peers.values()]
    reasons = {why: None for peer in peers.values() for why in peer.without}
    letters = dict(zip(reasons, ascii_lowercase, strict=False))
    lines = [_row(["method", *columns]), _row(["---"] * (len(columns) + 1))]
    for method in METHODS:
        whys = [reason(peer, method) for peer in peers.values()]
        lines.append(_row([method, *("yes" if w is None else letters[w] for w in whys)]))
    notes = [f"- {letter}: {why}." for why, letter in letters.items()]
    return "\n".join([*lines, "", *notes, ""])


def _kept() -> str:
    members = list(next(iter(KEPT.values())))
    lines = [_row(["client", *(f"`{name}`" for name in members)]), _row(["---"] * 5)]
    lines.append(_row(["kinwire", *["kept"] * len(members)]))
    for client, kept in KEPT.items():
        shown = ("kept" if kept[member] else "lost" for member in members)
        lines.append(_row([CLIENTS[client].title, *shown]))
    return "\n".join([*lines, ""])


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def written(text: str) -> str:
    """Return the document with the tables as they have to be."""
    begin, end = map(re.escape, MARKS)
    whole = f"{MARKS[0]}\n{tables()}\n{MARKS[1]}"
    return re.sub(f"{begin}.*{end}", lambda _: whole, text, flags=re.DOTALL)


if __name__ == "__main__":
    text = DOCUMENT.read_text(encoding="utf-8")
    DOCUMENT.write_text(written(text), encoding="utf-8")
