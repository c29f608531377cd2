"""What is to be said of what was seen: the handshake, each probe, and what came unasked.

Pure: the inspection in, findings out. `offers.py` looks at the entries of lists.
"""

from __future__ import annotations

__all__ = ("findings_of",)

from collections import Counter
from collections.abc import Iterable, Iterator

from kinwire.rpc.negotiated import Negotiated
from kinwire_cli.inspection.finding import Finding, Severity
from kinwire_cli.inspection.offers import offer_findings
from kinwire_cli.inspection.probing import UNKNOWN, Inspection, Probe
from kinwire_cli.inspection.unknown_members import unknown_members
from kinwire_cli.judge.judge import Judge
from kinwire_cli.layout import counted, first_line
from kinwire_cli.listening import Listening
from kinwire_cli.protocols import protocol_tables
from kinwire_protocols.base import JsonObject, Message
from kinwire_protocols.jsonrpc.errors import InternalError
from kinwire_protocols.mcp.methods import INITIALIZE, PROTOCOL
from kinwire_protocols.problems import shown

_MOST = 20  # problems of one answer


def findings_of(inspection: Inspection) -> list[Finding]:
    """Return all findings, each once, the worst first."""
    found = [*_of_version(inspection.greeting.version), *_of_noise(inspection.heard)]
    for probe in inspection.probes:
        found += probe_findings(probe)
    found += _of_unasked(inspection.heard.unasked, inspection.greeting.capabilities)
    order = ("error", "warning", "info")
    return sorted(dict.fromkeys(found), key=lambda finding: order.index(finding.severity))


def probe_findings(probe: Probe) -> Iterator[Finding]:
    """Yield what is to be said of one method."""
    yield from _of_outcome(probe)
    for problem in probe.problems[:_MOST]:
        text = f"expected {problem.expected}, got {problem.got}."
        mend = "Clients drop the whole answer for it: mend the server."
        yield Finding("error", f"{probe.row.name}#{problem.pointer}", first_line(text), mend)
    yield from offer_findings(probe.row.name, probe.entries)
    if probe.answer.outcome == "answered":
        yield from _of_cut(probe)
        yield from _of_unknown(probe.row.name, map(probe.row.decode_result, probe.results))


def _of_outcome(probe: Probe) -> Iterator[Finding]:
    name, answer = probe.row.name, probe.answer
    match answer.outcome:
        case "missing":
            yield from _of_missing(probe)
        case "refused":
            yield from _of_refused(probe)
        case "answered":
            yield from _of_answered(probe)
        case "broken" if not probe.problems:
            yield Finding("error", name, answer.text.rstrip(".") + ".", "Mend the server.")
        case "silent":
            mend = "Answer every request; an unknown method with the error -32601."
            yield Finding("error", name, f"{answer.text}.", mend)
        case "ended":
            mend = "A request must not end a server: see what it wrote to stderr."
            yield Finding("error", name, f"the connection ended. {answer.text}", mend)
        case _:
            return


def _of_missing(probe: Probe) -> Iterator[Finding]:
    name = probe.row.name
    if name == "ping":
        text = 'answers "method not found", but every side answers ping.'
        yield Finding("error", name, text, "Answer it with an empty result.")
    elif probe.advertised:
        text = f'is advertised{_by(probe)}, but answers "method not found".'
        yield Finding("error", name, text, "Serve it, or leave the capability out.")


def _of_refused(probe: Probe) -> Iterator[Finding]:
    name, answer = probe.row.name, probe.answer
    if name not in UNKNOWN:
        if probe.advertised is not False:
            text = f"answers an error: {answer.text} ({answer.code})."
            yield Finding("error", name, text, "A request without fault earns a result.")
    elif answer.code == InternalError.default_code:
        text = f"answers a name that it does not have with an internal error: {answer.text}"
        mend = "Tell the client what is wrong: -32602, for resources -32002."
        yield Finding("warning", name, text, mend)


def _of_answered(probe: Probe) -> Iterator[Finding]:
    name, result = probe.row.name, probe.answer.result
    if probe.advertised is False:
        text = f"is answered, but not advertised{_by(probe)}: clients do not ask for it."
        yield Finding("warning", name, text, "Add the capability.")
    if name == "tools/call" and result.get("isError") is not True:
        text = "answers a tool that it does not have as if it had run."
        yield Finding("warning", name, text, "Answer with the error -32602.")
    elif name in ("prompts/get", "resources/read"):
        text = "answers with a result what it does not have."
        yield Finding("warning", name, text, "Answer with an error.")


def _of_cut(probe: Probe) -> Iterator[Finding]:
    if probe.cut:
        text = f"has more than {len(probe.results)} pages: what the rest holds was not looked at."
        yield Finding("info", probe.row.name, text, "Make pages larger: clients ask for each.")


def _of_version(version: object) -> Iterator[Finding]:
    if isinstance(version, str) and version != PROTOCOL.version:
        text = f"expected {PROTOCOL.version}, which was offered, got {shown(version)}."
        mend = "Answer the version that the client offers, if the server can speak it."
        yield Finding("error", f"{INITIALIZE.name}#/protocolVersion", text, mend)


def _of_noise(heard: Listening) -> Iterator[Finding]:
    if heard.stray_count:
        count = counted(heard.stray_count, "line")
        text = f"{count} of what is no message, such as {shown(heard.strays[0])}."
        yield Finding("error", "stdout", text, "Print to stderr: stdout belongs to the protocol.")
    if heard.overlong_count:
        text = f"{heard.overlong_count} messages are longer than clients read."
        yield Finding("error", "stdout", text, "Make pages smaller.")
    for identifier in dict.fromkeys(map(shown, heard.foreign_ids)):
        text = f"an answer has the id {identifier}, for which no request waited."
        mend = "Answer with the id of the request, of the same type: 1 is not the text 1."
        yield Finding("error", "stdout", text, mend)


def _of_unasked(messages: Iterable[JsonObject], capabilities: JsonObject) -> Iterator[Finding]:
    """Yield what is to be said of the server's own requests and notifications."""
    tables, agreement = protocol_tables().values(), Negotiated({}, capabilities)
    for message in messages:
        verdict = Judge(tables).judge(message, "server")
        where = first_line(str(message["method"]))
        if verdict.row is None:
            yield Finding("info", where, "was sent, and is unknown.")
            continue
        for problem in verdict.problems[:_MOST]:
            text = f"expected {problem.expected}, got {problem.got}."
            yield Finding("error", f"{where}#{problem.pointer}", text, "Clients drop it for that.")
        reason = agreement.denial_reason(verdict.row)
        if reason:
            severity: Severity = "error" if verdict.kind == "request" else "warning"
            text = f"was sent, but needs {verdict.row.gate}, and {reason}."
            yield Finding(severity, where, text, "Look at the capabilities of both sides first.")


def _of_unknown(where: str, messages: Iterable[Message]) -> Iterator[Finding]:
    found: Counter[str] = Counter()
    for message in messages:
        found += unknown_members(message)
    for pointer, count in found.items():
        times = f", {count} times" if count > 1 else ""
        text = f"is unknown to MCP {PROTOCOL.version}{times}; it is kept."
        yield Finding("info", f"{where}#{first_line(pointer)}", text)


def _by(probe: Probe) -> str:
    path = (probe.row.gate or "").partition(":")[2]
    return f" by capabilities.{path}" if path else ""
