"""`kinwire replay`: play one side of a recording, check the other. `recording/` has the parts."""

from __future__ import annotations

__all__ = ("ReplayCommand",)

import json
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, ClassVar, TextIO

from kinwire_cli.failure import PROBLEMS_FOUND, UsageError
from kinwire_cli.help import SERVER_CODES
from kinwire_cli.layout import printable
from kinwire_cli.target import add_target, handshake_error, target_from

if TYPE_CHECKING:
    from kinwire_cli.recording.playback import Playback, ReplayOutcome
    from kinwire_cli.validation.validator import Side

_USAGE = """\
kinwire replay FILE.jsonl [FILE.py[:SERVER] | URL] [--header HEADER] [--proxy URL]
                      [-- command ...]
       kinwire replay FILE.jsonl --as server"""
_EPILOG = """\
The client's side is played against a server, or the server's side against the client that starts
this command; then the report goes to stderr. Requests and answers of the other side are compared
with the recorded ones and validated by the schema; notifications are validated and counted.
"""
_TIMEOUT = 10.0  # seconds
_FRAME_SIZE = 64 * 1024 * 1024  # bytes: a recording may come from a host that reads more


class ReplayCommand:
    """`kinwire replay FILE.jsonl [FILE.py] [-- command ...]`."""

    name: ClassVar[str] = "replay"
    summary: ClassVar[str] = "play one side of a recording and check the other"
    group: ClassVar[str] = "recordings"
    exit_codes: ClassVar[dict[int, str]] = {1: "a message differs or is invalid", **SERVER_CODES}
    examples: ClassVar[tuple[str, ...]] = (
        "kinwire replay session.jsonl notes.py",
        "kinwire replay session.jsonl --ignore '/result/serverInfo/version' notes.py",
        "kinwire call add_note text=Tea -- kinwire replay session.jsonl --as server",
    )

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the subcommand's arguments."""
        parser.usage, parser.epilog = _USAGE, _EPILOG
        parser.add_argument("file", metavar="FILE.jsonl", help="as kinwire tap records it")
        parser.add_argument(
            "server", nargs="?", metavar="FILE.py | URL", help="the server to check"
        )
        text = "the side that is played (default: client)"
        parser.add_argument(
            "--as", dest="side", choices=("client", "server"), default="client", help=text
        )
        text = "a member that may differ, as the report shows it; * is any one step"
        parser.add_argument(
            "--ignore", action="append", default=[], metavar="[METHOD#]POINTER", help=text
        )
        parser.add_argument("--format", choices=("text", "json"), default="text")
        add_target(parser, _TIMEOUT, frame_size=_FRAME_SIZE)

    def run(self, arguments: Namespace) -> int:
        """Print what is to be said of each message of the other side; return 1 on a finding."""
        playback = _playback(arguments)
        if arguments.side == "client":
            _play_client(playback, arguments)
            stream = sys.stdout
        else:
            _play_server(playback, arguments)
            stream = sys.stderr  # stdout is the protocol's
        _print(arguments.file, playback.outcomes, arguments.format, stream)
        counts = Counter(outcome.verdict for outcome in playback.outcomes)
        summary = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
        print(summary or "nothing to compare", file=sys.stderr)
        return 0 if all(outcome.good for outcome in playback.outcomes) else PROBLEMS_FOUND


def _playback(arguments: Namespace) -> Playback:
    from kinwire_cli.protocols import protocol_tables
    from kinwire_cli.recording.lines import steps_of
    from kinwire_cli.recording.messages import Ignored
    from kinwire_cli.recording.playback import Playback
    from kinwire_cli.validation.validator import MessageValidator

    file: str = arguments.file
    side: Side = arguments.side
    ignored = [Ignored.from_text(text) for text in arguments.ignore]
    try:
        with open(file, "rb") as lines:
            steps = list(steps_of(file, lines))
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}.", "Name a file that can be read.") from None
    if not any(step.sender == side for step in steps):
        raise UsageError(f"{file}: nothing in it is from the {side}, so there is nothing to play.")
    return Playback(
        steps, side, MessageValidator(protocol_tables().values(), lenient=True), ignored
    )


def _play_client(playback: Playback, arguments: Namespace) -> None:
    from kinwire_cli.recording.replaying import replayed
    from kinwire_cli.running import run

    target = target_from(arguments.server, arguments)

    async def play() -> None:
        ended = await replayed(playback, target.transport, target.limits, stays=False)
        if ended is not None and not playback.heard:
            raise handshake_error(target, ended)

    run(play)


def _play_server(playback: Playback, arguments: Namespace) -> None:
    from kinwire.rpc.limits import Limits
    from kinwire.transports.stdio import OwnStdio
    from kinwire_cli.recording.replaying import replayed
    from kinwire_cli.running import run

    if arguments.server is not None or arguments.command is not None:
        raise UsageError(
            "A server is named, and one is played.", "Leave out --as server, or the server."
        )

    async def play() -> None:
        limits = Limits(request_timeout=arguments.timeout, frame_size=arguments.frame_size)
        await replayed(playback, OwnStdio(), limits, stays=True)

    run(play)


def _print(file: str, outcomes: Iterable[ReplayOutcome], form: str, stream: TextIO) -> None:
    for line in _json(outcomes) if form == "json" else _text(file, list(outcomes)):
        print(printable(line), file=stream)


def _json(outcomes: Iterable[ReplayOutcome]) -> Iterator[str]:
    yield from (json.dumps(outcome.to_json(), ensure_ascii=False) for outcome in outcomes)


def _text(file: str, outcomes: list[ReplayOutcome]) -> Iterator[str]:
    """Yield the lines; what is missing since the other side had left is one of them."""
    left = [outcome for outcome in outcomes if outcome.at_end]
    for outcome in outcomes:
        if not outcome.at_end or len(left) == 1:
            yield from _lines(file, outcome)
        elif outcome is left[0]:
            yield _left_out(file, left)


def _left_out(file: str, left: list[ReplayOutcome]) -> str:
    methods = Counter(str(outcome.method) for outcome in left)
    missing = ", ".join(f"{method} {count}" for method, count in methods.items())
    why = left[0].problems[0].got
    return f"{file}:{left[0].line}: from here on {len(left)} missing ({missing}), got {why}"


def _lines(file: str, outcome: ReplayOutcome) -> Iterable[str]:
    where = file if outcome.line is None else f"{file}:{outcome.line}"
    what = outcome.method or "a line"
    kind = "" if outcome.kind in ("response", None) else f" ({outcome.kind})"
    yield f"{where}: {what}{kind}: {outcome.verdict}"
    for problem in outcome.problems:
        yield f"    {problem}".replace("    : ", "    ")
