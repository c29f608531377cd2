"""Which messages belong to feature sets, and whether one may be sent (MCPL 6.2, 6.5 to 6.7).

The tables `Uses` and `Tagging` of the protocol document say it for both roles: the sender does not
send what is off, and the receiver refuses it. A message names its set, or belongs to every set with
a use. If no set of a server declares that use, the offer of the server alone counts.
"""

from __future__ import annotations

__all__ = (
    "HOOKS",
    "METHOD_USES",
    "NAMED_SET_USE",
    "SET_REQUESTS",
    "ListsOf",
    "channel_refusal",
    "hook_refusal",
    "open_refusal",
    "opened_refusal",
)

from collections.abc import Callable, Mapping
from typing import Any, Final

from kinwire.mcpl.rules.channels import OBSERVE, PUBLISH, sees
from kinwire.mcpl.rules.feature_sets import FeatureSets
from kinwire.mcpl.rules.scopes import ScopeLists
from kinwire_protocols.mcpl.errors import ChannelNotPermittedError, FeatureSetNotEnabledError
from kinwire_protocols.mcpl.methods import (
    CONTEXT_AFTER_INFERENCE,
    CONTEXT_BEFORE_INFERENCE,
    INFERENCE_REQUEST,
    PUSH_EVENT,
    SCOPE_ELEVATE,
)
from kinwire_protocols.mcpl.tables import TAGGING, USES
from kinwire_protocols.peer import Method

METHOD_USES: Final[Mapping[str, tuple[str, ...]]] = {
    method: tuple(rule.use for rule in USES.values() if method in rule.methods)
    for method in dict.fromkeys(method for rule in USES.values() for method in rule.methods)
}
"""The uses of a method, one of which a set must declare; others belong to no use."""

NAMED_SET_USE: Final[Mapping[str, str | None]] = {
    rule.method: next(iter(METHOD_USES.get(rule.method, ())), None)
    for rule in TAGGING
    if rule.part == "params"
}
"""The methods whose params name a set, and the use that it must declare; None for any set."""


SET_REQUESTS: Final[tuple[Method[Any, Any], ...]] = (PUSH_EVENT, INFERENCE_REQUEST, SCOPE_ELEVATE)
"""The requests of a server that name a set."""

HOOKS: Final[tuple[Method[Any, Any], ...]] = (CONTEXT_BEFORE_INFERENCE, CONTEXT_AFTER_INFERENCE)
"""The messages around an inference of the host; they belong to every set that uses them."""


ListsOf = Callable[[str], ScopeLists | None]
"""Returns the lists of a feature set, or None without any."""

_HOOK_USES = {row.name: METHOD_USES[row.name][0] for row in HOOKS}


def hook_refusal(method: str, sets: FeatureSets) -> FeatureSetNotEnabledError | None:
    """Return the error for a hook if every set that uses it is off, or None.

    It is None for methods that are not hooks.
    """
    use = _HOOK_USES.get(method)
    if use is None or sets.with_use(use) != ():
        return None
    return FeatureSetNotEnabledError(
        f"Feature set not enabled: every set that uses {use} is off",
        data={"featureSet": next(name for name, one in sets.declared.items() if use in one.uses)},
    )


def channel_refusal(
    use: str, channel_id: str, sets: FeatureSets, lists_of: ListsOf
) -> ChannelNotPermittedError | None:
    """Return the error for a message of a channel, or None if some enabled set may send or see it.

    Only blacklists count here: what is in neither list, the host decides before it is sent.
    """
    names = sets.with_use(use)
    if names is None:
        return None
    reason = f"no feature set that is on uses {use} there"
    for name in names:
        if use == OBSERVE and not sees(name, channel_id):
            continue
        known = lists_of(name)
        denial = None if known is None else known.denial(channel_id)
        if denial is None:
            return None
        reason = denial
    data = {"channelId": channel_id}
    return ChannelNotPermittedError(f"Channel not permitted: {reason}", data=data)


def open_refusal(type: str, sets: FeatureSets) -> ChannelNotPermittedError | None:
    """Return the error for opening a channel if every set that uses channels is off, or None."""
    found = [names for use in (PUBLISH, OBSERVE) if (names := sets.with_use(use)) is not None]
    if any(found) or not found:
        return None
    return ChannelNotPermittedError(
        "Channel not permitted: no feature set that is on uses channels", data={"type": type}
    )


def opened_refusal(
    channel_id: str, sets: FeatureSets, lists_of: ListsOf
) -> ChannelNotPermittedError | None:
    """Return the error for a channel on which nothing may be sent and nothing seen, or None."""
    found = [channel_refusal(use, channel_id, sets, lists_of) for use in (PUBLISH, OBSERVE)]
    return found[0] if None not in found else None
