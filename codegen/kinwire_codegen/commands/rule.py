"""`kinwire rule`: what a rule of `kinwire breaking` means, and what to do about it."""

from __future__ import annotations

__all__ = ("RuleCommand", "named_rule")

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, ClassVar

from kinwire_codegen.commands.common import SCHEMA, text_width, usage

if TYPE_CHECKING:
    from kinwire_codegen.compare.rules import Rule

_NAMED = 10  # rules that a hint names
_WIDTH, _UNWRAPPED = 90, 10_000  # columns of a text, and of a line in a pipe
_WIDE, _NARROW_INDENT = 70, 6


class RuleCommand:
    """Explains one rule, or lists all of them."""

    name = "rule"
    summary = "explain a rule of kinwire breaking"
    group = "protocols and generation"
    exit_codes: ClassVar[dict[int, str]] = {}
    examples = (
        "kinwire rule",
        "kinwire rule B101",
    )

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the subcommand's arguments."""
        text = "its id or its name (default: all are listed)"
        parser.add_argument("rule", nargs="?", metavar="ID", help=text)

    @staticmethod
    def run(arguments: Namespace) -> int:
        """Return 0, or 2 if there is no such rule."""
        if arguments.rule is None:
            from kinwire_codegen.compare.rules import RULES

            for rule in RULES.values():
                line = f"{rule.id}  {rule.category.name.lower():8}  {rule.name:28}  "
                print(_fitted(line, rule.title))
            return 0
        found = named_rule(arguments.rule)
        if isinstance(found, int):
            return found
        print("\n".join([*_explained(found), "", f"Page: {_page(found)}"]))
        return 0


def _page(rule: Rule) -> str:
    """Return where the page of a rule is, by the policy of the project if it says so."""
    from kinwire_codegen.commands.policy_file import PolicyError, find_policy, read_policy

    there = find_policy(SCHEMA if SCHEMA.is_dir() else Path())
    try:
        site = read_policy(there).site if there is not None else ""
    except PolicyError:  # which `kinwire breaking` reports
        site = ""
    place = f"{site}rules/{rule.id}.html"
    return place if site else f"{place} of the site that kinwire docs build --against REF writes"


def named_rule(given: str) -> Rule | int:
    """Return the rule of an id or a name in any case, or the exit code if there is no such rule."""
    from kinwire_codegen.compare.rules import RULES

    known = {**RULES, **{rule.name: rule for rule in RULES.values()}}
    found = known.get(given.upper()) or known.get(given.lower())
    return found or usage(f"there is no rule {given!r}.", _meant(given, known))


def _fitted(head: str, title: str) -> str:
    """Return a line of the list, wrapped below the title, or further left if that is narrow."""
    width = text_width(_UNWRAPPED)
    indent = len(head) if width >= _WIDE else _NARROW_INDENT
    return fill(head + title, width, subsequent_indent=" " * indent)


def _meant(given: str, known: Iterable[str]) -> str:
    from kinwire_codegen.load.names import nearest

    begun = [name for name in known if name.lower().startswith(given.lower())] if given else []
    if begun:
        return f"So begin: {', '.join(begun[:_NAMED])}{', ...' if len(begun) > _NAMED else ''}"
    near = nearest(given, known)
    return f"Did you mean {near!r}?" if near else "kinwire rule lists them."


def _explained(rule: Rule) -> list[str]:
    from kinwire_codegen.compare.verdict import VERDICTS, Effect, Way

    width = text_width(_WIDTH)
    lines = [f"{rule.id} {rule.name} ({rule.category.name.lower()})", "", fill(rule.title, width)]
    lines += [fill(rule.why, width), ""]
    if rule.effect is Effect.SAFE:
        return [*lines, "It is safe."]
    if rule.effect is Effect.STOPS:
        return [*lines, f"It is breaking: {rule.effect.value}."]
    lines += [f"{rule.effect.value[:1].upper()}{rule.effect.value[1:]}:", ""]
    for way in Way:
        level, victims = VERDICTS.get((rule.effect, way), (None, ()))
        verdict = f"{level.name.lower()}: {' and '.join(victims)}" if level else "a warning"
        lines.append(f"  {way.name.lower():8} {verdict}")
    return lines
