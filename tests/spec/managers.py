"""The parts of the runtime that keep the rules, and the rows that nobody keeps without them.

To switch a manager off is to let its methods refuse. A row whose tests then still pass is claimed
by tests that do not prove it.
"""

from __future__ import annotations

__all__ = ("MANAGERS", "Manager")

from dataclasses import dataclass


@dataclass(frozen=True)
class Manager:
    """What to switch off, as "module:attribute", and the rows that are then kept by nobody."""

    attributes: tuple[str, ...]
    rows: tuple[str, ...]


MANAGERS = {
    "handshake": Manager(
        attributes=("kinwire.mcp.handshake:ServerHandshake._initialize",),
        rows=(
            "mcp-protocol-version-1",
            "mcp-protocol-version-2",
            "mcp-protocol-version-4",
            "mcp-initialize-response-1",
            "mcp-initialize-response-2",
            "mcp-lifecycle-specification-1",
            "mcp-initialized-notification-1",
        ),
    ),
    "hosts and origins": Manager(
        attributes=("kinwire.transports.http.security:AccessRules.refusal",),
        rows=("mcp-streamable-http-transport-8",),
    ),
    "gates": Manager(
        attributes=("kinwire.gates:why_not",),
        rows=("mcp-capability-reference-1",),
    ),
    "tools": Manager(
        attributes=(
            "kinwire.mcp.tools:ToolTable.list",
            "kinwire.mcp.tools:ToolTable.call",
        ),
        rows=(
            "mcp-tools-specification-1",
            "mcp-tools-list-response-1",
            "mcp-tools-call-request-1",
            "mcp-tools-call-response-1",
            "mcp-tools-call-response-2",
            "mcp-tool-error-vs-json-rpc-error-1",
            "mcp-tool-error-vs-json-rpc-error-2",
        ),
    ),
    "lists": Manager(
        attributes=("kinwire.mcp.lists:_Items.__anext__",),
        rows=(
            "mcp-tools-list-request-1",
            "mcp-tools-list-response-2",
        ),
    ),
    "resources": Manager(
        attributes=(
            "kinwire.mcp.resources:ResourceTable.list",
            "kinwire.mcp.resources:ResourceTable.list_templates",
            "kinwire.mcp.resources:ResourceTable.read",
        ),
        rows=(
            "mcp-resources-specification-1",
            "mcp-resource-types-1",
            "mcp-resource-types-2",
            "mcp-resources-read-response-1",
            "mcp-resources-read-response-2",
            "mcp-resources-read-response-3",
        ),
    ),
    "subscriptions": Manager(
        attributes=("kinwire.mcp.rules.watched:Watched.add",),
        rows=(
            "mcp-resource-subscriptions-1",
            "mcp-resource-subscriptions-2",
        ),
    ),
    "changes": Manager(
        attributes=("kinwire.mcp.server_session:ServerSession.announce",),
        rows=(
            "mcp-resource-subscriptions-3",
            "mcp-listchanged-flag-1",
        ),
    ),
    "news": Manager(
        attributes=("kinwire.mcp.news:ServerNews._list_changed",),
        rows=("mcp-listchanged-flag-2",),
    ),
    "prompts": Manager(
        attributes=(
            "kinwire.mcp.prompts:PromptTable.list",
            "kinwire.mcp.prompts:PromptTable.get",
        ),
        rows=(
            "mcp-prompts-specification-1",
            "mcp-prompt-definition-1",
            "mcp-prompt-definition-2",
            "mcp-prompts-get-response-1",
        ),
    ),
    "sampling": Manager(
        attributes=("kinwire.mcp.sampling:Sampling.create_message",),
        rows=(
            "mcp-human-in-the-loop-requirement-1",
            "mcp-human-in-the-loop-requirement-2",
            "mcp-human-in-the-loop-requirement-3",
            "mcp-human-in-the-loop-requirement-4",
            "mcp-human-in-the-loop-requirement-5",
            "mcp-include-context-options-1",
            "mcp-include-context-options-2",
            "mcp-include-context-options-3",
        ),
    ),
    "model choice": Manager(
        attributes=("kinwire.mcp.rules.model_choice:choose_model",),
        rows=(
            "mcp-model-preferences-2",
            "mcp-model-preferences-3",
            "mcp-model-preferences-4",
        ),
    ),
    "roots": Manager(
        attributes=("kinwire.host:Host._list_roots",),
        rows=(
            "mcp-initialize-request-2",
            "mcp-client-capabilities-2",
        ),
    ),
    "completion": Manager(
        attributes=("kinwire.mcp.completion:CompletionTable.complete",),
        rows=(
            "mcp-completion-auto-complete-1",
            "mcp-completion-auto-complete-2",
        ),
    ),
    "logging": Manager(
        attributes=("kinwire.mcp.server_session:ServerSession.log",),
        rows=(
            "mcp-logging-1",
            "mcp-logging-2",
            "mcp-logging-3",
            "mcp-logging-4",
            "mcp-logging-5",
        ),
    ),
    "progress": Manager(
        attributes=("kinwire.request:Request.progress",),
        rows=(
            "mcp-tools-call-request-2",
            "mcp-progress-1",
            "mcp-progress-2",
        ),
    ),
    "mcpl feature sets": Manager(
        attributes=("kinwire.mcpl.rules.feature_sets:FeatureSets.refusal",),
        rows=(
            "mcpl-6.6-1",
            "mcpl-6.6-2",
            "mcpl-6.6-3",
            "mcpl-A-2",
            "mcpl-A-3",
        ),
    ),
    "mcpl scopes": Manager(
        attributes=("kinwire.mcpl.server_scopes:ServerScopes.leave",),
        rows=(
            "mcpl-7.5-2",
            "mcpl-7.5-3",
            "mcpl-7.5-4",
            "mcpl-7.6-1",
            "mcpl-7.6-2",
            "mcpl-7.6-3",
            "mcpl-7.7-1",
            "mcpl-7.7-3",
        ),
    ),
    "mcpl state": Manager(
        attributes=("kinwire.mcpl.states:StoredTree.record",),
        rows=(
            "mcpl-8.2-2",
            "mcpl-8.3-2",
            "mcpl-8.3-5",
            "mcpl-8.4-1",
            "mcpl-8.4-2",
            "mcpl-8.6-2",
        ),
    ),
    "mcpl push": Manager(
        attributes=("kinwire.mcpl.push:Inboxes.take",),
        rows=(
            "mcpl-9.3-1",
            "mcpl-9.3-2",
            "mcpl-9.3-3",
            "mcpl-9.4-1",
            "mcpl-9.4-2",
        ),
    ),
    "mcpl hooks": Manager(
        attributes=(
            "kinwire.mcpl.hooks:HookRunner.before",
            "kinwire.mcpl.hooks:HookRunner.after",
        ),
        rows=(
            "mcpl-10.2-1",
            "mcpl-10.3-6",
            "mcpl-10.5-3",
            "mcpl-10.6-4",
            "mcpl-10.8-1",
            "mcpl-13.3-2",
            "mcpl-13.4-1",
        ),
    ),
    "mcpl inference": Manager(
        attributes=("kinwire.mcpl.inference:InferenceDesk.serve",),
        rows=(
            "mcpl-11.1-1",
            "mcpl-11.3-1",
            "mcpl-11.3-4",
            "mcpl-11.4-1",
            "mcpl-11.4-3",
            "mcpl-11.5-1",
        ),
    ),
    "mcpl audit": Manager(
        attributes=("kinwire.mcpl.audit:Audit._write",),
        rows=("mcpl-13.2-1",),
    ),
    "mcpl channels of a server": Manager(
        attributes=("kinwire.mcpl.server_channels:ServerChannels._must_be_permitted",),
        rows=(
            "mcpl-14.5-3",
            "mcpl-14.5-1",
        ),
    ),
    "mcpl channels of a host": Manager(
        attributes=("kinwire.mcpl.channels:ChannelDesk.take",),
        rows=(
            "mcpl-14.3-14",
            "mcpl-14.4-4",
        ),
    ),
    "mcpl observers": Manager(
        attributes=("kinwire.mcpl.writing:Writing.finish",),
        rows=(
            "mcpl-14.5-2",
            "mcpl-14.5-4",
            "mcpl-14.5-5",
        ),
    ),
}
