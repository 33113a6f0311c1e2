"""Whether a model folder was written by this user: a secret of the user's signs what resuming it would do.

Resuming runs the plug-ins that a folder names and writes vectors where it says. A folder from somebody else must do
neither unasked. The secret is made once and lies in the cache folder; without it, or with another one, every folder
counts as somebody else's.
"""

import hashlib
import hmac
import json
import os
import secrets
from contextlib import suppress

from ..errors import OutputError
from .atomic import atomic_file
from .cachedir import cache_dir

_NAME = "signature.json"
_BYTES = 32


def write_signature(folder, content):
    """Sign `content` (what JSON can hold) in a folder; nothing is written where no secret can be kept."""
    secret = _secret(make=True)
    if secret is not None:
        (folder / _NAME).write_text(json.dumps({"hmac-sha256": _sign(secret, content)}) + "\n", encoding="ascii")


def is_signed(folder, content):
    """Tell whether this user has signed this very content in a folder."""
    secret = _secret()
    try:
        with open(folder / _NAME, encoding="ascii") as stream:
            found = json.loads(stream.read(1000))["hmac-sha256"]
        return secret is not None and hmac.compare_digest(str(found), _sign(secret, content))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False


def _sign(secret, content):
    return hmac.new(secret, json.dumps(content, sort_keys=True).encode(), hashlib.sha256).hexdigest()


def _secret(make=False):
    """Return the user's secret (bytes); None if there is none, or none can be made."""
    path = cache_dir(f"secret-{os.getuid()}" if hasattr(os, "getuid") else "secret")
    with suppress(OSError, OutputError):
        if make and not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_file(path, permissions=0o600) as stream:
                stream.write(secrets.token_bytes(_BYTES))
        with open(path, "rb") as stream:
            about, found = os.fstat(stream.fileno()), stream.read(_BYTES + 1)
        own = not hasattr(os, "getuid") or (about.st_uid == os.getuid() and not about.st_mode & 0o077)
        return found if own and len(found) == _BYTES else None
    return None
