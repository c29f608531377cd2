"""Files of third parties in JSON and YAML, which may be malformed in any place."""

from __future__ import annotations

__all__ = ("MALFORMED", "SUFFIXES", "check_names", "entry", "read_data", "read_json")

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from kinwire_codegen.imports.imported import UselessFileError
from kinwire_codegen.imports.well_formed import MalformedSchemaError
from kinwire_codegen.load.parsing import DEEPEST, TooDeepError, parse, refuse_what_json_lacks

MALFORMED = (AttributeError, LookupError, TypeError, ValueError, RecursionError)
"""What walking a file raises where it is not what a kind expects."""

SUFFIXES = (".json", ".yaml", ".yml")
"""The suffixes of files that `read_data` reads."""

_LARGEST = 2_000_000  # values, with aliases written out; the largest protocols have 200,000


def check_names(entries: Any, key: str, what: str, path: Path) -> None:
    """Refuse a list of entries unless each is an object with a name of its own at `key`.

    Raises:
        UselessFileError: the list has to be corrected; `what` is what its entries are called.
    """
    if not isinstance(entries, list):
        raise UselessFileError(f"the {what} are not a list.", "Fix the file.", path)
    known: set[str] = set()
    for number, one in enumerate(entries, 1):
        name = one.get(key) if isinstance(one, dict) else None
        if not isinstance(name, str) or not name:
            text = f"number {number} of the {what} has no text {key!r}."
            raise UselessFileError(text, "Fix the file.", path)
        if name in known:
            text = f"there are two {what} called {name!r}."
            raise UselessFileError(text, "Remove one of them.", path)
        known.add(name)


@contextmanager
def entry(place: str) -> Iterator[None]:
    """Name the entry of a file that cannot be read because it is malformed.

    Raises:
        MalformedSchemaError: it is.
    """
    try:
        yield
    except MalformedSchemaError:
        raise
    except MALFORMED:
        raise MalformedSchemaError(f"{place} is not well-formed") from None


def read_json(path: Path) -> Any:
    """Return what a JSON file says.

    Raises:
        UselessFileError: it cannot be read, or is not JSON.
    """
    return _parsed(path, "JSON")


def read_data(path: Path) -> Any:
    """Return what a JSON or YAML file says; the suffix decides.

    YAML is read by the core schema of version 1.2: `no`, `on`, dates and all keys are text.

    Raises:
        UselessFileError: it cannot be read, or is neither.
    """
    return _parsed(path, "YAML" if path.suffix in SUFFIXES[1:] else "JSON")


def _parsed(path: Path, language: str) -> Any:
    try:
        text = path.read_text(encoding="utf-8-sig")  # tools of Windows write a byte order mark
        return _parse_yaml(text) if language == "YAML" else parse(text)
    except OSError as error:
        raise UselessFileError(f"{error.strerror}.", "Correct the path.", path) from None
    except UnicodeDecodeError as error:
        what = f"it is not valid UTF-8 at byte {error.start}."
        raise UselessFileError(what, "Save it as UTF-8.", path) from None
    except TooDeepError as error:
        raise UselessFileError(f"{error}.", error.hint, path) from None
    except ValueError as error:
        what = f"it is not valid {language}: {error}."
        raise UselessFileError(what, "Fix the file.", path) from None


def _parse_yaml(text: str) -> Any:
    import yaml

    try:
        found = yaml.load(text, Loader=_loader())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise ValueError(f"{place}{error.problem or error.context}") from None
    except yaml.YAMLError as error:  # a character that YAML does not have
        raise ValueError(" ".join(str(error).split())) from None
    except RecursionError:
        raise TooDeepError from None
    _check_size(found)
    refuse_what_json_lacks(found)
    return found


@cache
def _loader() -> Any:
    """Return a safe loader with the core schema of YAML 1.2, which refuses repeated keys."""
    import yaml

    class CoreLoader(yaml.SafeLoader):
        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
            found: dict[Any, Any] = {}
            for key_node, value_node in node.value:
                if not isinstance(key_node, yaml.ScalarNode):
                    raise yaml.constructor.ConstructorError(
                        None, None, "a key is not text", key_node.start_mark
                    )
                if key_node.value in found:
                    what = f"the key {key_node.value!r} occurs twice in one mapping"
                    raise yaml.constructor.ConstructorError(None, None, what, key_node.start_mark)
                found[key_node.value] = self.construct_object(value_node, deep=deep)
            return found

    patterns = {
        "null": (r"~|null|Null|NULL|", "~nN"),
        "bool": (r"true|True|TRUE|false|False|FALSE", "tTfF"),
        "int": (r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
        "float": (r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", "-+.0123456789"),
    }
    CoreLoader.yaml_implicit_resolvers = {}
    for kind, (pattern, first) in patterns.items():
        CoreLoader.add_implicit_resolver(
            f"tag:yaml.org,2002:{kind}",
            re.compile(f"^(?:{pattern})$"),
            [*first, ""] if kind == "null" else list(first),
        )
    CoreLoader.add_constructor("tag:yaml.org,2002:int", _integer)
    return CoreLoader


def _integer(loader: Any, node: Any) -> int:
    text = str(node.value)  # 010 is ten: version 1.1 reads it as eight
    return int(text, 0) if text[:2] in ("0o", "0x") else int(text)


def _check_size(found: Any) -> None:
    """Refuse what is too deep or too large when each alias is written out."""
    sizes: dict[int, int] = {}

    def size(node: Any, depth: int) -> int:
        if depth > DEEPEST:
            raise TooDeepError
        if not isinstance(node, dict | list):
            return 1
        if id(node) not in sizes:
            inner = node.values() if isinstance(node, dict) else node
            sizes[id(node)] = 1 + sum(size(one, depth + 1) for one in inner)
        return sizes[id(node)]

    if size(found, 0) > _LARGEST:
        raise ValueError("its aliases stand for more than two million values")
