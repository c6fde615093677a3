"""What studies share: tables and numbers in markdown, and the looks of figures."""
