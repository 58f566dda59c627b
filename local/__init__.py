"""The deployed stack on a laptop: `make up`, or ``python -m local``. Nothing in here is deployed."""
