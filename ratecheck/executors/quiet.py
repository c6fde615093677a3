"""Dask's loggers hold their tongue: what is lost is said in a sentence, once, by those who notice it."""

from __future__ import annotations

import logging

TALKATIVE = ("distributed", "tornado", "asyncio")


class Quiet:
    """From now until end()."""

    def __init__(self):
        every = [*TALKATIVE, *list(logging.root.manager.loggerDict)]
        loggers = [logging.getLogger(name) for name in dict.fromkeys(every) if name.split(".")[0] in TALKATIVE]
        self.before = [(logger, logger.level, logger.handlers, logger.propagate) for logger in loggers]
        for logger in loggers:
            logger.setLevel(logging.CRITICAL + 1)
            logger.handlers = [logging.NullHandler()]  # for loggers that are yet to come
            logger.propagate = False

    def end(self):
        for logger, level, handlers, propagate in self.before:
            logger.setLevel(level)
            logger.handlers, logger.propagate = handlers, propagate
        self.before = []
