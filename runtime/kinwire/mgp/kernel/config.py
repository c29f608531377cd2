"""Reading a configuration file from the disk, and reading it again when it has changed."""

from __future__ import annotations

__all__ = ("ConfigFile", "load_config")

import os
from collections.abc import Mapping

from kinwire.mgp.kernel.config_place import config_path
from kinwire.mgp.kernel.file_reading import FileStamp, read_config_text, stamp_of
from kinwire.mgp.rules.config_file import config_from
from kinwire.mgp.rules.config_problem import ConfigError, ConfigProblem, Place
from kinwire.mgp.rules.config_way import ValueSource
from kinwire.mgp.rules.kernel_config import KernelConfig
from kinwire.support.arguments import FLAG, PATH, SECRET, ArgumentCheck, table_of

_VARIABLES = table_of(SECRET, "a dictionary of strings", '"NAME"').or_none
_LOAD_CONFIG = ArgumentCheck(
    "load_config", 'load_config("mgp.toml")', {"path": PATH.or_none}, variables=_VARIABLES
)
_CONFIG_FILE = ArgumentCheck(
    "ConfigFile",
    'ConfigFile("mgp.toml")',
    {"path": PATH.or_none},
    variables=_VARIABLES,
    may_be_absent=FLAG,
)
_RELOAD = ArgumentCheck("ConfigFile.reload", "config_file.reload()", {}, approved=FLAG)


def load_config(
    path: str | os.PathLike[str] | None = None, *, variables: Mapping[str, str] | None = None
) -> KernelConfig:
    """Read the servers of a kernel from `mgp.toml`, or from JSON with `mcpServers`.

    Without `path` it is the first of these: the file that `$MGP_CONFIG_PATH` names, `./mgp.toml`,
    `~/.config/mgp/servers.toml`, the file that `$MCP_CONFIG_PATH` names, `./mcp.toml` (MGP 0.2.0
    section 15.2). `${NAME}` in values of `env` and `headers` is filled in from `variables`, which
    is the environment of this process if it is None. A server that names a variable which is not
    set is in `refused`, and the others in `specs`.

    Raises:
        ConfigError: the file is neither TOML nor JSON in UTF-8, is longer than 256 KiB, names more
            than 1,000 servers, has a wrong value, or other users of the machine could have written
            it.
        OSError: it cannot be read; FileNotFoundError if there is no file.
        TypeError: an argument is not of its type.
    """
    _LOAD_CONFIG.check(path=path, variables=variables)
    found = config_path(path)
    return _load(found, variables, found)


class ConfigFile:
    """A configuration file that is read again on demand: the last one that was right counts.

    `ConfigFile()` finds the file as `load_config` does, and keeps to it: another one that appears
    in a place of a higher rank is not looked at. With `may_be_absent` there need not be a file yet,
    and the configuration is empty. A file that was not there is not trusted when it appears, since
    a tool of a server may have written it: `reload(approved=True)` loads it.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        variables: Mapping[str, str] | None = None,
        may_be_absent: bool = False,
    ) -> None:
        """Read the file.

        Raises:
            ConfigError, OSError, TypeError: as `load_config` does.
        """
        _CONFIG_FILE.check(path=path, variables=variables, may_be_absent=may_be_absent)
        self._variables = variables
        self.path = config_path(path, may_be_absent=may_be_absent)
        """The path of the file, as problems show it."""
        self._place = os.path.abspath(self.path)  # the program may change its working folder
        self.current = KernelConfig(self.path)
        """What the file said when it was last right."""
        self._was_absent = may_be_absent and not os.path.lexists(self._place)
        self._stamp: FileStamp | None = None
        self._seen: FileStamp | None = None
        if not self._was_absent:
            self._read()

    def reload(self, *, approved: bool = False) -> KernelConfig:
        """Read the file again, and return what it says. After an error `current` is as before.

        `approved` says that an operator wants the file although it was not there before.

        Raises:
            ConfigError: as for `load_config`; or the file was not there before.
            OSError: it cannot be read.
        """
        _RELOAD.check(approved=approved)
        if not os.path.lexists(self._place):
            self._was_absent = True
        elif self._was_absent and not approved:
            text = (
                "the file was absent before, and an operator must approve it now: "
                "reload(approved=True), or start the kernel again"
            )
            raise ConfigError(ConfigProblem(Place(self.path, 1, 1), text))
        self._read()
        self._was_absent = False
        return self.current

    def poll(self) -> KernelConfig | None:
        """Return what the file says if it has changed since the last call that returned or raised.

        A change counts once the file was the same in two calls, so a file that is still being
        written is not read. Call it about once a second.

        Raises:
            ConfigError, OSError: as `reload` does, once for each change.
        """
        now = stamp_of(self._place)
        before, self._seen = self._seen, now
        if now in (None, self._stamp) or now != before:
            if now is None:
                self._was_absent = True
            return None
        self._stamp = now
        return self.reload()

    def _read(self) -> None:
        self._stamp = self._seen = stamp_of(self._place)
        self.current = _load(self._place, self._variables, self.path)


def _load(place: str, variables: Mapping[str, str] | None, path: str) -> KernelConfig:
    """Read the file at a place; problems show its path."""
    found = os.environ if variables is None else variables
    source = ValueSource(found, os.path.dirname(os.path.abspath(place)))
    return config_from(read_config_text(place, path), path, source)
