"""Names for whole objectives: what a paper means by a word, as options of the three plugs.

A loss's own name is the preset with its natural sampler. Whatever is given beside a preset's name wins over it.
"""

from dataclasses import dataclass, field

_COMMON = {"weigher": "none", "negatives": 5, "share_negatives": False, "alpha": 0.05, "exclude": "none"}
_HARD = {"sampler": "boltzmann", "negatives": 10}


@dataclass(frozen=True)
class Preset:
    """loss : str; values : dict of option -> value, what the name fills in; summary, paper : str"""

    loss: str
    values: dict = field(default_factory=dict)
    summary: str = ""
    paper: str = ""


PRESETS = {
    "ns": Preset("ns", {"sampler": "popularity", "exclude": "target"}),
    "relaxed": Preset("relaxed", _HARD),
    "softmax": Preset("softmax", {"sampler": None, "negatives": None, "share_negatives": None}),
}


def preset_of(name):
    """Return the preset `name`, complete; for a name that is none, a loss of that name with plain noise."""
    preset = PRESETS.get(name, Preset(name, {"sampler": "popularity"}))
    return Preset(preset.loss, _COMMON | preset.values, preset.summary, preset.paper)
