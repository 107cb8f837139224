"""Seals and opens as the contract says, by Python's `cryptography` (OpenSSL underneath): an implementation
that shares no code with ours. Reads one request as JSON from stdin, writes one answer as JSON to stdout."""

import base64
import json
import os
import sys

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.ciphers.aead import AESGCM


def b64(data):
    return base64.b64encode(data).decode()


def unb64(text):
    return base64.b64decode(text, validate=True)


def private(pem):
    return serialization.load_pem_private_key(pem.encode(), None)


def public(pem):
    return serialization.load_pem_public_key(pem.encode())


OAEP = padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), None)
PSS = padding.PSS(padding.MGF1(hashes.SHA256()), 32)


def seal(task_id, sender, recipients, plaintext, oaep=OAEP, pss=PSS, spoil=lambda sealed: sealed, key_bytes=32):
    key, iv = os.urandom(key_bytes), os.urandom(12)
    content = b64(spoil(iv + AESGCM(key).encrypt(iv, plaintext, None)))
    return {
        "content": content,
        "keys": {agent: b64(recipient.encrypt(key, oaep)) for agent, recipient in recipients.items()},
        "signature": b64(sender.sign((task_id + content).encode(), pss, hashes.SHA256())),
    }


def open_(task_id, sealed, agent, key, sender):
    signed = (task_id + sealed["content"]).encode()
    sender.verify(unb64(sealed["signature"]), signed, PSS, hashes.SHA256())
    content_key = key.decrypt(unb64(sealed["keys"][agent]), OAEP)
    assert len(content_key) == 32, "the content's key must be one of AES-256"
    content = unb64(sealed["content"])
    return AESGCM(content_key).decrypt(content[:12], content[12:], None)


def main():
    ask = json.load(sys.stdin)
    if ask["do"] == "seal":
        recipients = {agent: public(pem) for agent, pem in ask["recipients"].items()}
        answer = seal(ask["taskId"], private(ask["sender"]), recipients, unb64(ask["plaintext"]))
    else:
        opened = open_(ask["taskId"], ask["sealed"], ask["agent"], private(ask["key"]), public(ask["sender"]))
        answer = {"plaintext": b64(opened)}
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
