"""Options as TOML, for files that ``--config`` reads."""

import json


def to_toml(values):
    """Return names and values, at the top level, as TOML text; what is None is left out.

    values : dict of str -> bool, int, float, str, or a list of one of them
    """
    lines = [f"{name} = {_value(value)}" for name, value in values.items() if value is not None]
    return "".join(line + "\n" for line in lines)


def _value(value):
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)
