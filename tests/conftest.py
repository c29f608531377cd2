"""What holds for every test."""

from __future__ import annotations

import signal

# A shell starts background jobs, and so some CI systems start everything, with interrupts ignored,
# and that is inherited. Tests interrupt child processes, which must get Python's usual handling.
signal.signal(signal.SIGINT, signal.default_int_handler)
