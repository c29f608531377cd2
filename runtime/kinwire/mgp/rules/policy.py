"""What a policy file says: which tools may be called, and with which arguments.

The same function judges a call and what of `tools/list` is shown, so a tool that may not be called
is not shown. A rule that cannot be applied denies.
"""

from __future__ import annotations

__all__ = (
    "ArgumentRule",
    "Condition",
    "Policy",
    "ServerRules",
    "ToolNames",
    "ToolRules",
)

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from kinwire.mgp.rules.config_problem import ConfigProblem, Place
from kinwire.mgp.rules.policy_conditions import Condition
from kinwire.mgp.rules.schema_names import has_argument
from kinwire.mgp.rules.server_policy import ServerPolicy
from kinwire.mgp.rules.tools import KnownTool
from kinwire.rpc.codec import is_object
from kinwire.support.patterns.glob import Pattern
from kinwire_protocols.base import JsonObject
from kinwire_protocols.nearest import nearest

_ABSENT: Final = object()
_NOT_THERE: Final = object()  # what no condition takes
_SLASH: Final = "\x01"  # not in any name


class ToolNames:
    """Names of tools, or patterns with `*` and `?`, where the file has them."""

    def __init__(self, names: Mapping[str, Place]) -> None:
        """Compile the patterns.

        Raises:
            ValueError: a pattern is empty or too long.
        """
        self.names = names
        # In a name of a tool a slash is a sign as all others.
        self._patterns = {name: Pattern(name.replace("/", _SLASH)) for name in names}

    def find(self, tool: str) -> Place | None:
        """Return where the first name or pattern stands that matches a tool."""
        label = tool.replace("/", _SLASH)
        for name, pattern in self._patterns.items():
            if name == tool or pattern.matches(label):
                return self.names[name]
        return None

    def unused(self, tools: Iterable[str]) -> Iterator[tuple[str, Place]]:
        """Yield the names and patterns that match no tool."""
        labels = [tool.replace("/", _SLASH) for tool in tools]
        for name, pattern in self._patterns.items():
            if not any(map(pattern.matches, labels)):
                yield name, self.names[name]


@dataclass(frozen=True, slots=True)
class ArgumentRule:
    """What an argument of a tool may be."""

    name: str
    """Its name; with a slash in front a JSON Pointer into the arguments."""
    place: Place
    conditions: tuple[Condition, ...]
    """All have to hold."""
    optional: bool = False
    """Whether the argument may be left out."""

    @property
    def path(self) -> list[str]:
        """The keys that lead to the argument."""
        if not self.name.startswith("/"):
            return [self.name]
        return [part.replace("~1", "/").replace("~0", "~") for part in self.name[1:].split("/")]

    def problem(self, arguments: JsonObject) -> str | None:
        """Return why arguments break the rule; None if they do not. Their values are not shown."""
        value = self._value(arguments)
        if value is _ABSENT:
            return None if self.optional else f"the argument {self.name!r} is required"
        for condition in self.conditions:
            if not condition.holds(value):
                return f"the argument {self.name!r} must {condition.words}"
        return None

    def _value(self, arguments: JsonObject) -> object:
        value: object = arguments
        for key in self.path:
            if not is_object(value):
                return _NOT_THERE
            value = value.get(key, _ABSENT)
        return value


@dataclass(frozen=True, slots=True)
class ToolRules:
    """What the file says about the arguments of one tool."""

    place: Place
    arguments: tuple[ArgumentRule, ...] = ()


@dataclass(frozen=True, slots=True)
class ServerRules:
    """What the file says about the tools of one server."""

    place: Place
    denied: ToolNames
    allowed: ToolNames | None = None
    """None: all that are not denied."""
    tools: Mapping[str, ToolRules] = field(default_factory=dict[str, ToolRules])
    allowed_place: Place | None = None
    """Where `allowed_tools` stands."""

    def problem(self, tool: KnownTool, arguments: JsonObject | None) -> ConfigProblem | None:
        """Return why a tool may not be called with `arguments`, or with any if they are None."""
        denied = self.denied.find(tool.name)
        if denied is not None:
            return ConfigProblem(denied, f"the tool {tool.name!r:.60} is denied")
        if self.allowed is not None and self.allowed.find(tool.name) is None:
            place = self.allowed_place or self.place
            return ConfigProblem(place, f"the tool {tool.name!r:.60} is not in allowed_tools")
        rules = self.tools.get(tool.name)
        if rules is None:
            return None
        return next(_broken(rules, tool, arguments), None)

    def mistakes(self, tools: Mapping[str, KnownTool]) -> Iterator[ConfigProblem]:
        """Yield the names in the file that the tools of the server do not have."""
        named = [*self.denied.unused(tools)]
        if self.allowed is not None:
            named += self.allowed.unused(tools)
        named += [(name, rules.place) for name, rules in self.tools.items() if name not in tools]
        for name, place in named:
            yield ConfigProblem(place, f"the server has no tool {name!r:.60}{_hint(name, tools)}")
        for name, rules in self.tools.items():
            if name in tools:
                yield from _unknown_arguments(rules, tools[name])


def _broken(
    rules: ToolRules, tool: KnownTool, arguments: JsonObject | None
) -> Iterator[ConfigProblem]:
    """Yield what a call breaks: first the rules that cannot be applied to the tool at all."""
    yield from _unknown_arguments(rules, tool)
    if arguments is not None:
        for rule in rules.arguments:
            problem = rule.problem(arguments)
            if problem is not None:
                yield ConfigProblem(rule.place, problem)


def _unknown_arguments(rules: ToolRules, tool: KnownTool) -> Iterator[ConfigProblem]:
    for rule in rules.arguments:
        if not has_argument(tool.input_schema, rule.path):
            text = f"the tool {tool.name!r:.60} has no argument {rule.name!r:.60}"
            yield ConfigProblem(rule.place, text)


def _hint(name: str, known: Iterable[str]) -> str:
    near = nearest(name, list(known))
    return f". Did you mean {near!r:.60}?" if near else ""


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy file; `load_policy` reads one, and `MgpKernel(policy=...)` takes it."""

    file: str
    servers: Mapping[str, ServerPolicy] = field(default_factory=dict[str, ServerPolicy])
    """What the file says of each server that a `ServerPolicy` can say."""
    rules: Mapping[str, ServerRules] = field(default_factory=dict[str, ServerRules])
    """What it says about tools and arguments, by server."""
    others_allowed: bool = False
    """Whether tools of servers that the file does not name may be called."""

    def problem(
        self, server: str, tool: KnownTool, arguments: JsonObject | None = None
    ) -> ConfigProblem | None:
        """Return why a tool may not be called with `arguments`; without them, with any.

        None means that the file does not forbid it.
        """
        rules = self.rules.get(server)
        if rules is not None:
            return rules.problem(tool, arguments)
        return None if self.others_allowed else self._no_section(server)

    def mistakes(self, server: str, tools: Mapping[str, KnownTool]) -> list[ConfigProblem]:
        """Return the names in the file that a server, and the tools it has listed, do not have."""
        rules = self.rules.get(server)
        if rules is not None:
            return [*rules.mistakes(tools)]
        near = nearest(server, list(self.rules))
        return [] if self.others_allowed and near is None else [self._no_section(server)]

    def _no_section(self, server: str) -> ConfigProblem:
        near = nearest(server, list(self.rules))
        place = Place(self.file, 1, 1) if near is None else self.rules[near].place
        hint = f"Did you mean {server!r:.60} by {near!r:.60}?" if near else "Name it in the file."
        return ConfigProblem(place, f"there is no section for the server {server!r:.60}. {hint}")
