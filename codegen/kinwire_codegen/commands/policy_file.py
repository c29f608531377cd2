"""The file with a project's policy about changes: found, read, checked and written.

It is TOML, which people edit and `kinwire breaking --accept` and `--prune` write; comments and the
order of entries are kept.
"""

from __future__ import annotations

__all__ = ("POLICY_FILE", "PolicyError", "accept", "find_policy", "prune", "read_policy")

import json
import os
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

from kinwire_codegen.atomic_files import write_file
from kinwire_codegen.compare.policy import AcceptedFinding, ChangePolicy, FindingKey
from kinwire_codegen.compare.rules import RULES
from kinwire_codegen.compare.verdict import Level
from kinwire_codegen.compare.versions import Scheme
from kinwire_codegen.load.names import nearest

POLICY_FILE = "kinwire-breaking.toml"

_KEYS = ("versions", "severities", "accepted", "site")
_REQUIRED = (*FindingKey._fields, "reason")
_OPTIONAL = ("by", "date")
_LEVELS = {level.name.lower(): level for level in Level}
_SCHEMES = {scheme.value: scheme for scheme in Scheme}
_RULES = {name: rule.id for rule in RULES.values() for name in (rule.id, rule.name)}
_HEADER = re.compile(r"[ \t]*\[")
_ENTRY = re.compile(r"[ \t]*\[\[[ \t]*accepted[ \t]*\]\]")
_BLANK = re.compile(r"\s*(#|$)")
_HEAD = "# Severities, accepted findings and versions for `kinwire breaking`.\n"

Problem = tuple[str, str]
"""What is wrong, and what to do."""


class PolicyError(Exception):
    """A policy file cannot be used; `problems` has all reasons, each with what to do."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        super().__init__("\n".join(what for what, _ in problems))


def find_policy(documents: Path) -> Path | None:
    """Return the policy file next to the documents or above them, None if it does not exist.

    The search ends at the top of the git repository.
    """
    here = Path(os.path.abspath(documents if documents.is_dir() else documents.parent))
    for folder in (here, *here.parents):
        found = folder / POLICY_FILE
        if found.is_file():
            return found if documents.is_absolute() else Path(os.path.relpath(found))
        if (folder / ".git").exists():
            return None
    return None


def read_policy(path: Path) -> ChangePolicy:
    """Return the policy in a file.

    Raises:
        PolicyError: the file cannot be read, or entries of it are not valid.
    """
    text = _text(path)
    try:
        return _policy(text)
    except PolicyError as error:
        raise PolicyError([(f"{path}: {what}", hint) for what, hint in error.problems]) from None


def accept(path: Path, findings: Collection[AcceptedFinding]) -> None:
    """Add findings to the end of a policy file, which is made if it does not exist.

    What another run has accepted since the file was read is not added again.

    Raises:
        PolicyError: the file cannot be read or written, or is not valid.
    """
    before = read_policy(path).accepted if path.exists() else ()
    text = _text(path) if path.exists() else _HEAD
    there = {one.key for one in before}
    findings = [one for one in findings if one.key not in there]
    end = "\r\n" if "\r\n" in text else "\n"
    blocks = [text.rstrip(), *(end.join(_entry_lines(one)) for one in findings)]
    _write(path, (end * 2).join(filter(None, blocks)) + end, expected=(*before, *findings))


def prune(path: Path, findings: Collection[AcceptedFinding]) -> None:
    """Remove accepted findings from a policy file; comments stay.

    Raises:
        PolicyError: the file cannot be read or written, or is not valid.
    """
    before = read_policy(path).accepted
    removed = [index for index, one in enumerate(before) if one in findings]
    kept = tuple(one for one in before if one not in findings)
    _write(path, _without(_text(path), removed), expected=kept)


def _entry_lines(one: AcceptedFinding) -> Iterator[str]:
    yield "[[accepted]]"
    for key, value in (*one.key._asdict().items(), ("reason", one.reason)):
        # A text of JSON is one of TOML too, but for this character.
        yield f"{key} = {json.dumps(value, ensure_ascii=False)}".replace("\x7f", "\\u007f")


def _without(text: str, numbers: Collection[int]) -> str:
    """Return a file without the entries of these numbers, and without a blank line after each."""
    lines = re.split(r"(?<=\n)", text)
    headers = [index for index, line in enumerate(lines) if _HEADER.match(line)]
    entries = [index for index in headers if _ENTRY.match(lines[index])]
    removed: set[int] = set()
    for begin in (entries[number] for number in numbers if number < len(entries)):
        end = next((index for index in headers if index > begin), len(lines))
        keys = [index for index in range(begin, end) if not _BLANK.match(lines[index])]
        removed.update(range(begin, keys[-1] + 1))
        after = keys[-1] + 1
        if after < len(lines) and not lines[after].strip():
            removed.add(after)
    return "".join(line for index, line in enumerate(lines) if index not in removed)


def _write(path: Path, text: str, *, expected: tuple[AcceptedFinding, ...]) -> None:
    """Write a file, unless it would hold something else than `expected`."""
    try:
        found = _policy(text).accepted
    except PolicyError:
        found = None
    if found != expected:
        hint = "Write each accepted finding as a table [[accepted]], with each text on one line."
        raise PolicyError([(f"{path}: accepted findings cannot be written to it.", hint)])
    try:
        write_file(path, text)
    except OSError as error:
        hint = "Name another file with --config."
        raise PolicyError([(f"{path}: {error.strerror}.", hint)]) from None


def _text(path: Path) -> str:
    """Return a file with its line ends as they are."""
    try:
        return path.read_bytes().decode()
    except OSError as error:
        hint = "Name a policy file with --config."
        raise PolicyError([(f"{path}: {error.strerror}.", hint)]) from None
    except UnicodeDecodeError:
        raise PolicyError([(f"{path}: it is not UTF-8.", "Save it as UTF-8.")]) from None


def _content(text: str) -> dict[str, Any]:
    if text.startswith("\ufeff"):
        hint = "Save it as UTF-8 without one."
        raise PolicyError([("it begins with a byte order mark.", hint)])
    try:
        return tomllib.loads(text.replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as error:
        what = str(error)
    except RecursionError:
        what = "it is nested too deeply"
    except ValueError:
        what = "a number has too many digits"
    raise PolicyError([(f"it is not valid TOML: {what}.", "Fix the file.")])


def _policy(text: str) -> ChangePolicy:
    """Return the policy that a text describes; all problems of it are in the error."""
    content = _content(text)
    problems = [
        *_unknown("", content, _KEYS),
        *_severity_problems(content.get("severities", {})),
        *_version_problems(content.get("versions", {})),
        *_accepted_problems(content.get("accepted", [])),
        *_site_problems(content.get("site", "")),
    ]
    if problems:
        raise PolicyError(problems)
    severities, versions = content.get("severities", {}), content.get("versions", {})
    named = versions if isinstance(versions, dict) else {}
    site = content.get("site", "")
    return ChangePolicy(
        severities={_RULES[name]: _LEVELS[word] for name, word in severities.items()},
        scheme=_SCHEMES[versions] if isinstance(versions, str) else None,
        schemes={name: _SCHEMES[word] for name, word in named.items()},
        accepted=tuple(map(_accepted, content.get("accepted", ()))),
        site=f"{site}/" if site and not site.endswith("/") else site,
    )


def _accepted(entry: Mapping[str, Any]) -> AcceptedFinding:
    rule, *others = (entry[name] for name in FindingKey._fields)
    return AcceptedFinding(
        FindingKey(_RULES[rule], *others),
        entry["reason"],
        entry.get("by", ""),
        str(entry.get("date", "")),
    )


def _severity_problems(severities: Any) -> Iterator[Problem]:
    if not isinstance(severities, dict):
        yield "severities is not a table.", 'Write [severities], and a line such as B318 = "safe".'
        return
    ids: dict[str, str] = {}
    for name, word in severities.items():
        yield from _unknown_word(f"severities.{name}", word, _LEVELS)
        if name not in _RULES:
            yield _no_rule(f"severities.{name}", name)
        elif ids.setdefault(_RULES[name], name) != name:
            what = f"severities.{name}: it is the same rule as {ids[_RULES[name]]}."
            yield what, "Remove one of the two lines."


def _version_problems(versions: Any) -> Iterator[Problem]:
    if not isinstance(versions, dict):
        yield from _unknown_word("versions", versions, _SCHEMES)
        return
    for name, word in versions.items():
        yield from _unknown_word(f"versions.{name}", word, _SCHEMES)


def _accepted_problems(entries: Any) -> Iterator[Problem]:
    if not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
        yield "accepted is not a list of tables.", "Write each accepted finding below [[accepted]]."
        return
    seen: dict[FindingKey, int] = {}
    for number, entry in enumerate(entries, 1):
        where = f"accepted finding {number}"
        problems = list(_entry_problems(where, entry))
        yield from problems
        if not problems:
            first = seen.setdefault(_accepted(entry).key, number)
            if first != number:
                yield f"{where}: it is the same as number {first}.", "Remove one of the two."


def _entry_problems(where: str, entry: Mapping[str, Any]) -> Iterator[Problem]:
    yield from _unknown(f"{where}: ", entry, (*_REQUIRED, *_OPTIONAL))
    for key in _REQUIRED:
        value = entry.get(key)
        # The pointer of a protocol as a whole is empty.
        if not isinstance(value, str) or (key != "pointer" and not value.strip()):
            yield f"{where}: {key} is missing or not a text.", f'Write {key} = "...".'
    rule = entry.get("rule")
    if isinstance(rule, str) and rule.strip() and rule not in _RULES:
        yield _no_rule(where, rule)
    if not isinstance(entry.get("by", ""), str):
        yield f"{where}: by is not a text.", 'Write by = "...".'
    if not isinstance(entry.get("date", ""), str | date):
        yield f"{where}: date is neither a date nor a text.", "Write date = 2026-01-31."


def _site_problems(site: Any) -> Iterator[Problem]:
    if not isinstance(site, str) or not (site == "" or re.match(r"https?://[^/]", site)):
        hint = 'Write the address of the published site: site = "https://docs.example.org/".'
        yield "site is not an address that begins with https:// or http://.", hint


def _unknown(where: str, entry: Mapping[str, Any], known: Collection[str]) -> Iterator[Problem]:
    for key in sorted(entry.keys() - set(known)):
        yield f"{where}{key} is not a known key.", _meant(key, known)


def _unknown_word(where: str, word: Any, known: Collection[str]) -> Iterator[Problem]:
    if not isinstance(word, str) or word not in known:
        hint = _meant(str(word), known) if isinstance(word, str) else f"Write {_any_of(known)}."
        shown = str(word) if isinstance(word, date) else repr(word)
        yield f"{where}: {shown} is not one of {_any_of(known)}.", hint


def _no_rule(where: str, name: str) -> Problem:
    near = nearest(name, _RULES)
    hint = f"Did you mean {near!r}?" if near else "kinwire rule lists the rules."
    return f"{where}: there is no rule {name!r}.", hint


def _meant(given: str, known: Collection[str]) -> str:
    near = nearest(given, known)
    return f"Did you mean {near!r}?" if near else f"Write {_any_of(known)}."


def _any_of(words: Collection[str]) -> str:
    *others, last = words
    return f"{', '.join(others)} or {last}"
