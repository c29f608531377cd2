"""`kinwire config check`: whether a configuration file can be used, and what it means."""

from __future__ import annotations

__all__ = ("ConfigCommand",)

import shutil
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from kinwire_cli.failure import PROBLEMS_FOUND
from kinwire_cli.layout import columns, json_text, one_line, printable, with_labels

if TYPE_CHECKING:
    from kinwire.mgp import ConfiguredServer, KernelConfig, ServerSpec
    from kinwire.mgp.rules.config_problem import Place

_USAGE = "kinwire config check [FILE] [--format text|json]"
_EPILOG = """\
Without FILE it is the one that kinwire up finds. Servers are not started. Values of env, headers,
args and paths of URLs are not shown.
"""
_SHOWN = ("server", "reached by", "trust", "restart", "problem")


class Remark(NamedTuple):
    """One thing that is to be reported about the file."""

    level: str
    """`error` if a server or the file cannot be used, else `warning`."""
    place: Place
    text: str


class ConfigCommand:
    """`kinwire config check [FILE]`."""

    name: ClassVar[str] = "config"
    summary: ClassVar[str] = "check the configuration file of a kernel"
    group: ClassVar[str] = "kernel"
    exit_codes: ClassVar[dict[int, str]] = {1: "the file has mistakes, or a server cannot start"}
    examples: ClassVar[tuple[str, ...]] = (
        "kinwire config check",
        "kinwire config check mgp.toml --format json",
    )

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the subcommand's arguments."""
        parser.usage, parser.epilog = _USAGE, _EPILOG
        parser.add_argument("action", choices=("check",))
        text = "mgp.toml, or JSON with mcpServers"
        parser.add_argument("file", nargs="?", metavar="FILE", help=text)
        parser.add_argument("--format", choices=("text", "json"), default="text")

    def run(self, arguments: Namespace) -> int:
        """Check it; return 1 if something is wrong."""
        from kinwire.mgp import ConfigError, KernelConfig, load_config
        from kinwire_cli.kernel_config import config_file

        path = config_file(arguments.file, "kinwire config check mgp.toml")
        try:
            config = load_config(path)
            remarks = sorted(_remarks(config), key=lambda one: one.place)
        except ConfigError as error:
            config = KernelConfig(str(path))
            remarks = [Remark("error", error.place, error.text)]
        if arguments.format == "json":
            print(json_text(_as_json(config, remarks)))
        else:
            _print(config, remarks)
        return PROBLEMS_FOUND if remarks else 0


def _remarks(config: KernelConfig) -> Iterator[Remark]:
    from kinwire_cli.kernel_config import refused_text

    for problem in config.warnings:
        yield Remark("warning", problem.place, problem.text)
    for name, problem in config.refused.items():
        yield Remark("error", problem.place, refused_text(name, problem))
    for server in config.servers:
        if server.spec is not None and not _is_found(server.spec):
            text = f"the server {server.id!r:.60} cannot start: there is no command "
            way = f"{_way(server.spec)!r:.60}"
            hint = ". Write the words after it in args" if way.endswith(" ...'") else ""
            yield Remark("error", server.place, f"{text}{way}{hint}")


def _is_found(spec: ServerSpec) -> bool:
    return spec.command is None or shutil.which(spec.command) is not None


def _print(config: KernelConfig, remarks: list[Remark]) -> None:
    for one in remarks:
        print(with_labels(one_line(f"{one.level}: {one.place}: {one.text}")), file=sys.stderr)
    if config.servers:
        rows = [tuple(row.values()) for row in map(_row, config.servers)]
        print(printable(columns([_SHOWN[:-1], *(row[:-1] for row in rows)])))
    if config.servers or not remarks:
        can_start = sum(_is_found(spec) for spec in config.specs)
        summary = f"{can_start} of {len(config.servers)} servers can start"
        print(one_line(f"{config.file}: {summary}"), file=sys.stderr)


def _row(server: ConfiguredServer) -> dict[str, str]:
    spec = server.spec
    cells = (
        server.id,
        "-" if spec is None else _way(spec),
        server.profile.trust_level or "standard",
        "-" if spec is None else spec.restart.policy,
        "" if server.problem is None else server.problem.text,
    )
    return dict(zip(_SHOWN, cells, strict=True))


def _way(spec: ServerSpec) -> str:
    """Return the command without arguments, which may be in it by mistake, or scheme and host."""
    if spec.command is not None and _is_found(spec):
        return spec.command
    if spec.url is None:
        first, *rest = (spec.command or "").split(maxsplit=1) or [""]
        return f"{first} ..." if rest else first
    from urllib.parse import urlsplit

    parts = urlsplit(spec.url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _known(row: dict[str, str]) -> dict[str, str]:
    """Return the cells that say something, by keys for programs."""
    return {key.replace(" ", "_"): cell for key, cell in row.items() if cell not in ("", "-")}


def _as_json(config: KernelConfig, remarks: list[Remark]) -> dict[str, Any]:
    return {
        "file": config.file,
        "servers": [_known(_row(one)) for one in config.servers],
        "problems": [
            {
                "level": one.level,
                "line": one.place.line,
                "column": one.place.column,
                "text": one.text,
            }
            for one in remarks
        ],
    }
