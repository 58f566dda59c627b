"""Secrets that are known by their looks alone: the keys of well-known services, and random strings."""

from __future__ import annotations

import re

from jobqueue.redact.markers import HIDDEN
from jobqueue.redact.words import is_prose, turns

_PEM = re.compile(r"-----BEGIN [A-Z0-9 ]{1,64}-----.*?(?:-----END [A-Z0-9 ]{1,64}-----|\Z)", re.DOTALL)

_SHAPES = re.compile(
    r"""(?<![A-Za-z0-9])(?:
      jq_[\w-]{16,}                                                            # our own
    | (?:AKIA|ASIA|ABIA|ACCA|AIDA|AIPA|AGPA|ANPA|ANVA|APKA|AROA)[A-Z0-9]{12,}  # AWS
    | eyJ[\w-]{6,}\.[\w-]{2,}(?:\.[\w-]*)*                                     # JWT, JWE
    | gh[opsur]_[A-Za-z0-9]{16,} | github_pat_\w{16,}                          # GitHub
    | gl(?:pat|ptt|dt|rt|cbt|ft|oas|soat|agent|imt)-[\w.-]{16,}                # GitLab
    | ATBB[A-Za-z0-9]{24,} | ATATT3[\w=-]{20,} | ATCTT3[\w=-]{20,}             # Atlassian
    | xox[abceoprs]-[\w-]{8,} | xapp-[\w-]{8,} | xwfp-[\w-]{8,}                # Slack
    | [rs]k_(?:live|test|prod)_\w{8,} | whsec_[\w+/=]{16,}                     # Stripe, Standard Webhooks
    | AIza[\w-]{30,} | ya29\.[\w-]{16,} | GOCSPX-[\w-]{16,} | 1//0[\w-]{30,}   # Google
    | sk-(?=[A-Za-z]{0,64}\d)(?=\d{0,64}[A-Za-z])[A-Za-z0-9]{8,}
    | sk-(?=[\w-]{0,64}\d)[\w-]{16,} | sk-(?:proj|ant|or|svcacct)-[\w-]{8,}    # OpenAI and its like
    | hf_[A-Za-z0-9]{20,} | r8_[A-Za-z0-9]{20,} | gsk_[A-Za-z0-9]{20,} | pplx-[A-Za-z0-9]{20,}
    | SG\.[\w-]{8,}\.[\w-]{8,} | key-[0-9a-f]{32} | [0-9a-f]{32}-us\d{1,2}     # SendGrid, Mailgun, Mailchimp
    | (?:SK|AC)[0-9a-f]{32}                                                    # Twilio
    | npm_[A-Za-z0-9]{20,} | pypi-[\w-]{16,} | dckr_pat_[\w-]{16,} | rubygems_[0-9a-f]{32,}
    | dop_v1_[0-9a-f]{32,} | doo_v1_[0-9a-f]{32,} | dor_v1_[0-9a-f]{32,}       # DigitalOcean
    | shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32} | sq0[a-z]{3}-[\w-]{20,} | EAAA[\w-]{32,}  # Shopify, Square
    | hv[bsr]\.[\w-]{16,} | \w{14}\.atlasv1\.[\w=-]{40,}                   # Vault, Terraform
    | dp\.(?:ct|pt|scim|st)\.[\w.]{16,}
    | dapi[0-9a-f]{32} | lin_api_\w{16,} | ntn_\w{16,} | secret_\w{32,} | figd_[\w-]{16,}
    | NRAK-\w{16,} | PMAK-[\w-]{16,} | glsa_\w{16,} | glc_[\w=+/]{16,} | sntrys_[\w=+/-]{16,}
    | sbp_[0-9a-f]{32,} | tskey-[\w-]{16,} | HRKU-[\w-]{16,} | AGE-HIDDEN-KEY-1\w{16,}
    | \d{8,10}:AA[\w-]{30,}                                                    # Telegram
    )""",
    re.VERBOSE,
)
# Addresses that are secrets themselves: whoever knows one may post to it.
_SECRET_ADDRESSES = re.compile(
    r"(hooks\.slack\.com/(?:services|workflows|triggers)/|discord(?:app)?\.com/api/webhooks/"
    r"|\.webhook\.office\.com/|api\.telegram\.org/bot)[^\s\"'`<>?\[]+"
)

_SCHEME = re.compile(r"(?<![A-Za-z0-9])(Bearer|Basic)([ \t]{1,8}[\"']?)([A-Za-z0-9._~+/=-]+)", re.IGNORECASE)

_HEX = re.compile(r"(?<![A-Za-z0-9_-])(?:0x)?[0-9A-Fa-f]{32,}+(?![A-Za-z0-9_-])")
_DIGEST = re.compile(
    r"(?:commit|revision|sha-?\d{0,3}|md5|e-?tag|digest|checksum|hash|trace|span|request|correlation)"
    r"(?:[ _-]?id)?[\"']?[ \t]?[:= @][ \t\"']{0,3}$",
    re.IGNORECASE,
)
_RANDOM = re.compile(r"(?<![A-Za-z0-9+_=-])[A-Za-z0-9+_-]{32,}+={0,2}(?![A-Za-z0-9+_=-])")
# An AWS secret key and its like: the slash makes it look like a path, so its length must be just so.
_RANDOM_40 = re.compile(r"(?<![A-Za-z0-9/+=])[A-Za-z0-9+][A-Za-z0-9/+]{39}(?![A-Za-z0-9/+=])")


def hide_shapes(text: str) -> str:
    """Replace private keys, and the keys and addresses of well-known services."""
    text = _PEM.sub(HIDDEN, text)
    text = _SECRET_ADDRESSES.sub(rf"\1{HIDDEN}", text)
    return _SHAPES.sub(HIDDEN, text)


def hide_bearers(text: str) -> str:
    """Replace the credential after ``Bearer`` and ``Basic``."""
    return _SCHEME.sub(_without_credential, text)


def hide_random(text: str) -> str:
    """Replace long strings that look random; digests that are named as such stay."""
    text = _HEX.sub(_unless_digest, text)
    text = _RANDOM_40.sub(lambda found: _if_random(found, least=0.28), text)
    return _RANDOM.sub(lambda found: _if_random(found, least=0.44), text)


def _without_credential(found: re.Match[str]) -> str:
    scheme, space, credential = found.groups()
    if is_prose(credential):
        return found[0]
    is_word = credential.isalpha() and (credential.islower() or credential.istitle())
    if scheme.lower() == "basic" and (is_word or len(credential) < 6):
        return found[0]
    return f"{scheme}{space}{HIDDEN}"


def _unless_digest(found: re.Match[str]) -> str:
    before = found.string[max(0, found.start() - 32) : found.start()]
    return found[0] if _DIGEST.search(before) else HIDDEN


def _if_random(found: re.Match[str], *, least: float) -> str:
    """Tell random from made up: in random base64 the kind of character changes at 3 of 5 places."""
    word = found[0]
    kinds = (any(map(str.islower, word)), any(map(str.isupper, word)), any(map(str.isdigit, word)))
    return HIDDEN if all(kinds) and turns(word) >= least else word
