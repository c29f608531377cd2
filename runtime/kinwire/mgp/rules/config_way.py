"""How a configuration file says that a server is reached: a command, or a URL."""

from __future__ import annotations

__all__ = ("WAY_KEYS", "UnfitServerError", "ValueSource", "way_from")

import re
from collections.abc import Callable, Iterator, Mapping
from os.path import commonpath, isabs, join, normpath
from typing import Any, Final, NamedTuple

from kinwire.mgp.rules.config_nodes import ConfigNode
from kinwire.mgp.rules.config_problem import ConfigError, ConfigProblem
from kinwire.mgp.rules.placeholders import UnsetVariableError, filled, placeholders_in
from kinwire.rpc.errors import InsecureAddressError
from kinwire.transports.http_client.address import address_of

WAY_KEYS: Final = ("command", "args", "env", "cwd", "url", "headers", "insecure", "transport")
"""The keys that are about it."""

Warn = Callable[[ConfigProblem], object]

_COMMAND: Final = ("args", "env", "cwd")
_URL: Final = ("headers", "insecure")
_HEADER: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VARIABLE: Final = re.compile(r"[^=\0]+")
_BROKEN: Final = re.compile(r"[\r\n\0]")
_TRANSPORTS: Final = {
    "stdio": (),
    "http": ("http://", "https://"),
    "streamable-http": ("http://", "https://"),
    "streamableHttp": ("http://", "https://"),
    "sse": ("http://", "https://"),
    "ws": ("ws://", "wss://"),
}
_SCHEMES: Final = (*_TRANSPORTS["http"], *_TRANSPORTS["ws"])


class ValueSource(NamedTuple):
    """What values of a file are completed with."""

    variables: Mapping[str, str]
    """The environment, from which `${NAME}` is filled in."""
    folder: str
    """The folder of the file, where a relative `cwd` begins."""


class UnfitServerError(Exception):
    """A server cannot start: a variable is not set or does not fit, or its address is insecure."""

    def __init__(self, problem: ConfigProblem) -> None:
        super().__init__(str(problem))
        self.problem = problem


def way_from(
    node: ConfigNode, fields: Mapping[str, ConfigNode], source: ValueSource, warn: Warn
) -> dict[str, Any]:
    """Return the fields of `ServerSpec` that say how a server is reached.

    Raises:
        ConfigError: there is neither a command nor a URL, or both, or a value is wrong.
        UnfitServerError: a variable that is named is not set, or has signs that cannot be sent;
            or plain text would go to another machine.
    """
    by_command, by_url = "command" in fields, "url" in fields
    if by_command == by_url:
        what = "either a command or a url, got both" if by_command else "a command or a url"
        raise ConfigError(ConfigProblem(node.key_place, f"expected {what}"))
    for key in _URL if by_command else _COMMAND:
        if key in fields:
            way = "url" if by_command else "command"
            raise ConfigError(
                ConfigProblem(fields[key].key_place, f"{key} is for a server with a {way}")
            )
    _check_transport(fields)
    return _command(fields, source, warn) if by_command else _url(fields, source, warn)


def _check_transport(fields: Mapping[str, ConfigNode]) -> None:
    for key in ("transport", "type"):
        if key not in fields:
            continue
        schemes = _TRANSPORTS[fields[key].choice(tuple(_TRANSPORTS))]
        url = fields.get("url")
        if url is None and schemes:
            raise fields[key].refused("stdio, since the server has a command")
        if url is not None and not _begins(url, schemes):
            raise fields[key].refused("the transport of the url")


def _command(fields: Mapping[str, ConfigNode], source: ValueSource, warn: Warn) -> dict[str, Any]:
    found: dict[str, Any] = {"command": fields["command"].text()}
    named = [fields["command"]]
    if "args" in fields:
        words = [*fields["args"].hidden.items()]
        found["args"] = [_word(one) for one in words]
        named += words
    if "cwd" in fields:
        found["cwd"] = _folder(fields["cwd"], source.folder)
        named.append(fields["cwd"])
    if "env" in fields:
        found["env"] = dict(_values(fields["env"], source, _VARIABLE, "a name of a variable"))
    _warn_of_placeholders(named, warn)
    return found


def _url(fields: Mapping[str, ConfigNode], source: ValueSource, warn: Warn) -> dict[str, Any]:
    url = fields["url"].hidden
    if not _begins(url, _SCHEMES):
        raise url.refused("a URL of http, https, ws or wss")
    insecure = "insecure" in fields and fields["insecure"].flag()
    headers: Mapping[str, str] = {}
    if "headers" in fields:
        headers = dict(_values(fields["headers"], source, _HEADER, "a name of a header"))
    _warn_of_placeholders([url], warn)
    _check_address(url, insecure=insecure)
    return {"url": url.text(), "headers": headers, "insecure": insecure}


def _check_address(url: ConfigNode, *, insecure: bool) -> None:
    try:
        address_of(url.text(), insecure=insecure)
    except InsecureAddressError as error:
        text = f"plain text would go to {error.host}. Use https, or insecure = true"
        raise UnfitServerError(ConfigProblem(url.place, text)) from None
    except ValueError as error:  # it does not show the URL
        raise ConfigError(ConfigProblem(url.place, f"url: {error}")) from None


def _begins(url: ConfigNode, schemes: tuple[str, ...]) -> bool:
    return url.hidden.text().lower().startswith(schemes)


def _word(node: ConfigNode) -> str:
    """Return a string, which may be empty."""
    if not isinstance(node.value, str) or "\0" in node.value:
        raise node.refused("a string")
    return node.value


def _folder(node: ConfigNode, base: str) -> str:
    """Return a working folder: one below the folder of the file, or an absolute path."""
    folder = node.text()
    found = normpath(join(base, folder))
    if not isabs(folder) and commonpath([base, found]) != normpath(base):
        raise node.refused("an absolute path, or one that stays in the folder of the file")
    return found


def _values(
    node: ConfigNode, source: ValueSource, name: re.Pattern[str], what: str
) -> Iterator[tuple[str, str]]:
    """Yield the names and values of a table of strings, which may be secrets."""
    for key, one in node.hidden.table().items():
        if name.fullmatch(key) is None:
            raise ConfigError(ConfigProblem(one.key_place, f"expected {what}"))
        yield key, _filled(key, one, source, is_header=name is _HEADER)


def _filled(key: str, node: ConfigNode, source: ValueSource, *, is_header: bool) -> str:
    try:
        value = filled(_word(node), source.variables)
    except UnsetVariableError as error:
        problem = ConfigProblem(node.place, f"{key}: {error}")
        raise UnfitServerError(problem) from None
    except ConfigError:
        raise
    except ValueError as error:
        raise ConfigError(ConfigProblem(node.place, f"{key}: {error}")) from None
    if is_header and _BROKEN.search(value):
        problem = ConfigProblem(node.place, f"{key}: the value of a header has more than one line")
        raise UnfitServerError(problem)
    return value


def _warn_of_placeholders(nodes: list[ConfigNode], warn: Warn) -> None:
    for node in nodes:
        for name in placeholders_in(str(node.value)):
            text = f"${{{name}}} stays as it is here: it is filled in in env and headers only"
            warn(ConfigProblem(node.place, text))
