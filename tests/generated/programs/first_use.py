"""Use every generated class for the first time, in an order that the seed decides.

Arguments: the way that the class is first used in, and the seed.
"""

from __future__ import annotations

import json
import random
import sys
import threading
from collections.abc import Callable
from importlib import import_module
from importlib.resources import files
from typing import Any

from pydantic import TypeAdapter, ValidationError

from kinwire_protocols.base import Message, from_wire, to_wire

Case = tuple[Any, Any]


def cases() -> list[Case]:
    """Return each class and alias with an example of it."""
    bundled = json.loads(files("kinwire_protocols").joinpath("schema.json").read_text("utf-8"))
    return [
        (getattr(import_module(module_of(protocol)), name), node["examples"][0])
        for protocol, document in bundled["documents"].items()
        for name, node in document["$defs"].items()
    ]


def module_of(protocol: str) -> str:
    return f"kinwire_protocols.{protocol.replace('-', '')}.models"


def is_class(kind: Any) -> bool:
    """Return whether it is a class; the others are aliases."""
    return isinstance(kind, type)


def by_wire(kind: Any, example: Any) -> None:
    """Read the example."""
    if is_class(kind):
        assert to_wire(from_wire(kind, example)) == example
    else:
        TypeAdapter(kind).validate_python(example, by_alias=True, by_name=False)


def by_name(kind: Any, _example: Any) -> None:
    """Build it without members."""
    if is_class(kind):
        try:
            kind()
        except ValidationError as error:
            if not {found["type"] for found in error.errors()} <= {"missing", "fields_missing"}:
                raise


def by_schema(kind: Any, _example: Any) -> None:
    """Ask for its JSON Schema."""
    TypeAdapter(kind).json_schema()


def by_dump(kind: Any, _example: Any) -> None:
    """Write an instance that nothing has checked."""
    if is_class(kind):
        to_wire(kind.model_construct())


WAYS: dict[str, Callable[[Any, Any], None]] = {
    "wire": by_wire,
    "name": by_name,
    "schema": by_schema,
    "dump": by_dump,
}


def in_threads(found: list[Case], seed: str) -> None:
    """Read every example in several threads that begin at the same time."""
    sys.setswitchinterval(1e-6)
    barrier = threading.Barrier(4)
    failed: list[BaseException] = []

    def read(order: list[Case]) -> None:
        barrier.wait()
        try:
            for case in order:
                by_wire(*case)
        except BaseException as error:
            failed.append(error)

    # Two take the same order, so that they meet at one class.
    orders = [random.Random(f"{seed}{turn // 2}").sample(found, len(found)) for turn in range(4)]
    threads = [threading.Thread(target=read, args=(order,)) for order in orders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


def main(way: str, seed: str) -> None:
    """Use all of them and print how many classes there were."""
    found = cases()
    classes = [kind for kind, _ in found if is_class(kind)]
    assert not any(kind.__pydantic_complete__ for kind in [Message, *classes][1:])
    if way == "threads":
        in_threads(found, seed)
    else:
        for kind, example in random.Random(seed).sample(found, len(found)):
            WAYS[way](kind, example)
    if way != "schema":
        assert all(kind.__pydantic_complete__ for kind in classes)
    print(len(classes))


main(*sys.argv[1:])
