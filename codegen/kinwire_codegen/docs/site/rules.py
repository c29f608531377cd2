"""Pages of the rules of `kinwire breaking`: one for each, and one that lists them."""

from __future__ import annotations

__all__ = ("rule_link", "rule_pages")

import json
from collections.abc import Iterator
from importlib.resources import files as resources
from typing import Any

from kinwire_codegen.compare.rules import RULES, Rule
from kinwire_codegen.compare.verdict import VERDICTS, Effect, Level, Way
from kinwire_codegen.docs.reference.blocks import (
    Block,
    Heading,
    Items,
    Page,
    TableBlock,
    Text,
)
from kinwire_codegen.docs.reference.parts import as_json

_SHORT = 80  # characters of an example on one line
_KINDS = {
    "B1": "Methods and tools",
    "B2": "Errors",
    "B3": "Types",
    "B4": "Added fields",
    "B5": "Data",
    "B6": "HTTP",
    "B7": "gRPC",
    "B8": "Protocols",
    "P1": "Bindings",
    "D1": "Texts",
}
"""What rules are about, by the begin of their ids."""


def rule_pages() -> Iterator[Page]:
    """Yield the page that lists the rules, and a page for each."""
    summary = "What `kinwire breaking` reports, and who breaks."
    blocks: list[Block] = [Text(summary)]
    for prefix in dict.fromkeys(rule.id[:2] for rule in RULES.values()):
        kind = _KINDS.get(prefix, prefix)
        rows = [
            (f"[{rule.id}](../../rules/{rule.id}.md)", rule.name, rule.title)
            for rule in RULES.values()
            if rule.id.startswith(prefix)
        ]
        blocks += [Heading(kind, anchor=prefix), TableBlock.of(("rule", "name", "meaning"), rows)]
    yield Page("rules/README", "Rules", "rules", summary, None, tuple(blocks))
    text = (resources("kinwire_codegen.compare.rules") / "examples.json").read_text("utf-8")
    examples = json.loads(text)
    for rule in RULES.values():
        blocks = [*_described(rule), *_example(examples.get(rule.id))]
        title = f"{rule.id} {rule.name}"
        yield Page(f"rules/{rule.id}", title, "rule", rule.title, None, tuple(blocks))


def rule_link(rule: Rule) -> str:
    """Return a link to the page of a rule."""
    return f"[{rule.id} {rule.name}](../../rules/{rule.id}.md)"


def _described(rule: Rule) -> Iterator[Block]:
    yield Text(f"{rule.title} {rule.why}")
    if rule.effect in (Effect.SAFE, Effect.STOPS):
        word = "safe" if rule.effect is Effect.SAFE else "breaking"
        yield Text(f"It is {word}: {rule.effect.value}.")
        return
    yield Text(f"{rule.effect.value[:1].upper()}{rule.effect.value[1:]}:")
    verdicts = []
    for way in Way:
        level, victims = VERDICTS.get((rule.effect, way), (Level.WARNING, ()))
        breaks = f" for {' and '.join(victims)}" if victims else ""
        verdicts.append(f"{way.value.partition(':')[0]}: **{level.name.lower()}**{breaks}")
    yield Items(tuple(verdicts))


def _example(example: dict[str, Any] | None) -> Iterator[Block]:
    if example is None:
        return
    yield Text(f"For example, at `{example['at'] or '/'}` of a document:")
    texts = {side: json.dumps(example[side]) for side in ("before", "after")}
    if all(len(text) <= _SHORT and "`" not in text for text in texts.values()):
        yield Items(tuple(f"{side}: `{text}`" for side, text in texts.items()))
        return
    for side in texts:
        yield as_json(example[side], side.title())
