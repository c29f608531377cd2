"""Messages between two sides as a picture."""

from __future__ import annotations

__all__ = ("sequence_svg",)

from html import escape

from kinwire_codegen.docs.reference.sequences import Arrow, Messages

WIDTH, LEFT, RIGHT = 640, 110, 530
TOP, STEP = 62, 46


def sequence_svg(messages: Messages) -> str:
    """Return the picture of messages in the order in which they are sent."""
    height = TOP + STEP * len(messages.arrows) + 14
    parts = [
        f'<svg class="sequence" viewBox="0 0 {WIDTH} {height}" role="img">',
        f"<title>{escape(messages.words)}</title>",
        *(_end(name, x, height) for name, x in zip(messages.ends, (LEFT, RIGHT), strict=True)),
    ]
    parts += [_arrow(number, arrow) for number, arrow in enumerate(messages.arrows)]
    return "".join([*parts, "</svg>"])


def _end(name: str, x: int, height: int) -> str:
    return (
        f'<line class="life" x1="{x}" y1="36" x2="{x}" y2="{height - 4}"/>'
        f'<rect class="end" x="{x - 80}" y="4" width="160" height="32" rx="7"/>'
        f'<text class="name" x="{x}" y="25">{escape(name)}</text>'
    )


def _arrow(number: int, arrow: Arrow) -> str:
    y = TOP + STEP * number + 14
    start, end = (LEFT, RIGHT) if arrow.to_server else (RIGHT, LEFT)
    tip = -9 if arrow.to_server else 9
    return (
        f'<g class="{arrow.kind}">{_often(y) if arrow.repeats else ""}'
        f'<line x1="{start}" y1="{y}" x2="{end + tip}" y2="{y}"/>'
        f'<path d="M{end} {y}l{tip} -5v10z"/>'
        f'<text x="{WIDTH // 2}" y="{y - 8}">{escape(arrow.label)}</text></g>'
    )


def _often(y: int) -> str:
    """Return the frame of a message that may come any number of times."""
    return (
        f'<rect class="often" x="{LEFT - 14}" y="{y - 27}" width="{RIGHT - LEFT + 28}"'
        f' height="40" rx="6"/><text class="times" x="{RIGHT + 22}" y="{y - 2}">0 … n</text>'
    )
