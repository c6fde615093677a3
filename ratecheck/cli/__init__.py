"""The command line: `ratecheck COMMAND`, one module per command."""
