"""What can go wrong with a place to run, and with a unit there."""


class ExecutorError(RuntimeError):
    """There is no place to run; the message says why."""


class ExecutorLost(ExecutorError):
    """The place is gone in the middle of the work."""


class WorkerDied(RuntimeError):
    """The process that ran a unit ended before the unit did."""


class UnitTimeout(RuntimeError):
    """A unit took longer than it may, and its process was ended."""

    def __init__(self, seconds):
        super().__init__(seconds)
        self.seconds = seconds

    def __str__(self):
        return (
            f"it took longer than its limit of {self.seconds:.3g} s (--unit-timeout sets another), and its process was "
            "ended"
        )
