"""Checks that a webhook request was sent by the hub. It needs the raw bytes of the body, as they came."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any, cast

from .errors import InvalidWebhook


def verify(
    headers: Mapping[str, str], body: bytes | str, secret: str, *, tolerance: float = 300, now: float | None = None
) -> dict[str, Any]:
    """The request as `{"event", "timestamp", "agentId", "data"}`. `webhook-id` is the same over all attempts of one
    delivery. Raises `InvalidWebhook` for a wrong signature or a time more than `tolerance` seconds away."""
    found = {name.lower(): value for name, value in headers.items()}
    raw = body.encode() if isinstance(body, str) else body
    stamp = found.get("webhook-timestamp") or found.get("x-pairai-timestamp") or ""
    if not (stamp.isascii() and stamp.isdigit() and len(stamp) < 16):
        raise InvalidWebhook("the request has no timestamp")
    if abs((time.time() if now is None else now) - int(stamp)) > tolerance:
        raise InvalidWebhook("the request is too old, or from the future")
    if "webhook-signature" in found:
        signed = f"{found.get('webhook-id', '')}.{stamp}.".encode() + raw
        digest = base64.b64encode(hmac.new(_key(secret), signed, hashlib.sha256).digest()).decode()
        given, wanted = found["webhook-signature"].split(" "), f"v1,{digest}"
    else:
        wanted = hmac.new(secret.encode(), f"{stamp}.".encode() + raw, hashlib.sha256).hexdigest()
        given = [found.get("x-pairai-signature", "")]
    if not any(hmac.compare_digest(one.encode(), wanted.encode()) for one in given):
        raise InvalidWebhook("the signature is not the hub's")
    try:
        return cast("dict[str, Any]", json.loads(raw))
    except ValueError as cause:
        raise InvalidWebhook(f"the body is no JSON: {cause}") from cause


def _key(secret: str) -> bytes:
    """The bytes of a `whsec_` secret, else the secret's own."""
    if secret.startswith("whsec_"):
        try:
            key = base64.b64decode(secret[6:], validate=True)
        except (binascii.Error, ValueError):
            return secret.encode()
        if base64.b64encode(key).decode() == secret[6:]:
            return key
    return secret.encode()
