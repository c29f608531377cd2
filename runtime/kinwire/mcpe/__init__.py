"""MCP Events in both roles: a model subscribes to events by tools, and is notified of them.

Pass `McpeServer` to a server, `McpeClient` to a host. `rules/` decides for both; `server/` and
`client/` act. The messages are in `kinwire_protocols.mcpe`.
"""

from __future__ import annotations

__all__ = (
    "AgentHandlers",
    "ArrivedEvents",
    "BashHandlers",
    "DeadLetter",
    "EventClient",
    "EventCluster",
    "EventDeclaration",
    "EventFeatures",
    "EventHandlers",
    "EventIngest",
    "EventRates",
    "EventServer",
    "EventSubscription",
    "EventTerms",
    "HandlerFailedError",
    "HandlerWork",
    "InvalidEventError",
    "McpeClient",
    "McpeServer",
    "Publication",
    "PublicationLimitError",
    "RetryHandlerError",
    "WebhookHandlers",
    "event_priority",
    "github_event",
    "new_event",
    "push_arguments",
    "read_event",
    "signature_of",
)

from typing import TYPE_CHECKING

from kinwire.support.lazy_names import lazy_names

if TYPE_CHECKING:
    from kinwire.mcpe.client.arrived import ArrivedEvents
    from kinwire.mcpe.client.client import McpeClient
    from kinwire.mcpe.client.event_server import EventServer
    from kinwire.mcpe.client.subscription import EventSubscription
    from kinwire.mcpe.errors import InvalidEventError, PublicationLimitError
    from kinwire.mcpe.rules.bridges import event_priority, push_arguments
    from kinwire.mcpe.rules.features import EventFeatures
    from kinwire.mcpe.rules.signatures import signature_of
    from kinwire.mcpe.server.event_client import EventClient
    from kinwire.mcpe.server.fan_out import Publication
    from kinwire.mcpe.server.github import github_event
    from kinwire.mcpe.server.handlers.agent import AgentHandlers
    from kinwire.mcpe.server.handlers.bash import BashHandlers
    from kinwire.mcpe.server.handlers.dead_letters import DeadLetter
    from kinwire.mcpe.server.handlers.event_handlers import EventHandlers
    from kinwire.mcpe.server.handlers.webhook import WebhookHandlers
    from kinwire.mcpe.server.handlers.work import HandlerFailedError, HandlerWork, RetryHandlerError
    from kinwire.mcpe.server.ingest import EventIngest, read_event
    from kinwire.mcpe.server.new_event import new_event
    from kinwire.mcpe.server.options import EventCluster, EventDeclaration, EventRates, EventTerms
    from kinwire.mcpe.server.server import McpeServer

_HOMES = {
    "AgentHandlers": "server.handlers.agent",
    "ArrivedEvents": "client.arrived",
    "BashHandlers": "server.handlers.bash",
    "DeadLetter": "server.handlers.dead_letters",
    "EventClient": "server.event_client",
    "EventCluster": "server.options",
    "EventDeclaration": "server.options",
    "EventFeatures": "rules.features",
    "EventHandlers": "server.handlers.event_handlers",
    "EventIngest": "server.ingest",
    "EventRates": "server.options",
    "EventServer": "client.event_server",
    "EventSubscription": "client.subscription",
    "EventTerms": "server.options",
    "HandlerFailedError": "server.handlers.work",
    "HandlerWork": "server.handlers.work",
    "InvalidEventError": "errors",
    "McpeClient": "client.client",
    "McpeServer": "server.server",
    "Publication": "server.fan_out",
    "PublicationLimitError": "errors",
    "RetryHandlerError": "server.handlers.work",
    "WebhookHandlers": "server.handlers.webhook",
    "event_priority": "rules.bridges",
    "github_event": "server.github",
    "new_event": "server.new_event",
    "push_arguments": "rules.bridges",
    "read_event": "server.ingest",
    "signature_of": "rules.signatures",
}

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _HOMES)
