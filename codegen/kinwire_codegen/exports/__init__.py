"""Protocols in the languages of other tools. What a language cannot say is left out."""
