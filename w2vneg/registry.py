"""Names to plugs: one small table per kind (losses, samplers, weighers, readers, evaluators)."""

from dataclasses import dataclass

from .errors import ConfigError, UnknownNameError, did_you_mean


@dataclass(frozen=True)
class About:
    """What ``w2vneg objectives`` tells of a plug; its class holds one as ``about``.

    summary : str, one line; equation : str, in plain signs; paper : str, whose and where in it
    cost : str, what it costs for each pair, in dot products and the like; use : str, when to choose it
    """

    summary: str
    equation: str
    paper: str
    cost: str
    use: str


class Registry:
    """A named table that a plug enters by decorating its class or function.

    Parameters
    ----------
    kind : str
        What the table holds, in the singular, for messages: ``"loss"``.
    """

    def __init__(self, kind):
        self.kind = kind
        self._entries = {}  # str -> object

    def register(self, name):
        """Return a decorator that enters its argument under `name`; ConfigError if the name is taken."""

        def enter(entry):
            if name in self._entries and self._entries[name] is not entry:
                raise ConfigError(f"a {self.kind} named {name!r} is registered already; choose another name")
            self._entries[name] = entry
            return entry

        return enter

    def __getitem__(self, name):
        try:
            return self._entries[name]
        except KeyError:
            raise UnknownNameError(f"unknown {self.kind} {name!r}{did_you_mean(name, self._entries)}") from None

    def __contains__(self, name):
        return name in self._entries

    def __iter__(self):
        return iter(self._entries)

    def unregister(self, name):
        """Take `name` out again (for tests and notebooks that redefine a plug)."""
        self._entries.pop(name, None)
