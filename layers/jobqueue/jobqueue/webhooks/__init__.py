"""Webhooks: signed HTTP requests to receivers on the public internet, and to nobody else."""
