"""`kinwire events`: read and publish events of MCPE, and look at a server's subscriptions."""

from __future__ import annotations

__all__ = ("EventsCommand",)

from argparse import ArgumentParser, Namespace
from typing import ClassVar

from kinwire_cli.action_options import refuse_other_options
from kinwire_cli.failure import UsageError
from kinwire_cli.help import SERVER_CODES
from kinwire_cli.kernel_state import STORE_TIMEOUT
from kinwire_cli.target import add_target, target_from

_USAGE = """\
kinwire events tail [FILE.py[:SERVER] | URL] [--type TYPE ...] [--tag TAG ...]
                    [--priority PRIORITY ...] [--count N] [--format text|json] [-- command ...]
       kinwire events publish URL TYPE --secret VARIABLE [--data JSON] [--tag TAG ...]
                    [--priority PRIORITY] [--source-id ID]
       kinwire events subscriptions --store URL [--records NAME] [--format text|json]
       kinwire events dead list --store URL [--records NAME] [--format text|json]
       kinwire events dead retry (ID ... | --all) --store URL [--records NAME]"""
_EPILOG = """\
tail subscribes and prints each event until it is interrupted. publish posts to an EventIngest,
signed with the secret in VARIABLE of the environment. The others read the records of a server's
store. dead retry has the server try again what a handler could not do, now or when it starts.
"""
_MANY = 1000
_EXPECTED = {
    "tail": "one server",
    "publish": "a URL and a type, as notes.saved",
    "subscriptions": "options only",
    "dead": "list, or retry and IDs or --all",
}
_WORDS = {"tail": (0, 1), "publish": (2, 2), "subscriptions": (0, 0), "dead": (1, _MANY)}


class EventsCommand:
    """`kinwire events tail|publish|subscriptions|dead`."""

    name: ClassVar[str] = "events"
    summary: ClassVar[str] = "read and publish events of MCPE, or look at subscriptions"
    group: ClassVar[str] = "use a server"
    exit_codes: ClassVar[dict[int, str]] = SERVER_CODES
    examples: ClassVar[tuple[str, ...]] = (
        "kinwire events tail http://127.0.0.1:8000/mcp --type 'github.*'",
        "kinwire events publish http://127.0.0.1:8000/events notes.saved --secret SECRET",
        "kinwire events dead list --store sqlite:///events.db",
        "kinwire events dead retry --all --store sqlite:///events.db",
    )

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the subcommand's arguments."""
        parser.usage, parser.epilog = _USAGE, _EPILOG
        parser.add_argument("action", choices=tuple(_WORDS))
        parser.add_argument("words", nargs="*", metavar="WORD", help="see above")
        text = "tail: a type that is printed, as github.push or github.* (default: all)"
        parser.add_argument("--type", action="append", metavar="TYPE", help=text)
        text = "tail: a tag of events that are printed; publish: one of the event"
        parser.add_argument("--tag", action="append", metavar="TAG", help=text)
        text = "low, normal, high or critical"
        parser.add_argument("--priority", action="append", metavar="PRIORITY", help=text)
        text = "tail: end after N events"
        parser.add_argument("--count", type=int, metavar="N", help=text)
        text = "publish: the data, a JSON object (default: {})"
        parser.add_argument("--data", metavar="JSON", help=text)
        text = "publish: the id that the event has where it comes from"
        parser.add_argument("--source-id", metavar="ID", help=text)
        text = "publish: the variable of the environment with the secret"
        parser.add_argument("--secret", metavar="VARIABLE", help=text)
        text = "the store of the server: sqlite:///file.db or nats://host:port"
        parser.add_argument("--store", metavar="URL", help=text)
        text = "the name of the records in the store (default: mcpe)"
        parser.add_argument("--records", metavar="NAME", help=text)
        parser.add_argument("--all", action="store_true", help="dead retry: all dead letters")
        parser.add_argument("--format", choices=("text", "json"))
        _add_server(parser)

    def run(self, arguments: Namespace) -> int:
        """Do it."""
        _check(arguments)
        if arguments.timeout is None:
            at_store = arguments.action in ("subscriptions", "dead")
            arguments.timeout = STORE_TIMEOUT if at_store else arguments.answer_timeout
        if arguments.action == "tail":
            from kinwire_cli.events_wire import tail

            named = arguments.words[0] if arguments.words else None
            return tail(target_from(named, arguments), arguments)
        if arguments.action == "publish":
            from kinwire_cli.events_wire import publish

            url, event_type = arguments.words
            return publish(url, event_type, arguments)
        from kinwire_cli.events_store import dead_letters, subscriptions

        return (subscriptions if arguments.action == "subscriptions" else dead_letters)(arguments)


def _add_server(parser: ArgumentParser) -> None:
    """Add what says how a server is reached. `--timeout` is also how long a store is waited for."""
    add_target(parser)
    answer = parser.get_default("timeout")
    parser.set_defaults(timeout=None, answer_timeout=answer)


def _check(arguments: Namespace) -> None:
    """Refuse words and options that are missing, or that the action does not take."""
    action, words = arguments.action, arguments.words
    least, most = _WORDS[action]
    if not least <= len(words) <= most or (arguments.command is not None and action != "tail"):
        raise UsageError(f"events {action}: expected {_EXPECTED[action]}.", "kinwire help events")
    owners = {
        "type": ("tail",),
        "count": ("tail",),
        "tag": ("tail", "publish"),
        "priority": ("tail", "publish"),
        "data": ("publish",),
        "source_id": ("publish",),
        "secret": ("publish",),
        "store": ("subscriptions", "dead"),
        "records": ("subscriptions", "dead"),
        "all": ("dead",),
        "format": ("tail", "subscriptions", "dead"),
    }
    refuse_other_options("events", arguments, owners)
    needed = {"publish": "secret", "subscriptions": "store", "dead": "store"}.get(action)
    if needed is not None and getattr(arguments, needed) is None:
        raise UsageError(f"events {action} needs --{needed}.", "kinwire help events")
    if needed == "store" and (arguments.header or arguments.insecure or arguments.proxy):
        raise UsageError("--header, --proxy and --insecure are for a URL.", "Leave them out.")
    if arguments.count is not None and arguments.count < 1:
        raise UsageError("--count: expected a number from 1.", "--count 10")
    if action == "publish" and len(arguments.priority or ()) > 1:
        raise UsageError("An event has one priority.", "Leave the others out.")
