"""What the adapters share: libraries that are imported when they are needed, and random numbers of their own."""

import threading
from importlib import import_module

import numpy as np

_ALONE = threading.RLock()


def library(name: str):
    try:
        return import_module(name)
    except ImportError as error:
        raise ValueError(
            f"{name.partition('.')[0]} cannot be imported ({error}); it needs the extra 'peers': "
            "pip install 'ratecheck[peers]'"
        ) from None


def seed_of(rng) -> int:
    return int(rng.integers(2**32))


class OwnNumbers:
    """While it is entered, numpy's global generator is one of this instance's own, and no other thread's adapter runs.

    For libraries that draw from `numpy.random` without asking whose numbers they are.  What others draw globally is not
    disturbed, but for the second normal of a pair that numpy.random.randn keeps for its next call.
    """

    def __init__(self, rng):
        self.own = np.random.MT19937(seed_of(rng))

    def __enter__(self):
        _ALONE.acquire()
        self.others = np.random.get_bit_generator()
        np.random.set_bit_generator(self.own)

    def __exit__(self, *_):
        np.random.set_bit_generator(self.others)
        _ALONE.release()
