"""A chat that is not there: rooms in memory, in the place of a service on a network."""

from __future__ import annotations

__all__ = ("Post", "Rooms")

from collections.abc import Awaitable, Callable
from typing import NamedTuple


class Post(NamedTuple):
    """What somebody has written."""

    id: str
    room: str
    author: str
    text: str


class Rooms:
    """The rooms of a chat. `on_post` gets what people write, not what is posted by the program."""

    def __init__(self) -> None:
        self._posts: list[Post] = []
        self.on_post: Callable[[Post], Awaitable[None]] | None = None

    def post(self, room: str, author: str, text: str) -> Post:
        """Write as the program, and return the post."""
        post = Post(f"msg_{len(self._posts) + 1}", room, author, text)
        self._posts.append(post)
        return post

    async def write(self, room: str, author: str, text: str) -> Post:
        """Write as a person; return after `on_post`."""
        post = self.post(room, author, text)
        if self.on_post is not None:
            await self.on_post(post)
        return post

    def read(self, room: str) -> list[Post]:
        """Return what stands in a room."""
        return [post for post in self._posts if post.room == room]
