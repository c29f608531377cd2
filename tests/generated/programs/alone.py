"""Drive every stub and every handler with nothing but pydantic and the bindings.

Argument: the folder that holds the bindings. It prints, for each side and method, what went over
the wire and what came out at both ends.
"""

from __future__ import annotations

import sys

ALLOWED = {
    *("kinwire_protocols", "pydantic", "pydantic_core", "typing_extensions"),
    *("annotated_types", "typing_inspection"),  # pydantic's own
    *sys.stdlib_module_names,
}


class OnlyPydantic:
    """Refuses every import of a package that a user of the bindings alone would not have."""

    def find_spec(self, name: str, *_: object) -> None:
        """Refuse, or leave it to the others."""
        generated_by_python = name.startswith("_sysconfigdata")
        if name.split(".")[0] not in ALLOWED and not generated_by_python:
            raise ImportError(f"{name} is not there")


sys.meta_path.insert(0, OnlyPydantic())
sys.path.insert(0, sys.argv[1])

import asyncio  # noqa: E402
import json  # noqa: E402
from importlib.resources import files  # noqa: E402
from typing import Any  # noqa: E402

from kinwire_protocols import mcp  # noqa: E402
from kinwire_protocols.base import JsonObject, from_wire, to_wire  # noqa: E402
from kinwire_protocols.peer import Handlers, Method  # noqa: E402


class FakePeer:
    """Hands every message to the handlers of the other side, as JSON text."""

    def __init__(self, handlers: Handlers) -> None:
        self.handlers = handlers

    async def call(self, method: Method[Any, Any], params: Any, /) -> Any:
        """Return the result that the handler gives."""
        result = await self.handlers.dispatch(method.name, json.loads(json.dumps(to_wire(params))))
        return method.decode_result(json.loads(json.dumps(result)))

    async def notify(self, method: Method[Any, Any], params: Any, /) -> None:
        """Hand the notification over."""
        await self.handlers.dispatch(method.name, json.loads(json.dumps(to_wire(params))))


DOCUMENTS = json.loads(files("kinwire_protocols").joinpath("schema.json").read_text("utf-8"))
DOCUMENT = DOCUMENTS["documents"]["mcp"]
META = {"_meta": {"progressToken": "p", "x-any": None}}
MORE = {  # what no example of the specification shows
    "sampling/createMessage": {"temperature": 0.7, "stopSequences": ["."], "metadata": {"x": 1}},
}


def examples(reference: str) -> list[Any]:
    """Return the examples of a type."""
    found: list[Any] = DOCUMENT["$defs"][reference.rpartition("/")[2]]["examples"]
    return found


class Recorder:
    """What the handlers of one side were given; makes the class that has all of them."""

    def __init__(self, base: type[Handlers]) -> None:
        self.arrived: list[Any] = []
        self.answer: Any = None
        members = {row.attribute: self.handler(row) for row in base.rows.values()}
        self.handlers: Handlers = type("All", (base,), members)()

    def handler(self, row: Method[Any, Any]) -> Any:
        """Return a handler that keeps its params and gives the answer that is set."""

        async def handle(_: Handlers, params: Any) -> Any:
            assert type(params) is row.params
            self.arrived.append(to_wire(params))
            return None if row.result is None else from_wire(row.result, self.answer)

        return handle


async def drive(stubs: Any, base: type[Handlers]) -> dict[str, list[JsonObject]]:
    """Return what each example of each method of one side became."""
    recorder = Recorder(base)
    side = stubs(FakePeer(recorder.handlers))
    found: dict[str, list[JsonObject]] = {}
    for name, row in base.rows.items():
        entry = DOCUMENT["methods"][name]
        shown = examples(entry["params"])
        meta = META if "meta" in row.params.model_fields else {}
        for example in [*shown, shown[0] | meta | MORE.get(name, {})]:
            for answer in examples(entry["result"]) if "result" in entry else [None]:
                recorder.answer = answer
                params = from_wire(row.params, example)
                arguments = {key: getattr(params, key) for key in params.model_fields_set}
                result = await getattr(side, row.attribute)(**arguments)
                assert row.result is None or type(result) is row.result
                came = {"params": example, "arrived": recorder.arrived.pop(), "answer": answer}
                came["result"] = None if result is None else to_wire(result)
                found.setdefault(name, []).append(came)
    return found


async def main() -> None:
    """Drive both sides."""
    server = await drive(mcp.ServerStub, mcp.ServerHandlers)
    client = await drive(mcp.ClientStub, mcp.ClientHandlers)
    print(json.dumps({"server": server, "client": client}))


asyncio.run(main())
