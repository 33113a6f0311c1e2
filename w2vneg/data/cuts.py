"""Where histories are cut into training, validation and test parts: by shares, by their last events, or at a moment."""

from dataclasses import dataclass

import numpy as np

from ..ground.errors import ConfigError

PARTS = ("train", "valid", "test")


@dataclass(frozen=True)
class Shares:
    """Of n members, floor(n c + u) fall to the parts of cumulative share c; u in [0, 1) is drawn for each group."""

    train: float
    valid: float
    test: float

    def check(self):
        """Raise ConfigError unless the shares are at least 0, add up to 1, and leave something on both sides."""
        train, valid, test = shares = self.train, self.valid, self.test
        for name, share in zip(PARTS, shares, strict=True):
            if not 0 <= share <= 1:
                raise ConfigError(f"--{name} is a share between 0 and 1, not {share:g}")
        if abs(train + valid + test - 1) > 1e-6:
            total = f"{train:g} + {valid:g} + {test:g} = {train + valid + test:g}"
            raise ConfigError(f"the shares --train, --valid and --test must add up to 1; {total}")
        if train == 0:
            raise ConfigError("--train 0 leaves nothing to train on; give it a share above 0")
        if train == 1:
            raise ConfigError("--train 1 holds nothing out; give --valid or --test a share above 0")

    @property
    def bounds(self):
        """Cumulative shares, float64 (4,)."""
        return np.round(np.cumsum([0.0, self.train, self.valid, self.test]), 12)

    def asks(self):
        """Return what each part asks for, in words: dict of str -> str, without the parts of share 0."""
        return {name: f"{getattr(self, name):g} of" for name in PARTS if getattr(self, name) > 0}

    def as_dict(self):
        return {name: getattr(self, name) for name in PARTS}

    def cut(self, sizes, times, rng):
        """Return where in each group of members each part begins, and the end: ndarray, int64, (n_groups, 4).

        Parameters
        ----------
        sizes : ndarray, int, (n_groups,)
        times : ndarray, float64, (sum of sizes,), or None
            Of all members, group after group, rising within each; only `Until` looks at them.
        rng : numpy.random.Generator
        """
        turn = rng.random(len(sizes))
        cuts = np.floor(np.multiply.outer(sizes, self.bounds) + turn[:, None]).astype(np.int64)
        cuts[:, 0], cuts[:, -1] = 0, sizes
        return np.minimum(cuts, np.asarray(sizes)[:, None], out=cuts)


@dataclass(frozen=True)
class Last:
    """The last k of each history are for testing, the k before them for validation; short ones are trained on whole."""

    k: int
    valid: bool = True

    def check(self):
        """Raise ConfigError unless k is at least 1."""
        if self.k < 1:
            raise ConfigError(f"--last holds out one event a user or more, not {self.k}")

    def asks(self):
        return {name: f"the last {self.k} of" for name in PARTS if name != "valid" or self.valid}

    def as_dict(self):
        return {"last": self.k, "valid": self.valid}

    def cut(self, sizes, times, rng):
        """Return the cuts; see `Shares.cut`."""
        sizes = np.asarray(sizes)
        held = self.k * (1 + self.valid)
        long = sizes > held
        return np.stack(
            [np.zeros_like(sizes), sizes - held * long, sizes - self.k * long, sizes], axis=1, dtype=np.int64
        )


@dataclass(frozen=True)
class Until:
    """What is not later than the first moment is trained on; with a second one, what lies between is for validation.

    moments : tuple of float, one or two, rising; in the unit of the times, seconds since 1970 where these are dates
    """

    moments: tuple

    def check(self):
        """Raise ConfigError unless there are one or two moments, the earlier one first."""
        if len(self.moments) not in (1, 2) or not all(map(np.isfinite, self.moments)):
            raise ConfigError("--until takes one moment, or two: the end of training, and of validation")
        if len(self.moments) == 2 and not self.moments[0] < self.moments[1]:
            raise ConfigError("--until: the first moment ends training, so the second one must be later")

    def asks(self):
        parts = PARTS if len(self.moments) == 2 else ("train", "test")
        return {name: f"what lies on its side of --until {self.moments[-1]:.17g} of" for name in parts}

    def as_dict(self):
        return {"until": list(self.moments)}

    def cut(self, sizes, times, rng):
        """Return the cuts; see `Shares.cut`."""
        ends = np.concatenate([[0], np.cumsum(sizes)])
        before = [np.diff(np.concatenate([[0], np.cumsum(times <= moment)])[ends]) for moment in self.moments]
        return np.stack([np.zeros_like(sizes), before[0], before[-1], sizes], axis=1).astype(np.int64)


def moment(text):
    """Return a moment as a number: a number as it is, a date or a time of day on it as seconds since 1970.

    Raises
    ------
    ConfigError
        If it is neither.
    """
    try:
        return float(text)
    except ValueError:
        pass
    import pandas as pd

    try:
        when = pd.to_datetime([text], format="ISO8601", utc=True)
    except ValueError:
        raise ConfigError(f"{text!r} is no time; write a number, or YYYY-MM-DD HH:MM:SS") from None
    return float(when.tz_localize(None).to_numpy("datetime64[us]").astype(np.int64)[0] / 1e6)
