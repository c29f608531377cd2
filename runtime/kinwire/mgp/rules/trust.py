"""How far a server is trusted, and what that decides (MGP 0.2.0 section 2.3).

The defaults of each level are ours: the specification names the levels only.
"""

from __future__ import annotations

__all__ = ("DEFAULTS", "LEVELS", "TrustDefaults", "effective_trust", "known_trust")

from typing import Final, NamedTuple

from kinwire_protocols.mgp.models import DefaultPolicy, RiskLevel, SafetyLevel, TrustLevel

LEVELS: Final[tuple[TrustLevel, ...]] = ("sandboxed", "standard", "trusted")
"""From the least trust to the most."""

_LATER: Final[dict[str, TrustLevel]] = {  # the names of MGP 0.6, an upstream draft
    "core": "trusted",
    "experimental": "sandboxed",
    "untrusted": "sandboxed",
}


class TrustDefaults(NamedTuple):
    """What holds for a server where `ServerPolicy` says nothing."""

    access: DefaultPolicy
    code_safety: SafetyLevel
    confirm: frozenset[RiskLevel]
    """The risks whose calls are confirmed one by one."""


DEFAULTS: Final[dict[TrustLevel, TrustDefaults]] = {
    "trusted": TrustDefaults("opt-out", "standard", frozenset({"dangerous"})),
    "standard": TrustDefaults("opt-out", "strict", frozenset({"dangerous"})),
    "sandboxed": TrustDefaults("opt-in", "readonly", frozenset({"moderate", "dangerous"})),
}


def known_trust(declared: str) -> TrustLevel:
    """Return the level that a server declares; a word that is not known means `sandboxed`."""
    if declared in LEVELS:
        return declared
    return _LATER.get(declared, "sandboxed")


def effective_trust(configured: TrustLevel, declared: str | None) -> TrustLevel:
    """Return the lower of what the configuration and the server say.

    A server can lower its trust and never raise it. One that declares nothing has what is
    configured.
    """
    if declared is None:
        return configured
    own = known_trust(declared)
    return own if LEVELS.index(own) < LEVELS.index(configured) else configured
