"""What can go wrong with a place to run, and with a unit there."""


class ExecutorError(RuntimeError):
    """There is no place to run; the message says why."""


class ExecutorLost(ExecutorError):
    """The place is gone in the middle of the work."""


class WorkerDied(RuntimeError):
    """The process that ran a unit ended before the unit did."""
