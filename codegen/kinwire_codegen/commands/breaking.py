"""`kinwire breaking`: who breaks when documents become what they are now."""

from __future__ import annotations

__all__ = ("BreakingCommand",)

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from kinwire_codegen.commands.common import count, default_documents, usage
from kinwire_codegen.commands.rule import named_rule
from kinwire_codegen.commands.sides import open_sides

if TYPE_CHECKING:
    from kinwire_codegen.commands.reports.report import Report
    from kinwire_codegen.commands.sides import Sides
    from kinwire_codegen.compare.policy import AcceptedFinding
    from kinwire_codegen.compare.verdict import Category

CATEGORIES = ("wire", "bindings", "docs")
FORMATS = ("text", "json", "github", "sarif", "junit")


class BreakingCommand:
    """Prints who breaks; exit code 1 for breaking changes that nothing announces or accepts."""

    name = "breaking"
    summary = "say who breaks by what changed in the documents"
    group = "protocols and generation"
    exit_codes: ClassVar[dict[int, str]] = {
        0: "nobody breaks, or each break is accepted or announced by the version",
        1: "a change breaks someone, or a document is invalid",
    }
    examples = (
        "kinwire breaking --against HEAD",
        "kinwire breaking --against v0.1 --format github schema/notes.json",
        'kinwire breaking --against v0.1 --accept "no client sends it yet" --only B305',
    )

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the subcommand's arguments."""
        text = "what it was: a commit, tag or branch, a document, or a folder of documents"
        parser.add_argument("--against", required=True, metavar="REF|FILE|DIR", help=text)
        text = "what it is: a document or a folder of documents (default: schema here or above)"
        parser.add_argument("path", nargs="?", type=Path, metavar="PATH", help=text)
        text = "what is looked at, once for each (default: wire)"
        parser.add_argument("--category", action="append", choices=CATEGORIES, help=text)
        text = "output format (default: text); github: annotations of a pull request; sarif: for"
        text += " code scanning; junit: for reports of tests"
        parser.add_argument("--format", choices=FORMATS, default="text", help=text)
        text = "policy: severities, accepted findings and versions (default: kinwire-breaking.toml"
        text += " next to the documents or above them)"
        parser.add_argument("--config", type=Path, metavar="FILE", help=text)
        text = "accept what breaks now, and write it to the policy with this reason"
        parser.add_argument("--accept", metavar="REASON", help=text)
        text = "accept only findings of this rule, also its warnings; repeatable"
        parser.add_argument("--only", action="append", metavar="RULE", help=text)
        text = "remove accepted findings that no longer occur from the policy"
        parser.add_argument("--prune", action="store_true", help=text)

    @staticmethod
    def run(arguments: Namespace) -> int:
        """Return 0, 1 if a change fails, or 2 if a side or the policy cannot be used."""
        from kinwire_codegen.commands.policy_file import PolicyError
        from kinwire_codegen.compare.verdict import Category

        if arguments.only and arguments.accept is None:
            return usage("--only needs --accept.", 'Add --accept "REASON".')
        if arguments.accept is not None and not arguments.accept.strip():
            return usage("--accept has no reason.", 'Say why: --accept "no client sends it yet".')
        rules = set()
        for given in arguments.only or ():
            rule = named_rule(given)
            if isinstance(rule, int):
                return rule
            rules.add(rule.id)
        path = arguments.path or default_documents()
        sides = open_sides(arguments.against, path, location=path)
        if isinstance(sides, int):
            return sides
        categories = [Category[name.upper()] for name in arguments.category or ["wire"]]
        try:
            report = _report(arguments, path, sides, categories, rules)
        except PolicyError as error:
            for what, hint in error.problems:
                usage(what, hint)
            return 2
        print(_form(arguments.format)(report))
        return 1 if report.review.failures(*categories) else 0


def _report(
    arguments: Namespace,
    path: Path,
    sides: Sides,
    categories: Sequence[Category],
    only: Collection[str],
) -> Report:
    """Return the findings as the policy judges them, once --accept and --prune have changed it.

    Raises:
        PolicyError: the policy cannot be read or written.
    """
    from kinwire_codegen.commands import policy_file
    from kinwire_codegen.commands.reports.report import Report
    from kinwire_codegen.compare.policy import ChangePolicy, review

    there: Path | None = arguments.config or policy_file.find_policy(path)
    policy = ChangePolicy()
    if there is not None and (there.exists() or arguments.accept is None):
        policy = policy_file.read_policy(there)
        print(f"policy: {there}", file=sys.stderr)
    found = review(sides.comparison, policy, sides.protocols)
    if arguments.accept is not None:
        there = there or (path if path.is_dir() else path.parent) / policy_file.POLICY_FILE
        chosen = found.acceptable(categories, only, reason=arguments.accept.strip())
        if chosen:
            policy_file.accept(there, chosen)
        print(f"accepted: {count(len(chosen), 'finding')}, in {there}", file=sys.stderr)
        policy = replace(policy, accepted=(*policy.accepted, *chosen))
    if arguments.prune and there is not None and found.stale:
        policy_file.prune(there, found.stale)
        kept = tuple(one for one in policy.accepted if one not in found.stale)
        policy = replace(policy, accepted=kept)
        print(f"removed: {count(len(found.stale), 'finding')}, from {there}", file=sys.stderr)
    found = review(sides.comparison, policy, sides.protocols)
    for one in found.stale:
        _warn_stale(there, one)
    return Report(found, sides.old, sides.new, categories, str(there or ""), policy.site)


def _warn_stale(there: Path | None, one: AcceptedFinding) -> None:
    from kinwire_codegen.load.names import visible

    what = f"{one.key.rule} {one.key.protocol}: {one.key.what}"
    text = f"{there}: an accepted finding no longer occurs: {what}"
    print(visible(text), file=sys.stderr)
    print("hint: --prune removes it.", file=sys.stderr)


def _form(name: str) -> Callable[[Report], str]:
    """Return the function that writes a report in a format."""
    from kinwire_codegen.commands.reports import junit, sarif, verdicts

    return {
        "text": verdicts.as_text,
        "json": verdicts.as_json,
        "github": verdicts.as_github,
        "sarif": sarif.as_sarif,
        "junit": junit.as_junit,
    }[name]
