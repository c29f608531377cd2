"""Names of tools of many servers in one list, as models may use them: `server__tool`.

A name depends on the server and the tool alone, so it stays the same whatever else is connected.
Parts that cannot stand in a name as they are get a digest, as `tool_terminal-1f3a9c20__read_file`
for the server `tool.terminal`. Ids of servers with capital letters get one as well, so that no two
names differ in the case of the server alone.
"""

from __future__ import annotations

__all__ = ("SEPARATOR", "PublicNames", "names_for_session", "names_server", "public_name")

import re
from collections import Counter
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import Final

from kinwire.mgp.rules.tool_cache import ToolKey
from kinwire.support.json_values import digest

SEPARATOR: Final = "__"
"""What stands between server and tool: never inside the part of the server."""
_LONGEST: Final = 64
_LONGEST_SERVER: Final = 24
_DIGEST: Final = 8
_SERVER: Final = re.compile(r"[a-z0-9]+(?:[_-][a-z0-9]+)*")
_TOOL: Final = re.compile(r"[a-zA-Z0-9_-]+")
_LIKE_DIGEST: Final = re.compile(rf"-[0-9a-f]{{{_DIGEST}}}$")
_OTHER: Final = re.compile(r"[^a-zA-Z0-9]+")


def public_name(server_id: str, name: str) -> str:
    """Return the name of a tool among those of all servers: `^[a-zA-Z0-9_-]{1,64}$`."""
    server = _server_part(server_id)
    room = _LONGEST - len(server) - len(SEPARATOR)
    return f"{server}{SEPARATOR}{_part(name, _TOOL, room)}"


def names_server(public: str, server_id: str) -> bool:
    """Return whether a name is of a tool, or of a prompt, that this server may have."""
    return public.startswith(f"{_server_part(server_id)}{SEPARATOR}")


@lru_cache(maxsize=4096)
def _server_part(server_id: str) -> str:
    return _part(server_id, _SERVER, _LONGEST_SERVER).lower()


def _part(text: str, clean: re.Pattern[str], most: int) -> str:
    """Return a text as a part of a name, with a digest of it unless it is one already."""
    if len(text) <= most and clean.fullmatch(text) and not _LIKE_DIGEST.search(text):
        return text
    plain = _OTHER.sub("_", text[:_LONGEST]).strip("_")[: most - _DIGEST - 1].rstrip("_")
    return f"{plain or 'x'}-{digest(text)[:_DIGEST]}"


def names_for_session(keys: Collection[ToolKey], *, qualified: bool) -> dict[ToolKey, str]:
    """Return how a session names its tools: by their own names, where only one tool has each.

    Others, and all if `qualified` is true, have their `public_name`. So do tools with `__` in their
    names, which could be the public names of others.
    """
    owners = Counter(name for _, name in keys)
    own = {name for name, count in owners.items() if count == 1 and SEPARATOR not in name}
    return {
        (server, name): name if name in own and not qualified else public_name(server, name)
        for server, name in keys
    }


class PublicNames:
    """Finds the tool that a name stands for."""

    def __init__(self) -> None:
        self._servers = dict[str, dict[str, str]]()  # id to names to tools
        self._owners = dict[str, ToolKey]()

    def __len__(self) -> int:
        return len(self._owners)

    def replace(self, server_id: str, names: Iterable[str]) -> list[str]:
        """Make these the tools of a server; return those that are refused.

        A tool is refused if its name stands for another tool already.
        """
        self.remove(server_id)
        mine, refused = dict[str, str](), list[str]()
        for name in names:
            public = public_name(server_id, name)
            if self._owners.setdefault(public, (server_id, name)) == (server_id, name):
                mine[public] = name
            else:
                refused.append(name)
        self._servers[server_id] = mine
        return refused

    def remove(self, server_id: str) -> None:
        """Forget the tools of a server; nothing happens without any."""
        for public in self._servers.pop(server_id, {}):
            del self._owners[public]

    def find(self, public: str) -> ToolKey | None:
        """Return the server and the tool of a name; None if it stands for no tool."""
        return self._owners.get(public)
