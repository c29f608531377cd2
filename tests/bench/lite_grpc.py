"""MCP-lite over gRPC: calls, and parts of a stream, next to a bare service of grpc.aio."""

from __future__ import annotations

__all__ = ("rows",)

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, suppress
from statistics import median
from typing import Any

import grpc.aio

from kinwire.mcplite.rules.calls import ToolCall
from kinwire.mcplite.rules.grpc_messages import encoded_call
from kinwire_protocols.mcplite.descriptor import SERVICE
from tests.bench.commands import FLOOR, Program, python_program
from tests.bench.measure import Row, at_most, spread
from tests.bench.rounds import Costs, measure
from tests.bench.target import Load, Target, TargetFailedError, cpu_clock

ROUNDS = 7
SMALL, SEQUENTIAL = Load(100, 64, 5120), Load(100, 1, 2048)
OURS = "ours"

_PARTS = 2_000
_TIMEOUT = 60.0  # seconds


class GrpcServed(Target):
    """A service over gRPC."""

    def __init__(self, command: tuple[str, ...], env: Mapping[str, str]) -> None:
        super().__init__(command, env)
        self._runner = asyncio.Runner()
        self._channel = self._runner.run(self._connected(self._line().decode().strip()))

    async def _connected(self, address: str) -> grpc.aio.Channel:
        return grpc.aio.insecure_channel(address)

    def exchange(self, load: Load) -> None:
        """See `Target.exchange`."""
        self._runner.run(self._calls(load))

    def stream(self, parts: int) -> None:
        """Have one call answered in parts."""
        self._runner.run(self._parts(parts))

    def close(self) -> None:
        """See `Target.close`."""
        self._runner.run(self._channel.close())
        self._runner.close()
        with suppress(ProcessLookupError):
            self._process.terminate()
        super().close()

    async def _calls(self, load: Load) -> None:
        text = "x" * load.size
        request = encoded_call(ToolCall("echo", {"text": text}, {}))
        call: Any = self._channel.unary_unary(f"/{SERVICE}/CallTool")
        left = iter(range(load.calls))

        async def one_after_another() -> None:
            for _ in left:
                if text.encode() not in await call(request, timeout=_TIMEOUT):
                    raise TargetFailedError(f"{self._name}: the text did not come back")

        await asyncio.gather(*(one_after_another() for _ in range(load.at_once)))

    async def _parts(self, parts: int) -> None:
        request = encoded_call(ToolCall("parts", {"text": "some text", "count": parts}, {}))
        call: Any = self._channel.unary_stream(f"/{SERVICE}/CallToolStream")
        found = [message async for message in call(request, timeout=_TIMEOUT)]
        if len(found) != parts + 1:
            raise TargetFailedError(
                f"{self._name}: expected a stream of {parts}, got {len(found)} messages"
            )


def rows() -> Iterator[Row]:
    """Yield the measurements."""
    kinds: dict[str, tuple[type[Target], Program]] = {
        name: (GrpcServed, python_program("lite_grpc", name)) for name in (OURS, FLOOR)
    }
    what = "MCP-lite over gRPC"
    try:
        costs = measure(kinds, (SMALL, SEQUENTIAL), ROUNDS)
        for load in (SMALL, SEQUENTIAL):
            yield _calls(f"{what}, {load}", load, costs)
        yield _stream(what)
    except (TargetFailedError, OSError) as error:
        yield Row(what, "", str(error), verdict="not measured")


def _calls(what: str, load: Load, costs: Costs) -> Row:
    ours, floor = costs[OURS, load], costs[FLOOR, load]
    times = spread(ours, floor)
    against = f"a bare service of grpc.aio {_cost(floor)}: {times}"
    verdict = at_most(times.median, 1.3, 1.2)
    return Row(what, _cost(ours), against, "at most 1.3x", "1.2x", verdict)


def _stream(what: str) -> Row:
    costs: dict[str, list[float]] = {OURS: [], FLOOR: []}
    with ExitStack() as stack:
        targets: dict[str, GrpcServed] = {}
        for name in costs:
            program = python_program("lite_grpc", name)
            target = GrpcServed(program.command, program.env)
            targets[name] = stack.enter_context(closing(target))
            target.stream(_PARTS)
        for _ in range(ROUNDS):
            for name, target in targets.items():
                begun = cpu_clock(target.pid)
                target.stream(_PARTS)
                costs[name].append((cpu_clock(target.pid) - begun) / _PARTS * 1e6)
    times = spread(costs[OURS], costs[FLOOR])
    ours = median(costs[OURS])
    figure = f"{ours:.3g} us a part, {1e6 / ours:,.0f} parts a second"
    against = f"a bare service of grpc.aio {_cost(costs[FLOOR])}: {times}"
    verdict = at_most(times.median, 1.3, 1.2)
    row = f"{what}, a stream of {_PARTS:,} parts"
    return Row(row, figure, against, "at most 1.3x", "1.2x", verdict)


def _cost(costs: list[float]) -> str:
    return f"{median(costs):.3g} us"
