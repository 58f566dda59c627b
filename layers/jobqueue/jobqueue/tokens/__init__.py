"""Credentials that are tokens: how one arrives, and what a JSON Web Token says of its bearer.

What needs PyJWT is in ``jobqueue.tokens.jwts`` and is imported only where JSON Web Tokens are on.
"""

from __future__ import annotations

from jobqueue.tokens.bearer import bearer_token

__all__ = ["bearer_token"]
