"""What studies share: their command lines, and figures of several panels."""
