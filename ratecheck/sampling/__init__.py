"""Random numbers, noise, seeds and the compiler that kernels share."""
