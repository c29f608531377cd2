"""What a kernel knows of a tool by itself: from its name, its parameters and its hints.

This is what protects a host from servers without MGP, and from servers that call a dangerous tool
safe (MGP 0.2.0 sections 4.4, 8.2). It goes by words, so it is a start and not a proof: what it
cannot judge is `moderate`, and configuration may raise every risk.
"""

from __future__ import annotations

__all__ = ("Signs", "signs_of", "words_of")

from collections.abc import Iterator
from typing import Final, NamedTuple

from kinwire.mgp.rules.validators.places import words_of_name
from kinwire.mgp.rules.word_set import word_set
from kinwire.rpc.codec import is_object
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mgp.models import RiskLevel

_MOST_PARAMETERS = 200


_SHELL: Final = word_set(
    "bash cmd command commands exec powershell shell spawn subprocess sudo zsh"
)
_CODE: Final = word_set("code eval evaluate execute interpreter javascript python repl run")
_DESTROYS: Final = word_set(
    "delete destroy drop erase format kill purge reboot remove rm rmdir shutdown terminate "
    "truncate uninstall unlink wipe"
)
_WRITES: Final = word_set(
    "add append apply assign commit copy create deploy edit execute insert install merge modify "
    "move patch post publish push put rename replace reset run save schedule script send set store "
    "submit transfer update upload write"
)
_READS: Final = word_set(
    "calculate check compare count describe diff echo explain find get glob grep info inspect list "
    "lookup peek ping query read recall search show stat status summarize think time tree validate "
    "version view"
)
_NETWORK: Final = word_set(
    "browse browser crawl curl download fetch http https request scrape url webhook wget"
)
_COMMAND_PARAMETERS: Final = word_set("argv cmd cmdline command commands shell")
_CODE_PARAMETERS: Final = word_set("code program python script snippet source")
_URL_PARAMETERS: Final = word_set("endpoint href uri url urls webhook")


class Signs(NamedTuple):
    """What was found."""

    risk: RiskLevel
    runs_commands: bool
    takes_code: bool
    reaches_network: bool


def words_of(name: str) -> frozenset[str]:
    """Return the words of a name in lower case: `runShell_v2` has `run`, `shell`, `v` and `2`."""
    return frozenset(words_of_name(name))


def signs_of(name: str, schema: JsonObject, annotations: JsonObject) -> Signs:
    """Return what the name, the parameters and the hints of a tool show."""
    words, parameters = words_of(name), frozenset(_parameterword_set(schema))
    commands = bool(parameters & _COMMAND_PARAMETERS) or bool(words & _SHELL and parameters)
    code = bool(parameters & _CODE_PARAMETERS and words & (_CODE | _WRITES))
    network = bool(words & _NETWORK or parameters & _URL_PARAMETERS)
    return Signs(_risk(words, annotations, commands or code, network), commands, code, network)


def _risk(
    words: frozenset[str], annotations: JsonObject, runs: bool, reaches_network: bool
) -> RiskLevel:
    if runs or words & (_SHELL | _DESTROYS) or annotations.get("destructiveHint") is True:
        return "dangerous"
    if reaches_network or words & _WRITES or annotations.get("openWorldHint") is True:
        return "moderate"
    harmless = words & _READS or annotations.get("readOnlyHint") is True
    return "safe" if harmless else "moderate"


def _parameterword_set(schema: JsonObject) -> Iterator[str]:
    properties: object = schema.get("properties")
    if is_object(properties):
        for name in list(properties)[:_MOST_PARAMETERS]:
            yield from words_of(name)
