"""What a process keeps in memory of work that is over has an end, and locks nobody out."""

from __future__ import annotations

import pytest

from kinwire.mcplite import LiteLimits
from kinwire.mcplite.server.kept_results import KeptResult, KeptResults
from tests.runtime.mcplite.fixtures_tools import lite_call, text_of
from tests.runtime.mcplite.server.fixtures_promises import EVE, over, place, redeem, token_in

pytestmark = pytest.mark.anyio

LIMITS = LiteLimits(open_promises=4, open_promises_per_caller=2, result_size=10)


def kept(*added: tuple[str, int], fetched: str = "") -> tuple[KeptResults, list[str]]:
    """Return what is kept, and what goes, of results by name and size: `a1` is one of `a`."""
    results, gone = KeptResults(LIMITS), list[str]()
    for name, size in added:
        results.add(name, KeptResult(name[0], None, size))
        if name in fetched.split():
            results.fetched(name)
        gone += [one for one, _ in results.excess()]
    return results, gone


async def test_what_was_fetched_goes_first_and_then_what_a_caller_has_beyond_its_share() -> None:
    names = [(name, 1) for name in ("b1", "a1", "a2", "a3", "a4", "c1", "c2", "a5")]
    assert kept(*names)[1] == ["a1", "b1", "a2", "a3"]
    assert kept(*names, fetched="a3")[1] == ["a3", "b1", "a1", "a2"]
    results, gone = kept(*names, fetched=" ".join(name for name, _ in names))
    assert (gone, len(results)) == (["b1", "a1", "a2", "a3"], 4)


async def test_results_have_a_size_together() -> None:
    results, gone = kept(("a1", 320), ("a2", 320), ("b1", 1), ("b2", 700), ("b3", 640))
    assert (gone, len(results)) == (["a1", "a2", "b1", "b2"], 1)
    assert results.excess() == []


async def test_keys_of_calls_that_are_answered_lock_nobody_out() -> None:
    async with place(limits=LiteLimits(open_promises=4, refusal_time=0.001)) as here:
        here.work.go.set()
        token = token_in(await lite_call(here.first, "order"))
        await over(here.first)
        for number in range(50):
            meta = {"idempotency_key": f"k{number}"}
            answer = await lite_call(here.first, "quick", meta=meta)
            assert text_of(answer) == "quick"
        again = await lite_call(here.first, "quick", meta=meta)
        assert again["_meta"]["timestamp"] == answer["_meta"]["timestamp"]
        assert "error" not in await redeem(here.first, token), "nobody had fetched it"
        token_in(await lite_call(here.first, "order", EVE))
        records = here.first._promises._store.records
        assert len([one async for one in records.scan()]) < 12


async def test_promises_that_nobody_redeems_lock_nobody_out() -> None:
    async with place(limits=LiteLimits(open_promises=4, refusal_time=0.001)) as here:
        here.work.go.set()
        tokens = list[str]()
        for _ in range(10):
            tokens.append(token_in(await lite_call(here.first, "order")))
            await over(here.first)
        first, last = [await redeem(here.first, one) for one in (tokens[0], tokens[-1])]
        assert first["error"]["code"] == "PROMISE_UNAVAILABLE"
        assert "error" not in last
