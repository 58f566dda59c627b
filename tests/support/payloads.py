"""Payload models of the types of job that only tests have."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Note(BaseModel):
    """Takes whatever is JSON."""

    model_config = ConfigDict(extra="allow")
