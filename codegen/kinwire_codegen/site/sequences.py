"""A message between two ends as a picture: who sends what, and what comes back."""

from __future__ import annotations

__all__ = ("sequence_svg",)

from html import escape
from typing import Any

WIDTH, LEFT, RIGHT = 640, 110, 530
TOP, STEP = 62, 46


def sequence_svg(facts: dict[str, Any]) -> str:
    """Return the picture of the facts that a page of a method gives."""
    arrows = list(_arrows(facts))
    height = TOP + STEP * len(arrows) + 14
    client, server = (escape(facts["roles"][role]) for role in ("client", "server"))
    parts = [
        f'<svg class="sequence" viewBox="0 0 {WIDTH} {height}" role="img">',
        f"<title>{escape(_told(facts))}</title>",
        *(_end(name, x, height) for name, x in ((client, LEFT), (server, RIGHT))),
    ]
    parts += [_arrow(number, *arrow) for number, arrow in enumerate(arrows)]
    return "".join([*parts, "</svg>"])


def _arrows(facts: dict[str, Any]) -> list[tuple[str, bool, str]]:
    """Return each arrow: its label, whether it goes to the server, and its class."""
    to_server = facts["from"] != "server"
    name = facts["name"]
    label = f"tools/call {name}" if facts["kind"] == "tool" else name
    found = [(label, to_server, "call")]
    if facts["from"] == "both":
        found.append((f"{label} (the other way round)", False, "call"))
    if facts["result"] is not None:
        asked = " (if it was a request)" if facts["kind"] == "either" else ""
        found.append((f"{facts['result']}{asked}", not to_server, "back"))
    if facts["fails"] and facts["kind"] != "notification":
        found.append(("or an error", not to_server, "fail"))
    return found


def _told(facts: dict[str, Any]) -> str:
    ends = facts["roles"]["client"], facts["roles"]["server"]
    sender, receiver = ends if facts["from"] != "server" else ends[::-1]
    told = f"{sender} sends {facts['name']} to {receiver}"
    if facts["from"] == "both":
        told = f"either end sends {facts['name']}"
    return told + (f", which answers with {facts['result']}" if facts["result"] else "")


def _end(name: str, x: int, height: int) -> str:
    return (
        f'<line class="life" x1="{x}" y1="36" x2="{x}" y2="{height - 4}"/>'
        f'<rect class="end" x="{x - 80}" y="4" width="160" height="32" rx="7"/>'
        f'<text class="name" x="{x}" y="25">{name}</text>'
    )


def _arrow(number: int, label: str, to_server: bool, kind: str) -> str:
    y = TOP + STEP * number + 14
    start, end = (LEFT, RIGHT) if to_server else (RIGHT, LEFT)
    tip = -9 if to_server else 9
    return (
        f'<g class="{kind}"><line x1="{start}" y1="{y}" x2="{end + tip}" y2="{y}"/>'
        f'<path d="M{end} {y}l{tip} -5v10z"/>'
        f'<text x="{WIDTH // 2}" y="{y - 8}">{escape(label)}</text></g>'
    )
