"""Where 168 predicted curves tend to, beside what Theorems 1 and 2 promise."""
