"""Reading a policy file from the disk."""

from __future__ import annotations

__all__ = ("load_policy",)

import os

from kinwire.mgp.kernel.file_reading import read_config_text
from kinwire.mgp.rules.policy import Policy
from kinwire.mgp.rules.policy_file import policy_from
from kinwire.support.arguments import PATH, ArgumentCheck

_LOAD_POLICY = ArgumentCheck("load_policy", 'load_policy("policy.toml")', {"path": PATH})


def load_policy(path: str | os.PathLike[str]) -> Policy:
    """Read a policy file for `MgpKernel(policy=...)`.

    Raises:
        ConfigError: the file is not TOML in UTF-8, is longer than 256 KiB, has a wrong key, value
            or name of a permission, or other users of the machine could have written it.
        OSError: it cannot be read.
        TypeError: `path` is not a path.
    """
    _LOAD_POLICY.check(path=path)
    name = os.fspath(path)
    return policy_from(read_config_text(name), name)
