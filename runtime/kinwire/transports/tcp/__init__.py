"""Connections over TCP, with and without TLS, on asyncio and trio alike (`streams.py`)."""
