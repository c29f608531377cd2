"""Servers that are wrong in one way each: `misbehave.py WAY`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator


def lines() -> Iterator[str]:
    """Yield what the client sends; a loop over stdin would read ahead."""
    while line := sys.stdin.readline():
        yield line


def say(text: str) -> None:
    print(text, flush=True)


def answer(line: str, result: object) -> None:
    message = json.loads(line)
    if "id" in message:
        say(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}))


def exits() -> None:
    """Read three requests, say something, and go."""
    for _ in range(3):
        sys.stdin.readline()
    print("no database", file=sys.stderr, flush=True)
    os._exit(3)


def dies() -> None:
    """Read a request and be killed."""
    sys.stdin.readline()
    os.kill(os.getpid(), signal.SIGKILL)


def chatters() -> None:
    """Print stray lines before and between messages."""
    noise = ["Loading model...", "", "\ufeff", "[1, 2]", "7", '{"level": "info"}']
    for word in noise:
        say(word)
    for line in lines():
        for word in noise:
            say(word)
        answer(line, {})


def grumbles() -> None:
    """Write garbage for every line that comes, and answer what is a request."""
    received = 0
    for line in lines():
        received += len(line)
        say("oops")
        answer(line, {"received": received})


def stays() -> None:
    """Ignore the end of input and every polite signal."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    for line in lines():
        answer(line, {})
    time.sleep(300)


def family() -> None:
    """Have a child and a grandchild that do not end by themselves."""
    sleeper = "import time; time.sleep(300)"
    parent = f"import subprocess, sys; p = subprocess.Popen([sys.executable, '-c', {sleeper!r}]); "
    child = subprocess.Popen(
        [sys.executable, "-c", parent + "print(p.pid, flush=True); p.wait()"],
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
    )
    assert child.stdout is not None
    grandchild = int(child.stdout.readline())
    for line in lines():
        answer(line, {"pids": [os.getpid(), child.pid, grandchild]})


def leaves_heir() -> None:
    """Go, and leave a child behind that holds the output open."""
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
    sys.stdin.readline()
    os._exit(4)


def mute() -> None:
    """Close the output and live on."""
    sys.stdin.readline()
    os.close(1)
    time.sleep(300)


def deaf() -> None:
    """Close the input after one answer and live on."""
    answer(sys.stdin.readline(), {})
    os.close(0)
    say('{"jsonrpc":"2.0","method":"x/closed"}')
    time.sleep(300)


def shouts() -> None:
    """Write much more to stderr than a pipe holds, then answer."""
    for number in range(20_000):
        print(f"line {number}", file=sys.stderr)
    print("x" * 100_000, file=sys.stderr)
    print("the last words", file=sys.stderr, flush=True)
    for line in lines():
        answer(line, {})
        os._exit(0)


def looks() -> None:
    """Say what the process sees of its surroundings."""
    for line in lines():
        answer(line, {"env": dict(os.environ), "cwd": os.getcwd(), "argv": sys.argv[2:]})


WAYS: dict[str, Callable[[], None]] = {
    way.__name__: way
    for way in (
        exits,
        dies,
        chatters,
        grumbles,
        stays,
        family,
        leaves_heir,
        mute,
        deaf,
        shouts,
        looks,
    )
}

if __name__ == "__main__":
    WAYS[sys.argv[1]]()
