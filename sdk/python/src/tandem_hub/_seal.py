"""Encrypts and signs for the two parties of a task, and opens again, by docs/encryption.md. Knows a task only by its id.
Needs the extra `tandem-hub[encryption]`."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypedDict

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from ._tables import WORDS

Part = Literal["signature", "content", "keys", "not_for_you", "closed", "envelope", "key"]
OAEP = padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), None)
ENVELOPES = {
    "description": ("title", "description"), "message": ("contentType", "body"), "file": ("filename", "mimeType", "data"),
}  # fmt: skip
PSS = padding.PSS(padding.MGF1(hashes.SHA256()), 32)


class Sealed(TypedDict):
    """Everything that the hub stores of a sealed content."""

    content: str
    keys: Mapping[str, str]
    signature: str


class SealError(Exception):
    """It never says which step of a decryption failed: whoever can try often enough could learn from that."""

    def __init__(self, part: Part, message: str) -> None:
        super().__init__(message)
        self.part = part


def strict(text: str, part: Part, what: str) -> bytes:
    """Standard base64 with padding, in its one spelling."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        data = b""
    if not data or base64.b64encode(data).decode() != text:
        raise SealError(part, f"{what} is not standard base64")
    return data


def der_of(pem: str, label: str) -> bytes:
    found = re.fullmatch(rf"\s*-----BEGIN {label}-----([A-Za-z0-9+/=\s]+)-----END {label}-----\s*", pem)
    if not found:
        raise SealError("key", f"a key must be one block of PEM (BEGIN {label})")
    return strict("".join(found[1].split()), "key", "the key")


class PublicKey:
    """The public key of an agent."""

    def __init__(self, pem: str) -> None:
        self.der = der_of(pem, "PUBLIC KEY")
        try:
            key = serialization.load_der_public_key(self.der)
        except ValueError as cause:
            raise SealError("key", "the public key is damaged") from cause
        if not isinstance(key, rsa.RSAPublicKey) or not 2048 <= key.key_size <= 8192 or self._der(key) != self.der:
            raise SealError("key", "the public key must be an RSA key of 2048 to 8192 bits in SPKI form")
        self.key = key

    @staticmethod
    def _der(key: rsa.RSAPublicKey) -> bytes:
        return key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)

    @property
    def pem(self) -> str:
        form = serialization.PublicFormat.SubjectPublicKeyInfo
        return self.key.public_bytes(serialization.Encoding.PEM, form).decode()

    @property
    def fingerprint(self) -> str:
        return hashlib.sha256(self.der).hexdigest()

    @property
    def words(self) -> str:
        """The first 64 bits of the fingerprint, to read out."""
        return " ".join(WORDS[byte] for byte in bytes.fromhex(self.fingerprint)[:8])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PublicKey) and other.der == self.der

    def __hash__(self) -> int:
        return hash(self.der)

    def check(self, task_id: str, content: str, signature: str) -> None:
        try:
            signed = strict(signature, "signature", "the signature")
            self.key.verify(signed, task_id.encode() + content.encode(), PSS, hashes.SHA256())
        except InvalidSignature as cause:
            raise SealError("signature", "the signature is not the sender's, or not for this content") from cause


class PrivateKey:
    """The private key of an agent."""

    def __init__(self, pem: str) -> None:
        try:
            key = serialization.load_der_private_key(der_of(pem, "PRIVATE KEY"), None)
        except (ValueError, TypeError) as cause:
            raise SealError("key", "the private key must be unencrypted PKCS#8") from cause
        if not isinstance(key, rsa.RSAPrivateKey) or not 2048 <= key.key_size <= 8192:
            raise SealError("key", "the private key must be an RSA key of 2048 to 8192 bits")
        self.key, self.pem = key, pem
        form = serialization.PublicFormat.SubjectPublicKeyInfo
        self.public = PublicKey(key.public_key().public_bytes(serialization.Encoding.PEM, form).decode())

    @classmethod
    def generate(cls) -> PrivateKey:
        key, form = rsa.generate_private_key(65537, 4096), serialization.PrivateFormat.PKCS8
        return cls(key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode())

    @classmethod
    def load(cls, path: Path) -> PrivateKey:
        with open(path, encoding="ascii") as file:
            if os.fstat(file.fileno()).st_mode & 0o077:
                raise SealError("key", f"{path} can be read by others on this machine; say `chmod 600` on it")
            return cls(file.read(64 * 1024))


def seal(task_id: str, sender: PrivateKey, recipients: Mapping[str, PublicKey], plaintext: bytes) -> Sealed:
    """Seals bytes for the two parties of a task; the sender must be one of them."""
    if not plaintext or len(recipients) != 2 or sender.public not in recipients.values():
        raise SealError("keys", "content must not be empty, and be for two agents with the sender among them")
    key, nonce = os.urandom(32), os.urandom(12)
    content = base64.b64encode(nonce + AESGCM(key).encrypt(nonce, plaintext, None)).decode()
    keys = {agent: base64.b64encode(one.key.encrypt(key, OAEP)).decode() for agent, one in recipients.items()}
    signature = sender.key.sign(task_id.encode() + content.encode(), PSS, hashes.SHA256())
    return {"content": content, "keys": keys, "signature": base64.b64encode(signature).decode()}


def unseal(task_id: str, sealed: Sealed, me: str, key: PrivateKey, sender: PublicKey) -> bytes:
    """Opens what the sender sealed in this task. The signature is checked before anything is decrypted."""
    sender.check(task_id, sealed["content"], sealed["signature"])
    data = strict(sealed["content"], "content", "the content")
    if len(data) < 29:
        raise SealError("content", "the content must have at least 29 bytes")
    if len(sealed["keys"]) != 2:
        raise SealError("keys", "the wrapped keys must be for exactly the two parties")
    if me not in sealed["keys"]:
        raise SealError("not_for_you", "there is no wrapped key for you in it")
    wrapped = strict(sealed["keys"][me], "keys", "the wrapped key")
    try:
        content_key = key.key.decrypt(wrapped, OAEP)
        if len(content_key) != 32:
            raise ValueError("AES-256 only")
        return AESGCM(content_key).decrypt(data[:12], data[12:], None)
    except (ValueError, InvalidTag) as cause:
        raise SealError("closed", "it cannot be opened with your key") from cause


def envelope(plaintext: bytes, kind: Literal["description", "message", "file"]) -> dict[str, str]:
    """The fields of an opened description, message or file."""
    try:
        found: dict[str, Any] = json.loads(plaintext)
        fields = {name: found[name] for name in ENVELOPES[kind]}
    except (ValueError, KeyError, TypeError) as cause:
        raise SealError("envelope", f"it was opened, but there is no {kind} inside") from cause
    is_fit = all(isinstance(value, str) for value in fields.values())
    if not is_fit or fields.get("contentType", "text") not in ("text", "json"):
        raise SealError("envelope", f"it was opened, but there is no {kind} inside")
    return fields
