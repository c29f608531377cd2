"""Documents as they are read: found, parsed, and followed from name to name."""
