"""The problems of the entries of a server's lists that the schema does not find.

Pure: the entries as they came in, problems out. An entry that breaks the schema may be anything.
"""

from __future__ import annotations

__all__ = ("entry_problems",)

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

from kinwire.rpc.codec import is_object
from kinwire_cli.inspection.input_schemas import schema_problems
from kinwire_cli.inspection.problem import ServerProblem
from kinwire_protocols.base import JsonObject
from kinwire_protocols.problems import shown

_PLAIN = re.compile(r"[a-zA-Z0-9_-]{1,64}")  # what models' providers take as the name of a tool
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")
_EXPRESSION = re.compile(r"\{[+#./;?&]?[\w.%]+(:\d{1,4}|\*)?(,[\w.%]+(:\d{1,4}|\*)?)*\}")

_Entries = Sequence[Any]


def entry_problems(method: str, entries: _Entries) -> Iterator[ServerProblem]:
    """Yield the problems of the entries that the list `method` returned on all pages."""
    check = _CHECKS.get(method)
    if check is not None:
        yield from check(method, [entry for entry in entries if is_object(entry)])


def _tools(method: str, tools: list[JsonObject]) -> Iterator[ServerProblem]:
    yield from _repeated(method, tools, "name")
    for tool in tools:
        name = tool.get("name")
        where = f"{method}, tool {shown(name)}"
        if isinstance(name, str) and not _PLAIN.fullmatch(name):
            text = "has a name that some clients and model providers refuse."
            hint = "Use at most 64 letters, digits, underscores and dashes."
            yield ServerProblem("warning", where, text, hint)
        if not _says_something(tool.get("description")):
            hint = "Say what it does: a model chooses by that."
            yield ServerProblem("warning", where, "has no description.", hint)
        schema = tool.get("inputSchema")
        if is_object(schema):
            yield from schema_problems(schema, f"{where}, inputSchema#")


def _prompts(method: str, prompts: list[JsonObject]) -> Iterator[ServerProblem]:
    yield from _repeated(method, prompts, "name")
    for prompt in prompts:
        arguments = prompt.get("arguments")
        if isinstance(arguments, list):
            known = [one for one in cast("list[object]", arguments) if is_object(one)]
            where = f"{method}, prompt {shown(prompt.get('name'))}, arguments"
            yield from _repeated(where, known, "name")


def _resources(method: str, resources: list[JsonObject]) -> Iterator[ServerProblem]:
    yield from _repeated(method, resources, "uri", "name")
    for resource in resources:
        uri = resource.get("uri")
        if isinstance(uri, str) and not _SCHEME.match(uri):
            text = "is not a URI: it has no scheme."
            hint = "Write it with one, as in file:///notes.txt."
            yield ServerProblem("error", f"{method}, resource {shown(uri)}", text, hint)


def _templates(method: str, templates: list[JsonObject]) -> Iterator[ServerProblem]:
    yield from _repeated(method, templates, "uriTemplate", "name")
    for template in templates:
        text = template.get("uriTemplate")
        if isinstance(text, str) and re.search(r"[{}]", _EXPRESSION.sub("", text)):
            said = "is not a URI template of RFC 6570."
            hint = "Write variables as {name}, and other braces as %7B and %7D."
            yield ServerProblem("error", f"{method}, template {shown(text)}", said, hint)


_CHECKS: dict[str, Callable[[str, list[JsonObject]], Iterator[ServerProblem]]] = {
    "tools/list": _tools,
    "prompts/list": _prompts,
    "resources/list": _resources,
    "resources/templates/list": _templates,
}


def _repeated(where: str, entries: list[JsonObject], *members: str) -> Iterator[ServerProblem]:
    """Yield an error for entries that share all of `members`: nobody can tell them apart."""
    keys = Counter(tuple(map(repr, map(entry.get, members))) for entry in entries)
    first = {tuple(map(repr, map(entry.get, members))): entry for entry in reversed(entries)}
    for key, count in keys.items():
        value = first[key].get(members[0])
        if count > 1 and isinstance(value, str):
            text = f"{members[0]} {shown(value)} stands there {count} times."
            yield ServerProblem("error", where, text, "Give each a name of its own.")


def _says_something(text: object) -> bool:
    return isinstance(text, str) and bool(text.strip())
