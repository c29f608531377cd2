"""Stand in for the generated package of JSON-RPC, which the copies of the modules above import."""
