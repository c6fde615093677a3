"""What a case is, what theory expects of it, and what its runs will cost."""
