"""Does this algorithm, on this cost, converge at the rate its theorem promises?"""
