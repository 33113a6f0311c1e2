"""Entry point of ``python -m w2vneg``, the same as ``w2vneg``."""

from .cli import main

if __name__ == "__main__":
    main()
