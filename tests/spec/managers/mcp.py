"""The managers of MCP."""

from __future__ import annotations

__all__ = ("MCP",)

from tests.spec.managers.manager import Manager

MCP = {
    "handshake": Manager(
        attributes=("kinwire.mcp.handshake:ServerHandshake.initialize",),
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
        attributes=("kinwire.rpc.negotiated:Negotiated.denial_reason",),
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
        attributes=("kinwire.mcp.rules.subscriptions:SubscribedUris.add",),
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
    "notifications": Manager(
        attributes=("kinwire.mcp.notification_router:NotificationRouter._list_changed",),
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
        attributes=("kinwire.mcp.host:Host._list_roots",),
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
        attributes=("kinwire.rpc.request:Request.progress",),
        rows=(
            "mcp-tools-call-request-2",
            "mcp-progress-1",
            "mcp-progress-2",
        ),
    ),
}
