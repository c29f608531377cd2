"""A configuration file, read into a `KernelConfig` (MGP 0.2.0 section 15.2).

It is TOML with `[[servers]]`, or JSON with `mcpServers` as other clients of MCP have it. Programs
that know only MCP read the same file, so an unknown key is reported and not refused; a policy that
could be misread is refused. Values that may be secrets are in no message.
"""

from __future__ import annotations

__all__ = ("MOST_SERVERS", "config_from")

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from kinwire.mgp.rules.config_nodes import ConfigNode
from kinwire.mgp.rules.config_problem import ConfigError, ConfigProblem, Place
from kinwire.mgp.rules.config_section import SECTION_KEYS, ServerSection, section_of
from kinwire.mgp.rules.config_way import WAY_KEYS, UnfitServerError, ValueSource, way_from
from kinwire.mgp.rules.file_formats import file_node
from kinwire.mgp.rules.json_places import JsonPlaces
from kinwire.mgp.rules.kernel_config import ConfiguredServer, KernelConfig
from kinwire.mgp.rules.policy import Policy
from kinwire.mgp.rules.policy_file import SERVER_KEYS, must_be_name, others_allowed
from kinwire.mgp.rules.server_spec import ServerSpec
from kinwire_protocols.mgp.models import ToolContextBudget

MOST_SERVERS: Final = 1000

_WHOLE: Final = ("other_servers", "tool_context_budget")
_TOP: Final = ("servers", "mcpServers", *_WHOLE, "$schema")
_ENTRY: Final = ("id", "disabled", *WAY_KEYS, "mgp")
_NAMED: Final = ("type", "disabled", *WAY_KEYS, "mgp")
_BUDGET: Final = ("max_tokens", "pinned_reserve", "discovery_reserve", "cache_limit")


def config_from(text: str, file: str, source: ValueSource) -> KernelConfig:
    """Return the configuration that the text of a file says; `file` is named in problems.

    Raises:
        ConfigError: the text is neither TOML nor JSON, or a value is wrong.
    """
    return _ConfigReader(file, source).read(file_node(text, file))


class _ConfigReader:
    """Reads one file, and keeps what is to be reported."""

    def __init__(self, file: str, source: ValueSource) -> None:
        self._file = file
        self._source = source
        self._warnings: list[ConfigProblem] = []
        self._sections: dict[str, ServerSection] = {}
        self._places: dict[str, Place] = {}

    def read(self, node: ConfigNode) -> KernelConfig:
        top = node.open_table(_TOP, self._warnings.append)
        servers = tuple(self._servers(top))
        policy = Policy(
            self._file,
            {name: section.policy for name, section in self._sections.items()},
            {name: section.rules for name, section in self._sections.items()},
            others_allowed(top),
        )
        budget = top.get("tool_context_budget")
        found = None if budget is None else _budget(budget)
        return KernelConfig(self._file, servers, policy, found, tuple(self._warnings))

    def _servers(self, top: Mapping[str, ConfigNode]) -> Iterator[ConfiguredServer]:
        for count, (name, node) in enumerate(self._entries(top)):
            if count == MOST_SERVERS:
                raise ConfigError(
                    ConfigProblem(node.key_place, f"expected at most {MOST_SERVERS} servers")
                )
            if self._is_wanted(name, node):
                yield self._server(name, node)

    def _is_wanted(self, name: str, node: ConfigNode) -> bool:
        disabled = node.table().get("disabled")
        if disabled is None or not disabled.flag():
            return True
        text = f"the server {name!r:.60} is disabled, and so it is left out"
        self._warnings.append(ConfigProblem(node.key_place, text))
        return False

    def _entries(self, top: Mapping[str, ConfigNode]) -> Iterator[tuple[str, ConfigNode]]:
        """Yield the id of each server, and its table."""
        for key in ("servers", "mcpServers"):
            if key not in top:
                continue
            if isinstance(top[key].value, list):
                yield from ((_id_of(node), node) for node in top[key].items())
            elif key == "mcpServers" or isinstance(top[key].places, JsonPlaces):
                yield from self._named(top[key])
            else:
                what = "[[servers]] for each server; load_policy reads files with [servers.NAME]"
                raise top[key].refused(what)

    def _named(self, node: ConfigNode) -> Iterator[tuple[str, ConfigNode]]:
        for name, one in node.table().items():
            must_be_name(name, one)
            yield name, one

    def _server(self, name: str, node: ConfigNode) -> ConfiguredServer:
        self._must_be_new(name, node)
        keys = _ENTRY if isinstance(node.path[-1], int) else _NAMED
        _refuse_misplaced(node, {"mgp": SECTION_KEYS, "mgp.policy": SERVER_KEYS}, keys)
        fields = node.open_table(keys, self._warnings.append)
        mgp = fields.get("mgp")
        if mgp is not None:
            _refuse_misplaced(mgp, {"mgp.policy": SERVER_KEYS}, SECTION_KEYS)
        section = section_of(node, mgp, self._warnings.append)
        self._sections[name] = section
        spec, problem = self._spec(name, node, fields, section)
        return ConfiguredServer(
            name, node.key_place, spec, problem, section.profile, section.pinned_tools
        )

    def _must_be_new(self, name: str, node: ConfigNode) -> None:
        before = self._places.setdefault(name, node.key_place)
        if before != node.key_place:
            text = f"the id {name!r:.60} is that of the server in line {before.line}"
            raise ConfigError(ConfigProblem(node.key_place, text))

    def _spec(
        self, name: str, node: ConfigNode, fields: Mapping[str, ConfigNode], section: ServerSection
    ) -> tuple[ServerSpec | None, ConfigProblem | None]:
        """Return how a server is started, or why it cannot be started."""
        try:
            way: dict[str, Any] = way_from(node, fields, self._source, self._warnings.append)
            return ServerSpec(name, **way, **section.options), None
        except UnfitServerError as error:
            return None, error.problem
        except (TypeError, ValueError) as error:
            if isinstance(error, ConfigError):
                raise
            raise ConfigError(ConfigProblem(node.key_place, str(error))) from None


def _id_of(node: ConfigNode) -> str:
    fields = node.table()
    if "id" not in fields:
        raise ConfigError(ConfigProblem(node.key_place, "expected an id for the server"))
    name = fields["id"].text()
    must_be_name(name, fields["id"])
    return name


def _refuse_misplaced(
    node: ConfigNode, homes: Mapping[str, Collection[str]], here: Collection[str]
) -> None:
    """Raise where a key stands in a table in which it would have no effect.

    Raises:
        ConfigError: it is a key of another table of the server, or of the file as a whole.
    """
    for key, one in node.table().items():
        if key in _WHOLE:
            text = f"{key} has no effect here. Write it at the top of the file, before the servers"
            raise ConfigError(ConfigProblem(one.key_place, text))
        for home, keys in homes.items():
            if key in keys and key not in here:
                text = f"{key} has no effect here. Write it in the table {home} of the server"
                raise ConfigError(ConfigProblem(one.key_place, text))


def _budget(node: ConfigNode) -> ToolContextBudget:
    fields = node.table(_BUDGET)
    if len(fields) < len(_BUDGET):
        missing = ", ".join(key for key in _BUDGET if key not in fields)
        text = f"tool_context_budget: expected all four numbers, and these are missing: {missing}"
        raise ConfigError(ConfigProblem(node.key_place, text))
    found = {key: one.count() for key, one in fields.items()}
    most = found["max_tokens"]
    reserved = sum(found.values()) - most
    if reserved > most:
        text = f"the parts are {reserved} tokens together, and max_tokens is {most}"
        raise ConfigError(ConfigProblem(node.key_place, text))
    return ToolContextBudget(**found)
