"""What can go wrong with a place to run, and with a unit there."""


class ExecutorError(RuntimeError):
    """There is no place to run; the message says why."""


class ExecutorLost(ExecutorError):
    """The place is gone in the middle of the work."""


class NotLoaded(RuntimeError):
    """A process cannot make sense of a unit, and will not the next time."""


class WorkerDied(RuntimeError):
    """The process that ran a unit ended before the unit did."""


class UnitTimeout(RuntimeError):
    """A unit took longer than it may, and its process was ended."""

    def __init__(self, seconds):
        super().__init__(seconds)
        self.seconds = seconds

    def __str__(self):
        limit = f"its limit of {self.seconds:.3g} s (--unit-timeout sets another)"
        return f"it took longer than {limit}, and its process was ended"


def sent(thing, dumps):
    """What `dumps` makes of it, or a sentence; another try would come to the same."""
    try:
        return dumps(thing)
    except Exception as error:
        raise ExecutorError(
            f"{thing} cannot be sent to another process ({type(error).__name__}: {error}); what it is made of must be "
            "defined at the top level of a module"
        ) from None
