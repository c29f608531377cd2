"""The generator's subcommands of `kinwire`, a module each; heavy imports wait for `run`."""
