"""`kinwire import config FILE`: the `mcpServers` JSON of another client, written as mgp.toml."""

from __future__ import annotations

__all__ = ("ConfigImporter",)

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, cast

from kinwire_cli.failure import UsageError
from kinwire_cli.layout import one_line

_DEFAULT = Path("mgp.toml")
_OF_OTHERS = re.compile(r"\$\{(env|input):([^{}]*)\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_KEYS = ("command", "args", "cwd", "url", "insecure", "env", "headers", "mgp")
_TRANSPORTS = {"streamable-http": "http", "streamableHttp": "http"}


class ConfigImporter:
    """Writes a configuration file of a kernel."""

    summary: ClassVar[str] = "JSON with mcpServers, as clients of MCP have it, to mgp.toml"

    @staticmethod
    def run(files: list[Path], out: Path | None) -> int:
        """Write what a file says to `out`, or to ./mgp.toml.

        Raises:
            UsageError: there are several files, or the target exists.
            ConfigError: the file cannot be used.
            OSError: a file cannot be read or written.
        """
        if len(files) > 1:
            raise UsageError("import config takes one FILE.", "Import them one by one, with --out.")
        target = out or _DEFAULT
        text, notes = _converted(files[0])
        _write(target, text)
        print(target)
        for note in notes:
            print(one_line(f"note: {note}"), file=sys.stderr)
        return 0


def _converted(path: Path) -> tuple[str, list[str]]:
    """Return the text of the file to write, and what there is to know about it."""
    from kinwire.mgp.kernel.file_reading import read_config_text
    from kinwire.mgp.rules.config_file import config_from
    from kinwire.mgp.rules.config_way import ValueSource

    text, notes = _with_our_variables(read_config_text(str(path)))
    # Variables need not be set: placeholders are written as they are.
    config = config_from(text, str(path), ValueSource({}, str(path.absolute().parent)))
    notes += [str(one) for one in config.warnings]
    try:
        content = json.loads(text)
    except ValueError:
        raise UsageError(f"{path} is not JSON.", "mgp.toml can be used as it is.") from None
    entries = content.get("mcpServers", content.get("servers", {}))
    lines = [f"# Made from {path.name} by kinwire import config."]
    for server in config.servers:
        entry: dict[str, Any] = entries[server.id]
        lines += ["", *_server(server.id, entry)]
        notes += _copied(server.id, entry)
    return "\n".join(lines) + "\n", notes


def _with_our_variables(text: str) -> tuple[str, list[str]]:
    """Return a text with `${env:NAME}` and `${input:name}` of other clients as `${NAME}`."""
    asked: dict[str, str] = {}

    def named(found: re.Match[str]) -> str:
        kind, name = found.groups()
        if kind == "input":
            asked[name] = name = re.sub(r"\W", "_", name).upper()
        return f"${{{name}}}" if _NAME.fullmatch(name) else found[0]

    text = _OF_OTHERS.sub(named, text)
    return text, [f"the input {old!r} is the variable {new} now" for old, new in asked.items()]


def _copied(name: str, entry: Mapping[str, Any]) -> Iterator[str]:
    """Yield a note about values that stand in the new file as they are."""
    values = {**entry.get("env", {}), **entry.get("headers", {})}
    plain = [key for key, value in values.items() if "${" not in value]
    if plain:
        text = f"{name}: values were copied; variables keep secrets out of the file"
        yield f"{text}: {', '.join(f'{key} = ${{...}}' for key in plain)}"


def _server(name: str, entry: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of one server."""
    yield "[[servers]]"
    yield f"id = {_value(name)}"
    given = {key: entry[key] for key in _KEYS if key in entry}
    transport = entry.get("transport", entry.get("type"))
    if transport is not None:
        given = {"transport": _TRANSPORTS.get(transport, transport), **given}
    for key, value in given.items():
        if not isinstance(value, dict):
            yield f"{key} = {_value(value)}"
    for key, value in given.items():
        if isinstance(value, dict) and value:
            yield ""
            yield f"[servers.{key}]"
            for below, one in cast("dict[str, Any]", value).items():
                yield f"{_key(below)} = {_value(one)}"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _value(name)


def _value(value: Any) -> str:
    """Return a value of JSON in TOML, in one line."""
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value).items()
        return f"{{ {', '.join(f'{_key(key)} = {_value(one)}' for key, one in fields)} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, cast('list[object]', value)))}]"
    # A string of JSON is one of TOML, but for the one sign that JSON takes as it is.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _write(target: Path, text: str) -> None:
    """Write a new file that only its owner can read: it may have secrets in it."""
    try:
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise UsageError(f"{target} exists already.", "Choose another file with --out.") from None
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
