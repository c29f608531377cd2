"""From an argument vector to one verb and its exit code; imports what that verb needs."""

from __future__ import annotations

__all__ = ("main",)

import os
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from contextlib import suppress

from kinwire import __version__
from kinwire_cli.extras import install_command, missing_extra
from kinwire_cli.failure import UsageError, did_you_mean, failure_of
from kinwire_cli.interruptions import Interruptions
from kinwire_cli.parser import Parser
from kinwire_cli.streams import give_up_stdout, prepare_streams, unwritten
from kinwire_cli.verb import Verb, load_verb, verb_names


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the verb that `arguments` (default: those of the process) name; return the exit code."""
    if "_ARGCOMPLETE" in os.environ:
        _complete()
    given = list(sys.argv[1:] if arguments is None else arguments)
    with Interruptions() as interruptions:
        try:
            prepare_streams()
            try:
                code = _run(given)
            finally:  # also where argparse has answered, as for --help
                sys.stdout.flush()
        except BrokenPipeError:  # the reader has left (`| head`)
            give_up_stdout()
            return 0
        except KeyboardInterrupt:
            interruptions.hush()
            return interruptions.exit_code
        except SystemExit:
            if interruptions.came:
                return interruptions.exit_code
            raise
        except Exception as error:
            return _failed(error)
    return code


def _failed(error: Exception) -> int:
    if sys.flags.dev_mode:
        raise error
    failure = failure_of(unwritten(error) or error)
    with suppress(OSError):  # stderr may be on the disk that is full
        print(failure.text, file=sys.stderr)
    return failure.exit_code


def _run(given: list[str]) -> int:
    if not given:
        _overview(given).print_help(sys.stderr)
        return 2
    if given[0].startswith("-"):
        if _overview(given).parse_args(given).version:  # --help ends here
            print(f"kinwire {__version__}")
            return 0
        raise UsageError("A verb comes first.", "kinwire --help lists the verbs.")
    name, *rest = given
    if name not in verb_names():
        hint = did_you_mean(name, verb_names(), "kinwire --help lists the verbs.")
        raise UsageError(f"There is no verb {name!r}.", hint)
    try:
        verb = load_verb(name)
        return verb().run(_parse(verb, rest))
    except ModuleNotFoundError as error:
        extra = missing_extra(error)
        if extra is None:
            raise
        raise UsageError(
            f"kinwire {name} needs the extra [{extra}], which is not installed.",
            install_command(extra),
        ) from None


def _parse(verb: type[Verb], words: list[str]) -> Namespace:
    parser = Parser(
        prog=f"kinwire {verb.name}",
        description=_sentence(verb),
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    verb.configure(parser)
    # What follows `--` is a command of its own, with options that are none of ours.
    cut = words.index("--") if "--" in words else len(words)
    parser.words = words[:cut]
    arguments, strays = parser.parse_known_intermixed_args(words[:cut])
    if strays:
        if "strays" not in arguments:
            parser.error(f"unrecognized arguments: {' '.join(strays)}")
        arguments.strays = words[words.index(strays[0]) : cut]
    if cut < len(words):
        if "command" not in arguments:
            parser.error("takes no command after --")
        arguments.command = words[cut + 1 :]
        if not arguments.command:
            parser.error("expected a command after --")
    return arguments


def _overview(words: list[str]) -> Parser:
    parser = Parser(
        prog="kinwire",
        usage="kinwire VERB ...",
        description="Typed protocol bindings, and peers that speak them.",
        epilog="verbs:\n" + "\n".join(_summaries()) + "\n\nkinwire VERB --help tells more.",
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    text = "show the version of kinwire, and end"
    parser.add_argument("--version", action="store_true", help=text)
    parser.words = words
    return parser


def _summaries() -> list[str]:
    lines: list[str] = []
    for name in verb_names():
        try:
            summary = load_verb(name).summary
        except ModuleNotFoundError as error:
            summary = f"(needs the extra [{missing_extra(error)}])"
        lines.append(f"  {name:10} {summary}")
    return lines


def _sentence(verb: type[Verb]) -> str:
    return verb.summary[:1].upper() + verb.summary[1:] + "."


def _complete() -> None:
    """Answer the shell, if the extra [cli] is there; does not return then."""
    try:
        import argcomplete
    except ModuleNotFoundError:
        return
    parser = ArgumentParser(prog="kinwire")
    verbs = parser.add_subparsers()
    for name in verb_names():
        try:
            verb = load_verb(name)
        except ModuleNotFoundError:
            continue
        verb.configure(verbs.add_parser(name, help=verb.summary))
    argcomplete.autocomplete(parser)
