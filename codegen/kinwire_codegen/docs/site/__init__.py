"""The site: static pages of the protocol documents, the guides and a Python interface.

The pages of the reference (`kinwire_codegen.docs.reference`) are made of blocks, which become HTML
here.
"""
