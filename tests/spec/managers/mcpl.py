"""The managers of MCP Live."""

from __future__ import annotations

__all__ = ("MCPL",)

from tests.spec.managers.manager import Manager

MCPL = {
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
        attributes=("kinwire.mcpl.host.server_scopes:ServerScopes.decide",),
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
        attributes=("kinwire.mcpl.host.state:StoredTree.record",),
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
        attributes=("kinwire.mcpl.host.event_inbox:EventInbox.take",),
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
            "kinwire.mcpl.host.hooks:HookManager.before",
            "kinwire.mcpl.host.hooks:HookManager.after",
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
        attributes=("kinwire.mcpl.host.inference:InferenceManager.serve",),
        rows=(
            "mcpl-11.1-1",
            "mcpl-11.3-1",
            "mcpl-11.3-4",
            "mcpl-11.4-1",
            "mcpl-11.4-3",
            "mcpl-11.5-1",
        ),
    ),
    "mcpl hooks and inference": Manager(
        attributes=(
            "kinwire.mcpl.server.current_hook:refuse_in_hook",
            "kinwire.mcpl.rules.open_hooks:OpenHooks.refusal",
        ),
        rows=("mcpl-10.7-1", "mcpl-10.7-2", "mcpl-10.7-3"),
    ),
    "mcpl audit": Manager(
        attributes=("kinwire.managers.audit_trail:AuditTrail._write",),
        rows=("mcpl-13.2-1",),
    ),
    "mcpl channels of a server": Manager(
        attributes=("kinwire.mcpl.host.server_channels:ServerChannels._must_be_permitted",),
        rows=(
            "mcpl-14.5-3",
            "mcpl-14.5-1",
        ),
    ),
    "mcpl channels of a host": Manager(
        attributes=("kinwire.mcpl.host.channels:ChannelManager.take",),
        rows=(
            "mcpl-14.3-14",
            "mcpl-14.4-2",
        ),
    ),
    "mcpl observers": Manager(
        attributes=("kinwire.mcpl.host.outgoing_response:OutgoingResponse.finish",),
        rows=(
            "mcpl-14.5-2",
            "mcpl-14.5-4",
            "mcpl-14.5-5",
        ),
    ),
    "mcpl offers": Manager(
        attributes=(
            "kinwire.mcpl.host.host:McplHost.offer",
            "kinwire.mcpl.server.server:McplServer.offer",
        ),
        rows=(
            "mcpl-5.1-1",
            "mcpl-5.1-2",
            "mcpl-5.1-4",
            "mcpl-5.1-7",
            "mcpl-5.2-1",
            "mcpl-5.2-2",
        ),
    ),
    "mcpl updates": Manager(
        attributes=(
            "kinwire.mcpl.host.server_peer:ServerPeer._update",
            "kinwire.mcpl.host.server_peer:ServerPeer._changed",
        ),
        rows=(
            "mcpl-5.3-1",
            "mcpl-5.3-2",
            "mcpl-6.4-2",
            "mcpl-6.7-1",
            "mcpl-6.7-4",
            "mcpl-6.7-5",
        ),
    ),
    "mcpl tags": Manager(
        attributes=(
            "kinwire.mcpl.server.host_peer:HostPeer._must_be_enabled",
            "kinwire.mcpl.rules.tags:before_allowed",
            "kinwire.mcpl.rules.tags:after_allowed",
        ),
        rows=(
            "mcpl-6.5-1",
            "mcpl-6.5-3",
            "mcpl-6.5-4",
        ),
    ),
    "mcpl approvals": Manager(
        attributes=("kinwire.managers.grants:GrantStore.keep",),
        rows=("mcpl-7.6-4",),
    ),
    "mcpl tools": Manager(
        attributes=(
            "kinwire.mcpl.host.scoped_calls:ScopedCalls._permitted",
            "kinwire.mcpl.server.served_tools:ServedTools._admit",
        ),
        rows=(
            "mcpl-abstract-5",
            "mcpl-2-4",
            "mcpl-7.7-2",
        ),
    ),
    "mcpl calls with state": Manager(
        attributes=(
            "kinwire.mcpl.host.state:StatefulCalls._carry",
            "kinwire.mcpl.server.served_state:ServedState._serve",
        ),
        rows=(
            "mcpl-8-6",
            "mcpl-8.2-1",
            "mcpl-8.3-3",
            "mcpl-8.3-4",
            "mcpl-8.3-6",
            "mcpl-8.4-3",
        ),
    ),
    "mcpl rollback": Manager(
        attributes=("kinwire.mcpl.host.state:ServerState.roll_back",),
        rows=(
            "mcpl-8.5-1",
            "mcpl-8.5-2",
            "mcpl-8.6-1",
            "mcpl-8.7-1",
            "mcpl-8.7-3",
        ),
    ),
    "mcpl retries": Manager(
        attributes=(
            "kinwire.mcpl.server.host_peer:HostPeer.push",
            "kinwire.managers.inbox:Inbox.look",
        ),
        rows=(
            "mcpl-9.1-1",
            "mcpl-9.4-2",
        ),
    ),
    "mcpl injections": Manager(
        attributes=(
            "kinwire.mcpl.host.injected_content:resolved",
            "kinwire.mcpl.rules.injections:injection_problem",
        ),
        rows=(
            "mcpl-10.3-1",
            "mcpl-10.3-4",
            "mcpl-10.3-5",
            "mcpl-B.1-3",
        ),
    ),
    "mcpl models": Manager(
        attributes=(
            "kinwire.mcpl.rules.inference:route",
            "kinwire.mcpl.host.inference:InferenceManager.model_info",
            "kinwire.mcpl.server.inference_streams:InferenceStreams.open",
        ),
        rows=(
            "mcpl-11.4-2",
            "mcpl-11.5-3",
            "mcpl-11.5-5",
            "mcpl-12-1",
            "mcpl-12.2-1",
        ),
    ),
    "mcpl moderation": Manager(
        attributes=("kinwire.mcpl.host.moderation:Moderator.judge",),
        rows=("mcpl-14-3",),
    ),
    "mcpl channels that come and go": Manager(
        attributes=(
            "kinwire.mcpl.server.host_channels:HostChannels.register",
            "kinwire.mcpl.server.host_channels:HostChannels.change",
            "kinwire.mcpl.server.host_channels:HostChannels.incoming",
            "kinwire.mcpl.host.server_channels:ServerChannels.open",
            "kinwire.mcpl.host.server_channels:ServerChannels.close",
        ),
        rows=(
            "mcpl-14-1",
            "mcpl-14-2",
            "mcpl-14.3-1",
            "mcpl-14.3-2",
            "mcpl-14.3-5",
            "mcpl-14.3-7",
            "mcpl-14.3-12",
        ),
    ),
    "mcpl conversations": Manager(
        attributes=("kinwire.mcpl.host.conversations:Conversations.join",),
        rows=("mcpl-14.3-15",),
    ),
}
