"""The problems of a server: in the handshake, in each probe, and in its notifications.

Pure: the inspection in, problems out. `offers.py` looks at the entries of lists.
"""

from __future__ import annotations

__all__ = ("problems_of",)

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import cast

from kinwire.rpc.negotiated import Negotiated
from kinwire_cli.inspection.offers import entry_problems
from kinwire_cli.inspection.probing import UNKNOWN, Inspection, Probe
from kinwire_cli.inspection.problem import ServerProblem, Severity
from kinwire_cli.layout import counted, first_line
from kinwire_cli.listening import Listening
from kinwire_cli.validation.nulls import nulls_read_as_absent
from kinwire_cli.validation.validator import MessageValidator
from kinwire_protocols.base import JsonObject, Message, to_wire
from kinwire_protocols.jsonrpc.errors import InternalError
from kinwire_protocols.lenient import READINGS
from kinwire_protocols.mcp import ToolInputSchema
from kinwire_protocols.mcp.methods import INITIALIZE, PROTOCOL
from kinwire_protocols.peer import ProtocolTable
from kinwire_protocols.problems import shown

_MOST = 20  # problems of one answer
_OPEN = (ToolInputSchema,)  # its members are keywords of JSON Schema


def problems_of(inspection: Inspection, tables: Iterable[ProtocolTable]) -> list[ServerProblem]:
    """Return all problems, each once, the worst first; `tables` are the known protocols."""
    found = [*_of_version(inspection.greeting.version), *_of_noise(inspection.heard)]
    found += _of_lenient(inspection.lenient)
    for probe in inspection.probes:
        found += probe_problems(probe)
    found += _of_unasked(inspection.heard.unasked, inspection.greeting.capabilities, tables)
    order = ("error", "warning", "info")
    return sorted(dict.fromkeys(found), key=lambda problem: order.index(problem.severity))


def probe_problems(probe: Probe) -> Iterator[ServerProblem]:
    """Yield the problems of one method."""
    yield from _of_outcome(probe)
    for problem in probe.problems[:_MOST]:
        text = f"expected {problem.expected}, got {problem.got}."
        hint = "Clients drop the whole answer because of it: fix the server."
        yield ServerProblem("error", f"{probe.row.name}#{problem.pointer}", first_line(text), hint)
    yield from entry_problems(probe.row.name, probe.entries)
    if probe.answer.outcome == "answered":
        yield from _of_cut(probe)
        read = list(map(probe.row.decode_result, probe.results))
        yield from _of_nulls(probe.row.name, zip(probe.results, read, strict=True))
        yield from _of_unknown(probe.row.name, read)


def _of_outcome(probe: Probe) -> Iterator[ServerProblem]:
    name, answer = probe.row.name, probe.answer
    match answer.outcome:
        case "missing":
            yield from _of_missing(probe)
        case "refused":
            yield from _of_refused(probe)
        case "answered":
            yield from _of_answered(probe)
        case "broken" if not probe.problems:
            yield ServerProblem("error", name, answer.text.rstrip(".") + ".", "Fix the server.")
        case "silent":
            hint = "Answer every request; an unknown method with the error -32601."
            yield ServerProblem("error", name, f"{answer.text}.", hint)
        case "ended":
            hint = "A request must not end a server: see what it wrote to stderr."
            yield ServerProblem("error", name, f"the connection ended. {answer.text}", hint)
        case _:
            return


def _of_missing(probe: Probe) -> Iterator[ServerProblem]:
    name = probe.row.name
    if name == "ping":
        text = 'answers "method not found", but every side answers ping.'
        yield ServerProblem("error", name, text, "Answer it with an empty result.")
    elif probe.advertised:
        text = f'is advertised{_by(probe)}, but answers "method not found".'
        yield ServerProblem("error", name, text, "Serve it, or leave the capability out.")


def _of_refused(probe: Probe) -> Iterator[ServerProblem]:
    name, answer = probe.row.name, probe.answer
    if name not in UNKNOWN:
        if probe.advertised is not False:
            text = f"answers an error: {answer.text} ({answer.code})."
            yield ServerProblem("error", name, text, "Answer a valid request with a result.")
    elif answer.code == InternalError.default_code:
        text = f"answers a name that it does not have with an internal error: {answer.text}"
        hint = "Tell the client what is wrong: -32602, for resources -32002."
        yield ServerProblem("warning", name, text, hint)


def _of_answered(probe: Probe) -> Iterator[ServerProblem]:
    name, result = probe.row.name, probe.answer.result
    if probe.advertised is False:
        text = f"is answered, but not advertised{_by(probe)}: clients do not ask for it."
        yield ServerProblem("warning", name, text, "Add the capability.")
    if name == "tools/call" and result.get("isError") is not True:
        text = "answers a tool that it does not have as if it had run."
        yield ServerProblem("warning", name, text, "Answer with the error -32602.")
    elif name in ("prompts/get", "resources/read"):
        text = "answers an unknown name with a result."
        yield ServerProblem("warning", name, text, "Answer with an error.")


def _of_cut(probe: Probe) -> Iterator[ServerProblem]:
    if probe.cut:
        text = f"has more than {len(probe.results)} pages: what the rest holds was not looked at."
        yield ServerProblem(
            "info", probe.row.name, text, "Make pages larger: clients ask for each."
        )


def _of_version(version: object) -> Iterator[ServerProblem]:
    if isinstance(version, str) and version != PROTOCOL.version:
        text = f"expected {PROTOCOL.version}, which was offered, got {shown(version)}."
        hint = "Answer the version that the client offers, if the server can speak it."
        yield ServerProblem("error", f"{INITIALIZE.name}#/protocolVersion", text, hint)


def _of_lenient(found: Mapping[str, str]) -> Iterator[ServerProblem]:
    for name, first in found.items():
        where, _, text = first.partition(": ")
        understood = next(row.understood for row in READINGS if row.name == name)
        hint = f"kinwire reads it as {understood}; other clients may refuse it: fix the server."
        yield ServerProblem("warning", where, f"{text}.", hint)


def _of_nulls(name: str, answers: Iterable[tuple[object, Message]]) -> Iterator[ServerProblem]:
    hint = "kinwire reads it as absent; other clients may refuse it: fix the server."
    for raw, read in answers:
        for problem in nulls_read_as_absent(raw, to_wire(read), ""):
            text = f"expected {problem.expected}, got {problem.got}."
            yield ServerProblem("warning", f"{name}#{first_line(problem.pointer)}", text, hint)


def _of_noise(heard: Listening) -> Iterator[ServerProblem]:
    if heard.stray_count:
        count = counted(heard.stray_count, "line")
        text = f"{count} of output that is not JSON-RPC, such as {shown(heard.strays[0])}."
        yield ServerProblem(
            "error", "stdout", text, "Print to stderr: stdout belongs to the protocol."
        )
    if heard.overlong_count:
        text = f"{heard.overlong_count} messages are longer than clients read."
        yield ServerProblem("error", "stdout", text, "Make pages smaller.")
    for identifier in dict.fromkeys(map(shown, heard.foreign_ids)):
        text = f"an answer has the id {identifier}, for which no request waited."
        hint = 'Answer with the id of the request, of the same type: 1 is not "1".'
        yield ServerProblem("error", "stdout", text, hint)


def _of_unasked(
    messages: Iterable[JsonObject], capabilities: JsonObject, tables: Iterable[ProtocolTable]
) -> Iterator[ServerProblem]:
    """Yield the problems of the server's own requests and notifications."""
    negotiated, known = Negotiated({}, capabilities), list(tables)
    for message in messages:
        validated = MessageValidator(known).validate(message, "server")
        where = first_line(str(message["method"]))
        if validated.row is None:
            yield ServerProblem("info", where, "was sent, and is unknown.")
            continue
        for problem in validated.problems[:_MOST]:
            text = f"expected {problem.expected}, got {problem.got}."
            yield ServerProblem(
                "error", f"{where}#{problem.pointer}", text, "Clients drop it because of that."
            )
        reason = negotiated.denial_reason(validated.row)
        if reason:
            severity: Severity = "error" if validated.kind == "request" else "warning"
            text = f"was sent, but needs {validated.row.gate}, and {reason}."
            yield ServerProblem(
                severity, where, text, "Look at the capabilities of both sides first."
            )


def _of_unknown(where: str, messages: Iterable[Message]) -> Iterator[ServerProblem]:
    found: Counter[str] = Counter()
    for message in messages:
        found += unknown_members(message)
    for pointer, count in found.items():
        times = f", {count} times" if count > 1 else ""
        text = f"is unknown to MCP {PROTOCOL.version}{times}; it is kept."
        yield ServerProblem("info", f"{where}#{first_line(pointer)}", text)


def _by(probe: Probe) -> str:
    path = (probe.row.gate or "").partition(":")[2]
    return f" by capabilities.{path}" if path else ""


def unknown_members(message: Message) -> Counter[str]:
    """Return how often each occurs, by a pointer in which `*` is any item of a list."""
    return Counter(_walk(message, ""))


def _walk(value: object, pointer: str) -> Iterator[str]:
    if isinstance(value, Message):
        if isinstance(value, _OPEN):
            return
        yield from (f"{pointer}/{name}" for name in value.model_extra or ())
        for name, field in type(value).__pydantic_fields__.items():
            yield from _walk(getattr(value, name), f"{pointer}/{field.alias or name}")
    elif isinstance(value, (list, tuple)):
        for item in cast("Sequence[object]", value):
            yield from _walk(item, f"{pointer}/*")
