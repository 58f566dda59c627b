"""Takes secrets out of the text of an error before it is stored.

There is no library for this that could go into a layer: those for personal data bring a language model
(scrubadub: 270 MB), those for source code find a secret's line and leave it there (detect-secrets), and
the small ones for logs know five patterns, some of which take quadratic time. What is known of the
shapes of secrets comes from the public rules of such scanners.

Nothing here can know a secret that looks like a word: a password that stands alone in a sentence stays.
"""

from __future__ import annotations

from jobqueue.redact.cleaning import clean_error, redact

__all__ = ["clean_error", "redact"]
