"""TOML and JSON texts, read into values that know where they stand."""

from __future__ import annotations

__all__ = ("file_node", "toml_node")

import json
import re
import tomllib
from typing import Final

from kinwire.mgp.rules.config_nodes import ConfigNode
from kinwire.mgp.rules.config_problem import ConfigError, ConfigProblem, Place
from kinwire.mgp.rules.file_places import DEEPEST
from kinwire.mgp.rules.json_places import JsonPlaces
from kinwire.mgp.rules.toml_places import TomlPlaces

_HIDDEN: Final = re.compile(
    r"""["]{3}(?:[^"\\]|\\.|"(?!""))*+(?:["]{3,5})?|'{3}(?:[^']|'(?!''))*+(?:'{3,5})?"""
    r"""|"(?:[^"\\\n]|\\.)*+"?|'[^'\n]*+'?|\#[^\n]*+""",
    re.DOTALL,
)
"""Strings, also keys in quotes, and comments; what is not closed goes to its end."""
_LONG_KEY: Final = re.compile(
    rf"(?<![A-Za-z0-9_-])(?:[A-Za-z0-9_-]++[ \t]*+\.[ \t]*+){{{DEEPEST}}}"
)
_AT: Final = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def file_node(text: str, file: str) -> ConfigNode:
    """Return the top table of a text in TOML, or in JSON if it begins with a brace.

    Raises:
        ConfigError: it is neither, or values are too deep in one another.
    """
    return _json_node(text, file) if text.lstrip()[:1] == "{" else toml_node(text, file)


def toml_node(text: str, file: str) -> ConfigNode:
    """Return the top table of a TOML text.

    Raises:
        ConfigError: it is not TOML, or values are too deep in one another.
    """
    if _LONG_KEY.search(_HIDDEN.sub(_in_place, text)):  # `tomllib` would take minutes for it
        raise _too_deep(file)
    try:
        return ConfigNode(tomllib.loads(text), (), file, TomlPlaces(text))
    except ValueError as error:  # also of a number with thousands of digits
        place = Place(file, *_place_in(str(error), text))
        said = _AT.sub(_in_words, str(error))
        raise ConfigError(ConfigProblem(place, f"not TOML: {said}")) from None
    except RecursionError:
        raise _too_deep(file) from None


def _json_node(text: str, file: str) -> ConfigNode:
    try:
        node = ConfigNode(json.loads(text), (), file, places := JsonPlaces(text))
    except json.JSONDecodeError as error:
        place = Place(file, error.lineno, error.colno)
        raise ConfigError(ConfigProblem(place, f"not JSON: {error.msg}")) from None
    except ValueError as error:  # of a number with thousands of digits
        raise ConfigError(ConfigProblem(Place(file, 1, 1), f"not JSON: {error}")) from None
    except RecursionError:
        raise _too_deep(file) from None
    for path in places.repeated:
        place = Place(file, *places.of_key(path))
        raise ConfigError(ConfigProblem(place, f"the key {path[-1]!r:.60} is there twice"))
    return node


def _in_place(hidden: re.Match[str]) -> str:
    """Return what stands for a string or a comment where only keys matter."""
    return "" if hidden[0].startswith("#") else "x"


def _too_deep(file: str) -> ConfigError:
    return ConfigError(ConfigProblem(Place(file, 1, 1), "values are too deep in one another"))


def _in_words(found: re.Match[str]) -> str:
    """Return what is kept of the place that a message of `tomllib` ends with."""
    return "" if found[1] else ": the text ends there"


def _place_in(message: str, text: str) -> tuple[int, int]:
    """Return the place that a message of `tomllib` ends with, else the end of the text."""
    found = _AT.search(message)
    if found is None or found[1] is None:
        return text.count("\n") + 1, len(text) - text.rfind("\n")
    return int(found[1]), int(found[2])
