"""Instances sampled from the official schema: valid ones come back equal, broken ones are refused.

What is taken all the same is a leniency that `map.json` names, and no other.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from pydantic import ValidationError

from tests.each import each
from tests.parity.places import trail
from tests.parity.sampler import Broken, Sampler, at, removed
from tests.parity.targets import LENIENCIES, MAP, round_trip, targets_of

MAPPED = sorted(name for name, target in MAP.items() if target != "abstract")
RANDOM_INSTANCES = 8

NULL, CONSTANT, ENUMS, AUDIO, ABILITIES, EMPTY, UNKNOWN, NULL_ID, ENVELOPES = LENIENCIES


def text(value: Any) -> str:
    # Python takes 1, 1.0 and True for equal; on the wire they are not.
    return json.dumps(value, sort_keys=True)


def taken(targets: list[str], value: Any) -> list[str]:
    """Return what `value` becomes, as text, for each target that takes it."""
    found = []
    for target in targets:
        try:
            found.append(text(round_trip(target, value)))
        except (ValidationError, LookupError):
            continue
    return found


def leniency(target: str, broken: Broken) -> str | None:
    """Return which leniency of `map.json` covers the fault; None if it has to be refused."""
    passed = trail(target, broken.path, broken.sound)
    if any(place in LENIENCIES[ENVELOPES] for place in passed) and len(broken.path) > 1:
        return ENVELOPES
    if broken.rule == "null":
        return NULL
    by_name = len(broken.path) == 1 and target.startswith(("row:", "jsonrpc#Envelope"))
    if broken.rule == "const missing" and not by_name:
        return CONSTANT  # the constant of a row is the name that leads to it
    if broken.rule == "enum" and passed and passed[-1] in LENIENCIES[ENUMS]:
        return ENUMS
    within = broken.rule in ("type", "empty array") and broken.path[-2:-1] == ("experimental",)
    if within and passed and passed[-1] in LENIENCIES[ABILITIES]:
        return ABILITIES
    is_null = broken.rule == "type" and at(broken.value, broken.path) is None
    if is_null and passed and passed[-1] in LENIENCIES[NULL_ID]:
        return NULL_ID
    is_row = broken.path[-1:] == ("method",)
    return {"empty array": EMPTY, "unknown tag": None if is_row else UNKNOWN}.get(broken.rule)


def mended(broken: Broken, name: str) -> Any:
    """Return what goes out again after the fault was passed over."""
    if name == NULL:
        return removed(broken.value, broken.path)
    if name == EMPTY:
        return broken.read
    return broken.sound if name == CONSTANT else broken.value


@each("name", MAPPED)
def test_a_valid_instance_comes_back_equal(
    name: str, official: dict[str, Any], sampler: Sampler
) -> None:
    targets = targets_of(name, official)
    instances = sampler.valid(name, count=RANDOM_INSTANCES)
    assert instances
    changed = [value for value in instances if text(value) not in taken(targets, value)]
    assert changed == []


@each("name", MAPPED)
def test_a_broken_instance_is_refused_or_covered_by_a_leniency(
    name: str, official: dict[str, Any], sampler: Sampler
) -> None:
    targets = targets_of(name, official)
    wrong = []
    for broken in sampler.broken(name):
        names = {found for target in targets if (found := leniency(target, broken))}
        expected = {text(mended(broken, found)) for found in names}
        if not expected.issuperset(got := taken(targets, broken.value)) or (expected and not got):
            wrong.append((broken, got))
    assert wrong == []


def test_every_leniency_is_met_and_most_faults_are_refused(sampler: Sampler) -> None:
    alone = [(name, target) for name, target in MAP.items() if target not in ("union", "abstract")]
    found = [leniency(target, broken) for name, target in alone for broken in sampler.broken(name)]
    met = Counter(found)
    # Audio is not an error in one place: the next test has it.
    assert set(met) == {None, *LENIENCIES} - {AUDIO}
    assert met[None] > 2000 > sum(met.values()) - met[None]


AUDIO_CONTENT = {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"}


@each(
    ("name", "value"),
    [
        ("CallToolResult", {"content": [AUDIO_CONTENT]}),
        ("PromptMessage", {"role": "user", "content": AUDIO_CONTENT}),
        ("SamplingMessage", {"role": "user", "content": AUDIO_CONTENT}),
        ("CreateMessageResult", {"role": "user", "model": "m", "content": AUDIO_CONTENT}),
    ],
)
def test_audio_is_accepted_though_the_official_schema_lacks_it(
    name: str, value: Any, sampler: Sampler
) -> None:
    assert not sampler.is_valid(name, value)
    assert text(round_trip(MAP[name], value)) == text(value)


def test_an_integer_written_as_a_fraction_is_read_as_the_integer(
    sampler: Sampler,
) -> None:
    value = {"uri": "file:///a", "name": "a", "size": 12.0}
    assert sampler.is_valid("Resource", value)
    assert text(round_trip("mcp#Resource", value)) == text({**value, "size": 12})
