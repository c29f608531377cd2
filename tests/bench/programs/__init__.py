"""The programs that are measured, each in a process of its own: `serve`, `memory` or `client`."""
