"""The generator: protocol documents in, typed Python bindings and reference pages out."""
