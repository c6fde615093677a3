"""Two algorithms in plain Python, to be plugged in."""


class RandomSearch:
    """Uniform queries for ever: its regret is linear."""

    def __init__(self, dim, lower, upper, horizon, rng):
        self.lower, self.upper, self.rng = lower, upper, rng

    def ask(self):
        return self.rng.uniform(self.lower, self.upper)

    def tell(self, x, y):
        pass


class ExploreThenCommit:
    """T^(2/3) random queries, then the best of them: it depends on the horizon."""

    def __init__(self, dim, lower, upper, horizon, rng):
        self.lower, self.upper, self.rng = lower, upper, rng
        self.budget = round(horizon ** (2 / 3))
        self.asked, self.best = 0, (float("inf"), lower)

    def ask(self):
        self.asked += 1
        return self.rng.uniform(self.lower, self.upper) if self.asked <= self.budget else self.best[1]

    def tell(self, x, y):
        if self.asked <= self.budget:
            self.best = min(self.best, (y, x), key=lambda pair: pair[0])
