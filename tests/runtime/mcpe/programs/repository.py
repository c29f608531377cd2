"""A server of events that publishes what its tool is called with: `kinwire serve repository.py`."""

from kinwire import Server
from kinwire.mcpe import EventDeclaration, McpeServer, new_event

events = McpeServer([EventDeclaration("github.*", "Something happened in a repository.")])
server = Server("repository", "1.0", extensions=[events])


@server.tool
async def push(branch: str) -> int:
    """Push to a branch, and return how many subscriptions want to know."""
    return (await events.publish(new_event("github.push", {"branch": branch}))).subscriptions
