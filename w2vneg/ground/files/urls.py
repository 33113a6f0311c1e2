"""What a file that is not on this machine is called."""

import re

_URL = re.compile(r"([a-z][a-z0-9+.-]+)://", re.IGNORECASE)


def scheme_of(name):
    """Return what a URL, a str, begins with, such as ``s3``, in lower case; None for a path."""
    found = _URL.match(name) if isinstance(name, str) else None
    return found and found[1].lower()
