"""The templates of this package. Each is compiled once, as Python compiles modules once.

The compiled ones are in the `__pycache__` of the templates. As for modules, `sys.pycache_prefix`
and `sys.dont_write_bytecode` apply, and what cannot be read or written is compiled each time.
"""

from __future__ import annotations

__all__ = ("template_environment",)

import sys
from contextlib import suppress
from importlib.metadata import version
from importlib.util import cache_from_source
from pathlib import Path

from jinja2 import Environment, FileSystemBytecodeCache, PackageLoader, StrictUndefined
from jinja2.bccache import Bucket

_TEMPLATES = Path(__file__).with_name("templates")


def template_environment(*, autoescape: bool) -> Environment:
    """Return an environment in which the templates can be found, without filters."""
    escaped = "escaped" if autoescape else "plain"
    return Environment(
        loader=PackageLoader("kinwire_codegen"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=not autoescape,
        autoescape=autoescape,
        optimized=False,  # so that no result of a filter is in what is kept
        bytecode_cache=_Compiled(escaped) if sys.implementation.cache_tag else None,
    )


class _Compiled(FileSystemBytecodeCache):
    """The files of compiled templates; Jinja compares each with a checksum of its source."""

    def __init__(self, settings: str) -> None:
        folder = Path(cache_from_source(str(_TEMPLATES / "any.py"))).parent
        maker = f"{sys.implementation.cache_tag}-jinja-{version('jinja2')}-{settings}"
        super().__init__(str(folder), f"%s.{maker}")

    def load_bytecode(self, bucket: Bucket) -> None:
        """Load the compiled template, if there is one and it can be read."""
        try:
            super().load_bytecode(bucket)
        except Exception:  # a damaged file may raise anything
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Write the compiled template, if that is wanted and possible."""
        if not sys.dont_write_bytecode:
            with suppress(OSError):
                Path(self.directory).mkdir(parents=True, exist_ok=True)
                super().dump_bytecode(bucket)
