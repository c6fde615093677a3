"""Algorithms: each a file of its own behind the interface in protocol.py, and any other with ask and tell."""
