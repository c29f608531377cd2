"""Rounds: in each one every program is started again, warmed up, and given every load.

So a just-in-time compiler is equally far in every round. The loads are cut into slices that the
programs are given in turn: what disturbs one for a moment disturbs all.
"""

from __future__ import annotations

__all__ = ("Costs", "measure")

import random
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, closing

from tests.bench.commands import Program
from tests.bench.target import Load, Target, cpu_clock

Costs = Mapping[tuple[str, Load], list[float]]
"""CPU microseconds a call of the process under test, a figure a round, by program and load."""

_SLICES = 4


def measure(
    kinds: Mapping[str, tuple[type[Target], Program]], loads: Iterable[Load], rounds: int
) -> Costs:
    """Return what a call costs in each round."""
    programs = {name: program for name, (_, program) in kinds.items()}
    costs: dict[tuple[str, Load], list[float]] = {}
    for _ in range(rounds):
        with ExitStack() as stack:
            targets: dict[str, Target] = {}
            for name, (kind, program) in kinds.items():
                target = kind(program.command, program.env)
                targets[name] = stack.enter_context(closing(target))
                target.exchange(Load(100, 1, program.warm_up))
            for load in loads:
                for name, cost in _costs(programs, targets, load).items():
                    costs.setdefault((name, load), []).append(cost)
    return costs


def _costs(
    programs: Mapping[str, Program], targets: Mapping[str, Target], load: Load
) -> Mapping[str, float]:
    spent = dict.fromkeys(targets, 0.0)
    order = random.sample(list(targets.items()), len(targets))
    for _ in range(_SLICES):
        order.reverse()  # neither a place nor a neighbour may be anybody's own
        for name, target in order:
            part = load._replace(calls=load.calls // programs[name].share // _SLICES)
            begun = cpu_clock(target.pid)
            target.exchange(part)
            spent[name] += (cpu_clock(target.pid) - begun) / part.calls
    return {name: seconds / _SLICES * 1e6 for name, seconds in spent.items()}
