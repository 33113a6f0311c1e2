"""``python -m w2vneg`` is ``w2vneg``."""

from .cli import main

if __name__ == "__main__":
    main()
