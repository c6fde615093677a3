"""How kernels are compiled: cached on disk, without the interpreter's lock, division as in IEEE 754."""

from numba import njit

compiled = njit(cache=True, nogil=True, error_model="numpy")
inlined = njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
