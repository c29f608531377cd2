"""Regenerate on each save, and say what changed and who breaks."""

from __future__ import annotations

__all__ = ("breaks", "differences", "watch")

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from kinwire_codegen.atomic_files import FileChange, apply_changes
from kinwire_codegen.commands.common import count
from kinwire_codegen.compare import compare
from kinwire_codegen.compare.verdict import Category, Level
from kinwire_codegen.load.document import TABLES, Documents
from kinwire_codegen.load.finding_lines import finding_lines
from kinwire_codegen.load.findings import DocumentError
from kinwire_codegen.load.stamps import Stamps, stamps

PAUSE = 0.2  # seconds between two looks; a handful of files costs microseconds

Make = Callable[[], tuple[Documents, int, list[FileChange]]]


def watch(folder: Path, make: Make, out: Path) -> None:
    """Generate now and after each save, until interrupted.

    `make` returns the documents, the number of files made and what must change in `out`.
    """
    before: Documents | None = None
    seen: Stamps | None = None
    while True:
        now = stamps(folder.glob("*.json"))
        if now != seen:
            seen = now
            before = _generate(make, out, before)
        time.sleep(PAUSE)


def _generate(make: Make, out: Path, before: Documents | None) -> Documents | None:
    """Return the documents that the output now stands for."""
    try:
        documents, _, found = make()
    except DocumentError as error:
        for line in finding_lines(error):
            _say(line)
        _say("nothing written; waiting for the next save")
        return before
    apply_changes(found, out)
    if before:
        for line in (*differences(before, documents), *breaks(before, documents)):
            _say(line)
    _say(f"{count(len(found), 'file')} written")
    return documents


def differences(before: Documents, after: Documents) -> Iterator[str]:
    """Yield a line for every named entry that was added, changed or removed.

    Of what has no names, such as augments, nothing is said; the files that changed are counted.
    """
    for name in sorted({*before.by_name, *after.by_name}):
        for table in TABLES:
            old = before[name].table(table) if name in before else {}
            new = after[name].table(table) if name in after else {}
            for entry in sorted({*old, *new}):
                if old.get(entry) != new.get(entry):
                    verb = "added" if entry not in old else "changed" if entry in new else "removed"
                    yield f"{name}.json {table} {entry}: {verb}"


def breaks(before: Documents, after: Documents) -> Iterator[str]:
    """Yield a line for every change that peers of the last save may notice."""
    for change in compare(before, after).of(Category.WIRE):
        if change.level is not Level.SAFE:
            victims = f". Breaks {', '.join(map(str, change.breaks))}" if change.breaks else ""
            level = change.level.name.lower()
            yield f"{change.protocol}.json {change.rule.id} {level}: {change.what}{victims}"


def _say(line: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {line}", flush=True)
