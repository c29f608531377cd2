"""The managers of MCPE."""

from __future__ import annotations

__all__ = ("MCPE",)

from tests.spec.managers.manager import Manager

MCPE = {
    "mcpe capability": Manager(
        attributes=("kinwire.mcpe.rules.features:capability_of",),
        rows=("mcpe-1.3-4", "mcpe-12.1-3"),
    ),
    "mcpe tools": Manager(
        attributes=("kinwire.mcpe.server.tools:EventTools.add_to",),
        rows=("mcpe-1.2-2", "mcpe-6.1-1", "mcpe-6.6-1", "mcpe-12.1-1"),
    ),
    "mcpe limits": Manager(
        attributes=("kinwire.mcpe.rules.subscriptions:must_be_free",),
        rows=("mcpe-5.5-1", "mcpe-5.5-3", "mcpe-6.1-7", "mcpe-12.1-4"),
    ),
    "mcpe status": Manager(
        attributes=("kinwire.mcpe.rules.subscriptions:paused",),
        rows=("mcpe-5.4-2", "mcpe-6.4-1", "mcpe-12.1-10"),
    ),
    "mcpe clients": Manager(
        attributes=("kinwire.mcpe.server.clients:ClientTable.of",),
        rows=("mcpe-6.3-1", "mcpe-11.1-2"),
    ),
    "mcpe authorization": Manager(
        attributes=("kinwire.mcpe.server.desk:SubscriptionDesk._must_be_allowed",),
        rows=("mcpe-11.2-1",),
    ),
    "mcpe visible events": Manager(
        attributes=("kinwire.mcpe.server.visible:VisibleEvents.of",),
        rows=("mcpe-11.4-1", "mcpe-11.4-2"),
    ),
    "mcpe filters": Manager(
        attributes=("kinwire.mcpe.rules.filter_index:FilterIndex.matching",),
        rows=("mcpe-5.2-6", "mcpe-12.1-9"),
    ),
    "mcpe fan-out": Manager(
        attributes=("kinwire.mcpe.server.fan_out:EventFanOut._send",),
        rows=("mcpe-5.4-1", "mcpe-8.1-1", "mcpe-12.1-2", "mcpe-12.1-8"),
    ),
    "mcpe deliveries": Manager(
        attributes=("kinwire.mcpe.server.deliveries:ScheduledDeliveries.begin",),
        rows=("mcpe-8-1", "mcpe-12.1-6"),
    ),
    "mcpe cron": Manager(
        attributes=("kinwire.mcpe.rules.cron:CronTimes.next_after",),
        rows=("mcpe-8.2-1", "mcpe-8.2-2", "mcpe-8.2-3"),
    ),
    "mcpe webhooks": Manager(
        attributes=("kinwire.mcpe.server.handlers.webhook:WebhookHandlers.work",),
        rows=("mcpe-9.2-1", "mcpe-9.2-2", "mcpe-9.2-3"),
    ),
    "mcpe commands": Manager(
        attributes=("kinwire.mcpe.server.handlers.bash:BashHandlers.work",),
        rows=("mcpe-9.1-1", "mcpe-9.1-2", "mcpe-9.1-3", "mcpe-9.1-4"),
    ),
    "mcpe allowed handlers": Manager(
        attributes=("kinwire.mcpe.server.handlers.webhook:WebhookHandlers.problems",),
        rows=("mcpe-11.4-3",),
    ),
    "mcpe expiry": Manager(
        attributes=("kinwire.mcpe.server.expiry:SubscriptionExpiry.expire",),
        rows=("mcpe-5.4-3", "mcpe-12.1-7"),
    ),
    "mcpe grace": Manager(
        attributes=("kinwire.mcpe.server.board:SubscriptionBoard._end_grace",),
        rows=("mcpe-12.2-3",),
    ),
    "mcpe events of a client": Manager(
        attributes=("kinwire.mcpe.client.event_server:EventServer.take",),
        rows=("mcpe-12.2-2", "mcpe-12.2-4"),
    ),
    "mcpe ends of a client": Manager(
        attributes=("kinwire.mcpe.client.event_server:EventServer.expired",),
        rows=("mcpe-12.2-5",),
    ),
    "mcpe support": Manager(
        attributes=("kinwire.mcpe.rules.support:lacking",),
        rows=("mcpe-12.2-1",),
    ),
    "mcpe recovery": Manager(
        attributes=("kinwire.mcpe.client.event_server:EventServer.recover",),
        rows=("mcpe-12.2-6",),
    ),
}
