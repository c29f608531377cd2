"""Instances sampled from our documents: jsonschema and the models take and refuse the same ones.

What a model takes all the same is one of the leniencies named here, and no other.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.protocols import Validator
from pydantic import ValidationError

from kinwire_codegen.load.document import Reference
from tests.each import each
from tests.generated.messages import alone, validator
from tests.parity.judging import remembering
from tests.parity.one_schema import DEFAULTS, ONE_SCHEMA, REGISTRY, TYPES
from tests.parity.sampler import Broken, Sampler, at, removed, replaced

RANDOM_INSTANCES = 3
JUDGE = remembering(Draft202012Validator)


class DocumentSampler(Sampler):
    """Instances of the types of our documents, judged by the documents themselves."""

    def validator(self, name: str) -> Validator:
        protocol, kind = name.split(".", 1)
        return validator(protocol, kind, JUDGE)


SAMPLER = DocumentSampler(ONE_SCHEMA, REGISTRY, shallow=True)

NULL = "null reads as absent"
"""The member is optional and takes no null: peers write null there, which is never sent on."""
CONSTANT = "a missing constant"
"""The object is not one of several, and the value is known."""

EMPTY = "an empty array for an empty object"
"""Some languages have one type for both."""
UNKNOWN = "an unknown variant of a tagged union"
"""Peers of later versions add variants, which are kept as they came."""

HAS_DEFAULT = {name for name, _ in DEFAULTS}
SHORTHAND = "text for a list of blocks"
"""Some peers write the text of a single block instead of the list."""

each_type = each("kind", TYPES, ids=lambda kind: f"{kind.protocol}-{kind.name}")


def text(value: Any) -> str:
    # Python takes 1, 1.0 and True for equal; on the wire they are not.
    return json.dumps(value, sort_keys=True)


def name_of(kind: Reference) -> str:
    return f"{kind.protocol}.{kind.name}"


def leniency(broken: Broken, *, is_envelope: bool = False) -> str | None:
    """Return which leniency covers the fault; None if it has to be refused."""
    if broken.rule == "null" and broken.path[-1] in dict(DEFAULTS):
        return None
    if broken.rule == "const missing" and broken.path == ("jsonrpc",) and is_envelope:
        return None  # it may be one of several messages
    return {
        "null": NULL,
        "const missing": CONSTANT,
        "shorthand": SHORTHAND,
        "empty array": EMPTY,
        "unknown tag": UNKNOWN,
    }.get(broken.rule)


def mended(broken: Broken) -> Any:
    """Return what goes out again after the fault was passed over."""
    if leniency(broken) == NULL:
        return removed(broken.value, broken.path)
    if leniency(broken) == SHORTHAND:
        blocks = [{"type": "text", "text": at(broken.value, broken.path)}]
        return replaced(broken.value, broken.path, blocks)
    if leniency(broken) == EMPTY:
        return broken.read
    return broken.value if leniency(broken) == UNKNOWN else broken.sound


@each_type
def test_what_is_valid_is_valid_to_both_and_comes_back_equal(kind: Reference) -> None:
    instances = SAMPLER.valid(name_of(kind), count=RANDOM_INSTANCES)
    schema = validator(*kind, JUDGE)
    assert [value for value in instances if not schema.is_valid(value)] == []
    written = [alone(*kind, value) for value in instances]
    assert list(map(text, written)) == list(map(text, instances))


@each_type
def test_what_is_broken_is_refused_by_both_or_covered_by_a_leniency(kind: Reference) -> None:
    wrong = []
    for broken in SAMPLER.broken(name_of(kind)):  # which jsonschema refuses, one and all
        try:
            taken = text(alone(*kind, broken.value))
        except ValidationError:
            taken = None
        passed = leniency(broken, is_envelope=kind.name == "Envelope")
        expected = None if passed is None else text(mended(broken))
        if taken != expected:
            wrong.append((broken, taken))
    assert wrong == []


def test_every_leniency_is_met_and_most_faults_are_refused() -> None:
    met = Counter(leniency(broken) for kind in TYPES for broken in SAMPLER.broken(name_of(kind)))
    assert set(met) == {None, NULL, CONSTANT, SHORTHAND, EMPTY, UNKNOWN}
    assert met[None] > sum(met.values()) / 2
