"""Makes tests/vectors anew: keys, things sealed well, and things that must be refused.
Run by hand, with a Python that has `cryptography`; the tests only read what it wrote."""

import hashlib
import json
import pathlib
import secrets

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from seal import b64, seal

FOLDER = pathlib.Path(__file__).parent.parent / "vectors"
TASK = "task_8c1f0e5d"


def spki(key, encoding=Encoding.PEM):
    data = key.public_bytes(encoding, PublicFormat.SubjectPublicKeyInfo)
    return data.decode() if encoding is Encoding.PEM else data


def pem(key, form=PrivateFormat.PKCS8):
    return key.private_bytes(Encoding.PEM, form, NoEncryption()).decode()


def shown(key):
    half = key.public_key()
    fingerprint = hashlib.sha256(spki(half, Encoding.DER)).hexdigest()
    return {"private": pem(key), "public": spki(half), "fingerprint": fingerprint}


def of_bits(bits):
    """A public key of just that length. Nobody knows its private half, and nobody needs it."""
    modulus = secrets.randbits(bits - 2) | 1 << (bits - 1) | 1
    return spki(rsa.RSAPublicNumbers(65537, modulus).public_key())


def armour(label, data):
    text = b64(data)
    lines = [text[start:start + 64] for start in range(0, len(text), 64)]
    return "\n".join([f"-----BEGIN {label}-----", *lines, f"-----END {label}-----", ""])


def make(bits):
    return rsa.generate_private_key(65537, bits)


def flip(place):
    def spoil(sealed):
        spoilt = bytearray(sealed)
        spoilt[place] ^= 1
        return bytes(spoilt)
    return spoil


ana, bob, cyd = make(4096), make(2048), make(3072)
pair = {"agent_ana": ana.public_key(), "agent_bob": bob.public_key()}

elliptic = ec.generate_private_key(ec.SECP256R1())
keys = {
    "keys": {"ana": shown(ana), "bob": shown(bob), "cyd": shown(cyd)},
    "acceptedPublic": {"8192 bits": of_bits(8192), "not a multiple of eight": of_bits(2050)},
    "refusedPublic": {
        "1024 bits": of_bits(1024),
        "2047 bits": of_bits(2047),
        "8193 bits": of_bits(8193),
        "elliptic curve": spki(elliptic.public_key()),
        "PKCS#1": bob.public_key().public_bytes(Encoding.PEM, PublicFormat.PKCS1).decode(),
        "PKCS#1 under the wrong label": armour(
            "PUBLIC KEY", bob.public_key().public_bytes(Encoding.DER, PublicFormat.PKCS1)),
        "bytes behind it": armour("PUBLIC KEY", spki(bob.public_key(), Encoding.DER) + b"\0"),
        "two keys": spki(bob.public_key()) + spki(ana.public_key()),
        "text before it": "bob's key\n" + spki(bob.public_key()),
        "a private key": pem(bob),
    },
    "refusedPrivate": {
        "1024 bits": pem(make(1024)),
        "elliptic curve": pem(elliptic),
        "PKCS#1": pem(bob, PrivateFormat.TraditionalOpenSSL),
        "a public key": spki(bob.public_key()),
    },
}


def envelope(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


opened = []
for name, key, plaintext in [
    ("description", "ana", envelope({"title": "Übersetzen", "description": "Zwei Seiten\nbis morgen ✓"})),
    ("message", "bob", envelope({"contentType": "text", "body": "Fertig 🎉"})),
    ("message", "ana", envelope({"contentType": "json", "body": "{\"pages\":[1,2]}"})),
    ("file", "bob", envelope({"filename": "a b.bin", "mimeType": "image/png", "data": b64(bytes(range(256)))})),
    ("bytes", "ana", "x"),
]:
    sender = {"ana": ana, "bob": bob}[key]
    sealed = seal(TASK, sender, pair, plaintext.encode())
    opened.append({"kind": name, "sender": key, "plaintext": plaintext, "sealed": sealed})

sha1, sha256 = hashes.SHA1(), hashes.SHA256()
mgf1 = padding.MGF1(sha256)
refused = []
for why, error, options in [
    ("salt of another length", "signature", {"pss": padding.PSS(mgf1, 20)}),
    ("no salt", "signature", {"pss": padding.PSS(mgf1, 0)}),
    ("longest salt", "signature", {"pss": padding.PSS(mgf1, padding.PSS.MAX_LENGTH)}),
    ("MGF1 of the signature by SHA-1", "signature", {"pss": padding.PSS(padding.MGF1(sha1), 32)}),
    ("PKCS#1 signature", "signature", {"pss": padding.PKCS1v15()}),
    ("OAEP by SHA-1", "closed", {"oaep": padding.OAEP(padding.MGF1(sha1), sha1, None)}),
    ("MGF1 of OAEP by SHA-1", "closed", {"oaep": padding.OAEP(padding.MGF1(sha1), sha256, None)}),
    ("OAEP with a label", "closed", {"oaep": padding.OAEP(mgf1, sha256, b"tandem")}),
    ("PKCS#1 wrapping", "closed", {"oaep": padding.PKCS1v15()}),
    ("AES-128", "closed", {"key_bytes": 16}),
    ("signed with another IV", "closed", {"spoil": flip(0)}),
    ("signed with another ciphertext", "closed", {"spoil": flip(12)}),
    ("signed with another tag", "closed", {"spoil": flip(-1)}),
    ("signed without the tag's end", "closed", {"spoil": lambda sealed: sealed[:-1]}),
    ("signed when too short", "content", {"spoil": lambda sealed: sealed[:28]}),
]:
    sealed = seal(TASK, ana, pair, b"a few words", **options)
    refused.append({"why": why, "error": error, "sealed": sealed})


def write(name, value):
    text = json.dumps(value, indent=1, ensure_ascii=False) + "\n"
    (FOLDER / name).write_text(text, encoding="utf-8")


FOLDER.mkdir(exist_ok=True)
write("keys.json", keys)
write("sealed.json", {"taskId": TASK, "opened": opened, "refused": refused})
