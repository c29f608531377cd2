"""The examples on the pages of rules are excerpts of the single edits.

    python -m tests.codegen.compare.rule_examples

writes them: for each rule the shortest edit that it reports. A rule without an edit has no example.
"""

from __future__ import annotations

__all__ = ("EXAMPLES", "Example", "every_edit", "excerpt", "rules_of")

import json
from pathlib import Path
from typing import Any, NamedTuple

import kinwire_codegen.compare.rules
from kinwire_codegen.load.findings import pointer
from tests.codegen.compare.documents import against
from tests.codegen.compare.single_edits import Edit, edits_of_documents, edits_of_types

EXAMPLES = Path(kinwire_codegen.compare.rules.__file__).with_name("examples.json")
_ABSENT = object()


class Example(NamedTuple):
    """What an edit changes, without what is around it."""

    at: str
    before: Any
    after: Any


def every_edit() -> dict[str, Edit]:
    """Return all single edits by name."""
    return {edit.name: edit for edit in (*edits_of_types(), *edits_of_documents())}


def rules_of(edit: Edit) -> set[str]:
    """Return the rules that report an edit."""
    return {change.rule.id for change in against(edit.old, edit.new).changes}


def excerpt(edit: Edit) -> Example:
    """Return the innermost object that differs, with the fields of it that do."""
    place: tuple[str, ...] = ()
    old, new = edit.old, edit.new
    if "" not in edit.verdicts:  # the same type four times
        place, old, new = ("$defs", "Params"), old["$defs"]["Params"], new["$defs"]["Params"]
    while True:
        changed = _changed(old, new)
        key = changed[0] if len(changed) == 1 else None
        if key is None or not (isinstance(old.get(key), dict) and isinstance(new.get(key), dict)):
            break
        place, old, new = (*place, key), old[key], new[key]
    before, after = ({key: one[key] for key in changed if key in one} for one in (old, new))
    return Example(pointer(*place), before, after)


def _changed(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    names = dict.fromkeys((*old, *new))
    return [name for name in names if old.get(name, _ABSENT) != new.get(name, _ABSENT)]


def main() -> None:
    """Write the examples."""
    best: dict[str, tuple[int, str, Example]] = {}
    for name, edit in every_edit().items():
        found = rules_of(edit)
        example = excerpt(edit)
        if example.before == example.after:  # `1` and `true` are equal in Python
            continue
        size = len(json.dumps(example)) + 100 * len(found)
        for rule in found:
            best[rule] = min(
                best.get(rule, (size, name, example)),
                (size, name, example),
                key=lambda one: one[:2],
            )
    content = {
        rule: best[rule][2]._asdict()
        for rule in kinwire_codegen.compare.rules.RULES
        if rule in best
    }
    lines = (f"  {json.dumps(rule)}: {json.dumps(one)}" for rule, one in content.items())
    EXAMPLES.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
