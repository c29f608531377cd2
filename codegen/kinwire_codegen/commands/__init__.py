"""The generator's verbs of the `kinwire` command, a module a verb; heavy imports wait for `run`."""
