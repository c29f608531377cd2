"""The reference site: static pages of the protocol documents, guides and a Python interface.

The pages of the reference (`kinwire_codegen.reference`) are made of blocks; here they become HTML.
"""
