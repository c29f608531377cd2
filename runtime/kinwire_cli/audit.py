"""`kinwire audit`: show, search and verify the audit log of a kernel."""

from __future__ import annotations

__all__ = ("AuditCommand",)

import sys
from argparse import ArgumentParser, Namespace
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from kinwire_cli.action_options import refuse_other_options
from kinwire_cli.audit_view import FILTERS, AuditFilter, known_values, shown_entry
from kinwire_cli.completion import completed_by
from kinwire_cli.failure import PROBLEMS_FOUND, UsageError
from kinwire_cli.kernel_state import kernel_state
from kinwire_cli.layout import counted, json_text, printable
from kinwire_cli.quantities import seconds_from

if TYPE_CHECKING:
    from kinwire.managers.hash_chain import ChainCheck
    from kinwire.storage import Entry, Log, Store

_USAGE = """\
kinwire audit tail (--store URL | --folder DIR) [--lines N] [--follow] [filters]
       kinwire audit search (--store URL | --folder DIR) [filters]
       kinwire audit verify (--store URL | --folder DIR) [--known SEQ:HASH]"""
_EPILOG = """\
Filters are --type, --agent, --server, --tool, --result, --trace and --since; an event is shown if
all of them fit. A * in a value stands for any characters. With --format json each event is a line,
and verify prints an object. verify names the newest record as SEQ:HASH. Keep that elsewhere and
pass it as --known later: so a log whose newest records were removed, or that was written again,
is found too.
"""
_LOG = "mgp-audit"
_PAGE = 1000
_PROBLEMS = 20  # that are shown


class AuditCommand:
    """`kinwire audit tail|search|verify --store URL`."""

    name: ClassVar[str] = "audit"
    summary: ClassVar[str] = "show, search or verify the audit log of a kernel"
    group: ClassVar[str] = "security"
    exit_codes: ClassVar[dict[int, str]] = {
        1: "verify: the log was changed or damaged",
        4: "the engine is locked or could not be reached",
    }
    examples: ClassVar[tuple[str, ...]] = (
        "kinwire audit tail --store sqlite:///kernel.db --follow",
        "kinwire audit search --store sqlite:///kernel.db --type TOOL_BLOCKED --since 2h",
        "kinwire audit search --folder audit --agent 'agent.*' --format json",
        "kinwire audit verify --store sqlite:///kernel.db",
    )

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the subcommand's arguments."""
        parser.usage, parser.epilog = _USAGE, _EPILOG
        parser.add_argument("action", choices=("tail", "search", "verify"))
        text = "the store of the kernel: sqlite:///file.db or nats://host:port"
        parser.add_argument("--store", metavar="URL", help=text)
        parser.add_argument("--folder", metavar="DIR", help="the folder of a LogFolder")
        text = f"the name of the log in the store (default: {_LOG})"
        parser.add_argument("--log", metavar="NAME", default=_LOG, help=text)
        text = "how long to wait for an engine that is locked or away (default: 10)"
        parser.add_argument(
            "--timeout", type=seconds_from, metavar="SECONDS", default=10.0, help=text
        )
        text = "tail: how many events to begin with (default: 10)"
        parser.add_argument("--lines", type=int, metavar="N", help=text)
        text = "tail: wait for more events"
        parser.add_argument("--follow", action="store_true", help=text)
        text = "verify: a record that the log must have"
        parser.add_argument("--known", metavar="SEQ:HASH", help=text)
        for name, text in FILTERS.items():
            option = parser.add_argument(f"--{name}", metavar=name.upper(), help=text)
            completed_by(option, partial(known_values, name))
        parser.add_argument("--format", choices=("text", "json"), default="text")

    def run(self, arguments: Namespace) -> int:
        """Do it; `verify` returns 1 if something is wrong."""
        from kinwire_cli.running import run

        _check(arguments)
        return run(_ACTIONS[arguments.action], arguments)


def _check(arguments: Namespace) -> None:
    """Refuse a command without a place to read, and options of other actions."""
    if (arguments.store is None) == (arguments.folder is None):
        text = f"audit {arguments.action} reads one log."
        raise UsageError(text, "Write --store URL, or --folder DIR.")
    owners = {"lines": ("tail",), "follow": ("tail",), "known": ("verify",)}
    refuse_other_options("audit", arguments, owners)
    filters = [name for name in FILTERS if getattr(arguments, name) is not None]
    if arguments.action == "verify" and filters:
        raise UsageError("audit verify takes no filters.", f"Leave out --{filters[0]}.")
    if arguments.lines is not None and arguments.lines < 0:
        raise UsageError("--lines: expected a number from 0.", "--lines 10")


class _Opened(NamedTuple):
    log: Log
    from_start: bool
    """Whether the first record must be the first of the chain: retention removes nothing."""


@asynccontextmanager
async def _opened(arguments: Namespace) -> AsyncGenerator[_Opened]:
    if arguments.folder is not None:
        log = _folder(arguments.folder)
        first, _ = await log.bounds()
        yield _Opened(log, from_start=first == 1)
        return
    async with kernel_state(arguments.store, arguments.timeout) as store:
        yield _Opened(*await _of_store(store, arguments.log))


def _folder(path: str) -> Log:
    from pathlib import Path

    from kinwire.storage import LogFolder

    if not Path(path).is_dir():
        raise UsageError(f"{path}: there is no such folder.", "Name an existing folder.")
    return LogFolder(path)


async def _of_store(store: Store, name: str) -> tuple[Log, bool]:
    logs = {one.name: one for one in await store.entries() if one.kind == "log"}
    if name not in logs:
        known = ", ".join(logs) or "none"
        raise UsageError(f"The store has no log {name!r}.", f"Its logs are: {known}.")
    kept = logs[name].retention
    log = await store.log(name, durable=logs[name].durable)
    first, _ = await log.bounds()
    bounded = kept is not None and (kept.max_age is not None or kept.max_entries is not None)
    return log, first == 1 or not bounded


async def _entries(log: Log, after: int = 0) -> AsyncIterator[Entry]:
    while page := await log.read(after=after, limit=_PAGE):
        for entry in page:
            yield entry
        after = page[-1].sequence


async def _tail(arguments: Namespace) -> int:
    wanted = AuditFilter(arguments)
    lines = 10 if arguments.lines is None else arguments.lines
    async with _opened(arguments) as (log, _):
        found, last = deque["Entry"](maxlen=lines), 0
        async for entry in _entries(log):
            last = entry.sequence
            if wanted.fits(entry):
                found.append(entry)
        for entry in found:
            print(shown_entry(entry, arguments.format))
        if not found and not arguments.follow:
            print("there are no events", file=sys.stderr)
        if arguments.follow:
            await _follow(log, last, wanted, arguments.format)
    return 0


async def _follow(log: Log, last: int, wanted: AuditFilter, form: str) -> None:
    async with log.follow(after=last) as entries:
        async for entry in entries:
            if wanted.fits(entry):
                print(shown_entry(entry, form), flush=True)


async def _search(arguments: Namespace) -> int:
    wanted, count = AuditFilter(arguments), 0
    async with _opened(arguments) as (log, _):
        async for entry in _entries(log):
            if wanted.fits(entry):
                count += 1
                print(shown_entry(entry, arguments.format))
    print(counted(count, "event"), file=sys.stderr)
    return 0


async def _verify(arguments: Namespace) -> int:
    from kinwire.managers.hash_chain import ChainCheck, head_of

    known = _known(arguments.known)
    problems: list[str] = []
    checked, seen = 0, False
    async with _opened(arguments) as (log, from_start):
        check = ChainCheck(from_start=from_start)
        async for entry in _entries(log):
            checked += 1
            found = check.problem(entry.subject, entry.value)
            if found is not None:
                problems.append(f"seq {found[0]} (entry {entry.sequence}) {found[1]}")
            seen = seen or head_of(entry.value) == known
    if known is not None and not seen:
        problems.append(f"seq {known[0]}: the log lacks the record that --known names")
    _print_check(check, checked, problems, arguments.format)
    print("the log was changed or damaged" if problems else "nothing is wrong", file=sys.stderr)
    return PROBLEMS_FOUND if problems else 0


def _print_check(check: ChainCheck, checked: int, problems: Sequence[str], form: str) -> None:
    head = None if check.head is None or not check.head.seq else check.head
    newest = None if head is None else f"{head.seq}:{head.hash}"
    if form == "json":
        found = {"records": checked, "first": check.first, "head": newest, "problems": problems}
        print(json_text(found))
        return
    for problem in problems[:_PROBLEMS]:
        print(printable(problem))
    if len(problems) > _PROBLEMS:
        print(f"and {len(problems) - _PROBLEMS} more")
    print(counted(checked, "record"), *([] if check.first is None else [f"from {check.first}"]))
    if newest is not None:
        print(printable(f"head {newest}"))


def _known(text: str | None) -> tuple[int, str] | None:
    if text is None:
        return None
    seq, _, digest = text.partition(":")
    if not seq.isdecimal() or not digest:
        raise UsageError("--known: expected SEQ:HASH.", "Copy it from what verify prints.")
    return int(seq), digest


_ACTIONS: dict[str, Callable[[Namespace], Awaitable[int]]] = {
    "tail": _tail,
    "search": _search,
    "verify": _verify,
}
