"""A policy and a system of one's own beside those of the package."""

import numpy as np

from cb_pgm import MOSS, Observations, compare


class Button:
    """A page with a button whose colour and size differ at random; a click depends on the colour alone."""

    clicks = np.array([0.1, 0.3, 0.1])

    def __init__(self):
        self.states = self.settable = {"colour": ("red", "blue", "grey"), "size": ("small", "large")}

    def mean_reward(self, do):
        if "colour" in do:
            return float(self.clicks[self.states["colour"].index(do["colour"])])
        return float(self.clicks.mean())

    def sample(self, do, size, rng):
        codes = np.column_stack([rng.integers(len(own), size=size) for own in self.states.values()])
        for place, (name, own) in enumerate(self.states.items()):
            if name in do:
                codes[:, place] = own.index(do[name])
        clicked = rng.random(size) < self.clicks[codes[:, 0]]
        return Observations(codes.astype(np.int16), clicked.astype(np.float64))


class Impatient(MOSS):
    """MOSS that believes rewards to scatter half as much."""

    name = "impatient"

    def __init__(self, states, *, noise_scale=0.5, **settings):
        super().__init__(states, noise_scale=noise_scale / 2, **settings)


found = compare(["ucb", "screening", Impatient], {"button": Button()}, horizon=2_000, seeds=5)
print(found.groupby("policy")["regret"].mean().round(1).sort_values())
