"""Rounds: in each one every program is started anew, warmed up, and given every load once.

So what disturbs one disturbs all, and a just-in-time compiler is equally far in every round.
"""

from __future__ import annotations

__all__ = ("Costs", "measure")

from collections.abc import Iterable, Mapping
from contextlib import closing

from tests.bench.commands import Program
from tests.bench.target import Load, Target, cpu_clock

Costs = Mapping[tuple[str, Load], list[float]]
"""CPU microseconds a call of the process under test, a figure a round, by program and load."""


def measure(
    kind: type[Target], programs: Mapping[str, Program], loads: Iterable[Load], rounds: int
) -> Costs:
    """Return what a call costs in each round."""
    costs: dict[tuple[str, Load], list[float]] = {}
    order = list(programs.items())
    for _ in range(rounds):
        for name, program in order:
            with closing(kind(program.command, program.env)) as target:
                target.exchange(Load(100, 1, program.warm_up))
                for load in loads:
                    cost = _cost(target, load._replace(calls=load.calls // program.share))
                    costs.setdefault((name, load), []).append(cost)
        order.reverse()  # a drift within a round favours nobody
    return costs


def _cost(target: Target, load: Load) -> float:
    begun = cpu_clock(target.pid)
    target.exchange(load)
    return (cpu_clock(target.pid) - begun) / load.calls * 1e6
