"""From an argument vector to one subcommand and its exit code; only its imports are loaded."""

from __future__ import annotations

__all__ = ("main",)

import os
import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import IO, NoReturn

from kinwire import __version__
from kinwire_cli.failure import USAGE, UsageError, did_you_mean, failure_of
from kinwire_cli.help import HelpFormatter, epilog_of, overview_epilog, with_headings
from kinwire_cli.layout import one_line, with_labels
from kinwire_cli.process import Interruptions, give_up_stdout, prepare_streams, unwritten
from kinwire_cli.subcommand import Subcommand, is_subcommand, load_subcommand, subcommand_names


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the subcommand that `arguments` name (default: sys.argv); return the exit code."""
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
        print(with_labels(failure.text), file=sys.stderr)
    return failure.exit_code


def _run(given: list[str]) -> int:
    if not given:
        _overview(given).print_help(sys.stderr)
        return USAGE
    if given[0] == "help":
        given = _help_words(given[1:])
    if {*given} == {"--version"}:
        print(f"kinwire {__version__}")
        return 0
    if given[0].startswith("-"):
        _overview(given).parse_args(given)  # --help ends here
        raise UsageError("A subcommand comes first.", "kinwire --help lists the subcommands.")
    name, *rest = given
    if not is_subcommand(name):
        names = (*subcommand_names(), "help")
        hint = did_you_mean(name, names, "kinwire --help lists the subcommands.")
        raise UsageError(f"There is no subcommand {name!r}.", hint)
    try:
        subcommand = load_subcommand(name)
        return subcommand().run(_parse(subcommand, rest))
    except ModuleNotFoundError as error:
        # It loads importlib.metadata, which takes longer than most subcommands.
        from kinwire_cli.extras import install_command, missing_extra

        extra = missing_extra(error)
        if extra is None:
            raise
        raise UsageError(
            f"kinwire {name} needs the extra [{extra}], which is not installed.",
            install_command(extra),
        ) from None


def _help_words(asked: list[str]) -> list[str]:
    """Return the words that `kinwire help ...` stands for."""
    if len(asked) > 1:
        raise UsageError("kinwire help takes one subcommand.", f"kinwire help {asked[0]}")
    return [*asked, "--help"]


def _parse(subcommand: type[Subcommand], words: list[str]) -> Namespace:
    parser = Parser(
        prog=f"kinwire {subcommand.name}",
        description=_sentence(subcommand),
        formatter_class=HelpFormatter,
        allow_abbrev=False,
    )
    subcommand.configure(parser)
    parser.epilog = epilog_of(subcommand, parser.epilog)
    # What follows `--` is another command with its own options.
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
        usage="kinwire SUBCOMMAND ...",
        description="Typed protocol bindings, and peers that speak them.",
        epilog=overview_epilog(_summaries()),
        formatter_class=HelpFormatter,
        allow_abbrev=False,
    )
    text = "show the version of kinwire, and end"
    parser.add_argument("--version", action="store_true", help=text)
    parser.words = words
    return parser


def _summaries() -> Iterator[tuple[str, str, str]]:
    """Yield group, name and summary of each subcommand."""
    for name in subcommand_names():
        try:
            subcommand = load_subcommand(name)
            group, summary = str(subcommand.group), str(subcommand.summary)
        except Exception as error:  # those of other packages may raise anything
            group, summary = "not usable", f"({_why_not(error)})"
        yield group, name, summary


def _why_not(error: Exception) -> str:
    from kinwire_cli.extras import missing_extra

    extra = missing_extra(error) if isinstance(error, ModuleNotFoundError) else None
    return f"needs the extra [{extra}]" if extra else one_line(f"{type(error).__name__}: {error}")


def _sentence(subcommand: type[Subcommand]) -> str:
    return subcommand.summary[:1].upper() + subcommand.summary[1:] + "."


def _complete() -> None:
    """Answer the shell, if the extra [cli] is there; does not return then."""
    try:
        import argcomplete
    except ModuleNotFoundError:
        return
    parser = ArgumentParser(prog="kinwire")
    subcommands = parser.add_subparsers()
    asked = subcommands.add_parser("help", help="show the help of a subcommand")
    asked.add_argument("subcommand", nargs="?", choices=subcommand_names())
    for name in subcommand_names():
        with suppress(Exception):  # those of other packages may raise anything
            subcommand = load_subcommand(name)
            subcommand.configure(subcommands.add_parser(name, help=subcommand.summary))
    argcomplete.autocomplete(parser)


_CHOICE = re.compile(r"invalid choice: '([^']*)' \(choose from (.*)\)")
_WORD = re.compile(r"[\w.-]+")
_MISSING = "arguments are required: "
_STRAY_FILE = re.compile(r"unrecognized arguments: (\S+\.(?:toml|json))")


class Parser(ArgumentParser):
    """An `ArgumentParser` that says which option may be meant."""

    words: Sequence[str] = ()
    """What is parsed, so that a hint can look at all of it."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and what to do, and end with 2."""
        self.print_usage(sys.stderr)
        lines = (f"{self.prog}: error: {self._chosen(message)}", f"hint: {self._hint(message)}")
        self.exit(USAGE, "".join(f"{with_labels(one_line(line))}\n" for line in lines))

    def print_help(self, file: IO[str] | None = None) -> None:  # type: ignore[override]
        """Print it, or raise the OSError because of which it cannot be: argparse drops that."""
        text = self.format_help()
        if file is None:
            print(with_headings(text), end="")
        else:
            print(text, end="", file=file)

    def _chosen(self, message: str) -> str:
        """Return a message about words that are missing, with those that may be chosen there."""
        said, mark, names = message.partition(_MISSING)
        words = {
            one.dest: "|".join(map(str, one.choices))
            for one in self._actions
            if one.choices is not None and one.metavar is None
        }
        return said + mark + ", ".join(words.get(name, name) for name in names.split(", "))

    def _hint(self, message: str) -> str:
        unknown = next(self._unknown(), None)
        otherwise = f"See {self.prog} --help."
        if unknown is None:
            choice = _CHOICE.search(message)
            known = _WORD.findall(choice[2]) if choice else ()
            stray = _STRAY_FILE.fullmatch(message)
            if stray and "--config" in self._option_string_actions:
                return f"The configuration is named as in -c {stray[1]}."
            return did_you_mean(choice[1], known, otherwise) if choice else otherwise
        hint = did_you_mean(unknown, self._option_string_actions, otherwise)
        return f"There is no option {unknown}. {hint}"

    def _unknown(self) -> Iterator[str]:
        for word in self.words:
            name = word.partition("=")[0]
            if name.startswith("--") and name not in self._option_string_actions:
                yield name
