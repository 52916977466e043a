"""Scores of odds by numpy, from a CSV of seasons: below, normal, above, outcome (0 to 2). Writes JSON."""

import json
import sys

import numpy as np

rows = np.loadtxt(sys.argv[1], delimiter=",", skiprows=1)
odds = rows[:, :3] / rows[:, :3].sum(axis=1, keepdims=True)
came = np.eye(3)[rows[:, 3].astype(int)]
third = np.full_like(odds, 1 / 3)


def ranked(forecast):
    return np.square(np.cumsum(forecast, axis=1) - np.cumsum(came, axis=1)).sum(axis=1).mean()


def reliability(forecast, seen):
    # Right-open bins of a tenth, whose ends are met in spite of the last bit of a double.
    bins = np.digitize(np.round(forecast, 9), np.arange(1, 10) / 10)
    n = np.bincount(bins, minlength=10)
    mean = np.bincount(bins, weights=forecast, minlength=10) / np.maximum(n, 1)
    share = np.bincount(bins, weights=seen, minlength=10) / np.maximum(n, 1)
    return {
        "term": float(np.sum(n * np.square(mean - share)) / n.sum()),
        "counts": n.tolist(),
        "forecast": mean.tolist(),
        "observed": share.tolist(),
    }


json.dump(
    {
        "brier": float(np.square(odds - came).sum(axis=1).mean()),
        "rps": float(ranked(odds)),
        "rpss": float(1 - ranked(odds) / ranked(third)),
        "reliability": [reliability(odds[:, k], came[:, k]) for k in range(3)],
    },
    sys.stdout,
)
