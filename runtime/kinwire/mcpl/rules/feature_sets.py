"""Which feature sets are on, and whether a message of a set is refused (MCPL 6).

The same on both sides: a host switches the sets of a server, and the server learns from updates
what it may do. `host.py` and `server.py` have the messages.
"""

from __future__ import annotations

__all__ = ("FeaturePolicy", "FeatureSetError", "FeatureSets", "unknown_set")

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import dropwhile

from kinwire.mcpl.rules.names import ServerPattern, is_pattern, matches, patterns_for
from kinwire.mcpl.rules.offers import MOST_SETS
from kinwire_protocols.mcpl.errors import FeatureSetNotEnabledError, UnknownFeatureSetError
from kinwire_protocols.mcpl.models import FeatureSet

FeatureSetError = FeatureSetNotEnabledError | UnknownFeatureSetError


@dataclass(frozen=True, slots=True, kw_only=True)
class FeaturePolicy:
    """Which feature sets a host enables, by patterns. A set that no pattern matches is off.

    A pattern is `PATTERN`, for all servers, or `SERVER/PATTERN`; see `ServerPattern`.
    """

    enabled: tuple[str, ...] = ()
    disabled: tuple[str, ...] = ()
    """Off, even if `enabled` matches."""
    forbidden: tuple[str, ...] = ()
    """Off, and never enabled while the host runs: `canEnable` is false."""

    def __post_init__(self) -> None:
        for pattern in (*self.enabled, *self.disabled, *self.forbidden):
            ServerPattern.read(pattern)

    def of_server(self, server_id: str | None) -> FeaturePolicy:
        """Return the policy for one server: the patterns that apply to it, without their server."""
        return FeaturePolicy(
            enabled=_patterns_of(self.enabled, server_id),
            disabled=_patterns_of(self.disabled, server_id),
            forbidden=_patterns_of(self.forbidden, server_id),
        )

    def names(self, server_id: str) -> bool:
        """Return whether a pattern is for the server with this `server_id` only."""
        texts = (*self.enabled, *self.disabled, *self.forbidden)
        return any(ServerPattern.read(text).server_id == server_id for text in texts)

    def enables(self, name: str) -> bool:
        """Return whether a set with this name is on at first."""
        off = (*self.disabled, *self.forbidden)
        return _any(self.enabled, name) and not _any(off, name)

    def forbids(self, name: str) -> bool:
        """Return whether a set with this name stays off."""
        return _any(self.forbidden, name)


def unknown_set(name: str) -> UnknownFeatureSetError:
    """Return the error for a message of a set that is not declared."""
    return UnknownFeatureSetError(f"Unknown feature set: {name!r:.130}", data={"featureSet": name})


class FeatureSets:
    """The sets that one server declares, each on or off."""

    def __init__(
        self,
        declared: Mapping[str, FeatureSet],
        *,
        enabled: bool,
        policy: FeaturePolicy = FeaturePolicy(),
    ) -> None:
        """Start with these sets, all on or all off."""
        self._declared = dict(declared)
        self._on = set(self._declared) if enabled else set[str]()
        self._policy = policy
        self._overridden: dict[str, bool] = {}  # by pattern, the last one at the end
        self._with_use: dict[str, tuple[str, ...] | None] = {}  # until something changes

    @property
    def declared(self) -> Mapping[str, FeatureSet]:
        """The sets by name, including those that `change` added."""
        return self._declared

    @property
    def enabled(self) -> list[str]:
        """The names of those that are on, sorted."""
        return sorted(self._on)

    @property
    def disabled(self) -> list[str]:
        """The names of those that are off, sorted."""
        return sorted(set(self._declared) - self._on)

    @property
    def overridden(self) -> Mapping[str, bool]:
        """By pattern whether `override` enabled or disabled last; of two the later one counts.

        Patterns at the front that were enabled are left out: they end nothing.
        """
        return dict(dropwhile(lambda one: one[1], self._overridden.items()))

    def with_use(self, use: str) -> tuple[str, ...] | None:
        """Return the names of the sets that declare `use` and are on, sorted.

        It is None if no declared set has that use: then the offer of the server alone counts.
        """
        if use not in self._with_use:
            having = [name for name, one in self._declared.items() if use in one.uses]
            on = tuple(sorted(name for name in having if name in self._on))
            self._with_use[use] = on if having else None
        return self._with_use[use]

    def switch(self, *, enabled: Iterable[str] = (), disabled: Iterable[str] = ()) -> None:
        """Enable and disable the declared sets that these patterns match.

        A set that no pattern matches does not change, and one that both match is off. An invalid
        pattern matches nothing.
        """
        on = self._named(enabled)
        self._on |= {name for name in on if not self._policy.forbids(name)}
        self._on -= self._named(disabled)
        self._with_use.clear()

    def override(self, *, enabled: Iterable[str] = (), disabled: Iterable[str] = ()) -> None:
        """Switch like `switch`, and remember it for sets that are declared later.

        What is enabled so ends what was disabled so; it does not enable later sets by itself.
        """
        enabled, disabled = tuple(enabled), tuple(disabled)
        self.switch(enabled=enabled, disabled=disabled)
        said = [*((pattern, True) for pattern in enabled), *((one, False) for one in disabled)]
        for pattern, on in said:  # a new pattern replaces the ones that it covers
            kept = {one: was for one, was in self._overridden.items() if not matches(pattern, one)}
            self._overridden = {**kept, pattern: on}

    def restore(self, overridden: Mapping[str, bool]) -> None:
        """Switch every set as the policy says and this does not disable; {} for the policy."""
        self._overridden = dict(overridden)
        self.obey_policy()

    def obey_policy(self) -> None:
        """Switch every set as the policy says, except for those that `override` disabled."""
        self._on = {name for name in self._declared if self._is_wanted(name)}
        self._with_use.clear()

    def change(self, *, added: Mapping[str, FeatureSet], removed: Iterable[str]) -> None:
        """Remove and add sets. An added set is off, even if it was declared before."""
        for name in removed:
            self._declared.pop(name, None)
        for name, declared in added.items():
            if name in self._declared or len(self._declared) < MOST_SETS:
                self._declared[name] = declared
        self._on = {name for name in self._on if name in self._declared and name not in added}
        self._with_use.clear()

    def obey_policy_for(self, names: Iterable[str]) -> None:
        """Switch on those of these sets that the policy enables and `override` did not disable.

        The others do not change.
        """
        self._on |= {name for name in names if name in self._declared and self._is_wanted(name)}
        self._with_use.clear()

    def refusal(self, name: str, use: str | None = None) -> FeatureSetError | None:
        """Return the error for a message of this set, or None if it is allowed.

        `use` is what the message uses, such as `pushEvents`: the set has to declare it.
        """
        declared = self._declared.get(name)
        if declared is None:
            return unknown_set(name)
        if name not in self._on:
            return FeatureSetNotEnabledError(
                f"Feature set not enabled: {name!r:.130}",
                data={"featureSet": name, "canEnable": not self._policy.forbids(name)},
            )
        if use is None or use in declared.uses:
            return None
        return FeatureSetNotEnabledError(
            f"Feature set not enabled: {name!r:.130} does not declare that it uses {use}",
            data={"featureSet": name, "canEnable": False},
        )

    def withheld(self) -> list[str]:
        """Return the names of sets that the policy enables and `override` has disabled, sorted."""
        enabled = {name for name in self._declared if self._policy.enables(name)}
        return sorted(name for name in enabled if not self._last_said(name))

    def _is_wanted(self, name: str) -> bool:
        return self._policy.enables(name) and self._last_said(name)

    def _last_said(self, name: str) -> bool:
        said = reversed(self._overridden.items())
        return next((on for pattern, on in said if matches(pattern, name)), True)

    def _named(self, patterns: Iterable[str]) -> set[str]:
        # A peer may list very many patterns, so each name is looked up by its own possible ones.
        listed = {pattern for pattern in patterns if is_pattern(pattern)}
        return {name for name in self._declared if not listed.isdisjoint(patterns_for(name))}


def _patterns_of(texts: Iterable[str], server_id: str | None) -> tuple[str, ...]:
    patterns = map(ServerPattern.read, texts)
    return tuple(one.pattern for one in patterns if one.is_for(server_id))


def _any(patterns: Iterable[str], name: str) -> bool:
    return any(matches(pattern, name) for pattern in patterns)
