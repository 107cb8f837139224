// Keys, sealing and opening, as docs/encryption.md describes the format. Knows neither the hub nor files.
import { SealError } from "./errors.js";
import { WORDS } from "./generated/words.js";

export type Bytes = Uint8Array<ArrayBuffer>;
/** What travels through the hub: the ciphertext, its key wrapped for the two parties, and the sender's signature. */
export interface Sealed {
  content: string;
  keys: Record<string, string>;
  signature: string;
}

const OAEP = { name: "RSA-OAEP", hash: "SHA-256" };
const PSS = { name: "RSA-PSS", hash: "SHA-256", saltLength: 32 };
const CONTENT_BYTES_MIN = 12 + 1 + 16;
const utf8 = new TextEncoder();
const { subtle } = globalThis.crypto;
/** How Node and Deno show an object in a log, where no secret belongs. */
export const INSPECT = Symbol.for("nodejs.util.inspect.custom");

export function toBase64(bytes: Uint8Array): string {
  const pieces: string[] = [];
  // A multiple of three, so that the base64 of the pieces is the base64 of the whole.
  for (let at = 0; at < bytes.length; at += 24_576) pieces.push(btoa(String.fromCharCode(...bytes.subarray(at, at + 24_576))));
  return pieces.join("");
}

/** Strict: standard alphabet, padding, no white space, one spelling. Null if it is anything else. */
export function fromBase64(text: string): Bytes | null {
  if (text.length % 4 !== 0 || /[^A-Za-z0-9+/=]/.test(text) || /=[^=]/.test(text.slice(-4))) return null;
  try {
    const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
    const tail = bytes.subarray(Math.floor(Math.max(0, bytes.length - 1) / 3) * 3);
    return toBase64(tail) === text.slice(-4) ? bytes : null;
  } catch {
    return null;
  }
}

export const toHex = (bytes: ArrayBuffer | Uint8Array): string =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
export const sha256 = async (text: string | Bytes): Promise<string> =>
  toHex(await subtle.digest("SHA-256", typeof text === "string" ? utf8.encode(text) : text));

function pemBytes(label: string, pem: string): Bytes | null {
  const [, body] = pem.trim().match(new RegExp(`^-----BEGIN ${label}-----([A-Za-z0-9+/=\\s]*)-----END ${label}-----$`)) ?? [];
  return body === undefined ? null : fromBase64(body.replace(/\s/g, ""));
}
const toPem = (label: string, der: Bytes) =>
  `-----BEGIN ${label}-----\n${toBase64(der).replace(/.{1,64}/g, "$&\n")}-----END ${label}-----\n`;
const badKey = (kind: string, why: string) => new SealError("key", `the ${kind} key ${why}`);

/** The public key of an agent: others wrap content keys with it and verify the agent's signatures. */
export class PublicKey {
  private constructor(
    readonly pem: string,
    /** The SHA-256 of the key, in hexadecimal: what programs compare. */
    readonly fingerprint: string,
    readonly modulusBytes: number,
    readonly wrapping: CryptoKey,
    readonly verifying: CryptoKey,
  ) {}

  static async fromPem(pem: string): Promise<PublicKey> {
    if (pem.includes("PRIVATE KEY")) throw badKey("public", "is a private one: keep it to yourself");
    const der = pemBytes("PUBLIC KEY", pem);
    if (!der) throw badKey("public", "must be one block of SPKI PEM (BEGIN PUBLIC KEY)");
    const refuse = () => badKey("public", "must be an RSA key of 2048 to 8192 bits in SPKI form");
    const wrapping = await subtle.importKey("spki", der, OAEP, true, ["encrypt"]).catch(() => Promise.reject(refuse()));
    const bits = (wrapping.algorithm as RsaHashedKeyAlgorithm).modulusLength;
    // One encoding only. Otherwise a key would have more than one fingerprint.
    const canonical = new Uint8Array(await subtle.exportKey("spki", wrapping));
    if (bits < 2048 || bits > 8192 || toBase64(canonical) !== toBase64(der)) throw refuse();
    const verifying = await subtle.importKey("spki", der, PSS, true, ["verify"]);
    return new PublicKey(toPem("PUBLIC KEY", der), await sha256(der), Math.ceil(bits / 8), wrapping, verifying);
  }

  /** The first 64 bits of the fingerprint as eight words, to read out on the phone. */
  get words(): string {
    return Array.from({ length: 8 }, (_, at) => WORDS[Number.parseInt(this.fingerprint.slice(2 * at, 2 * at + 2), 16)]).join(" ");
  }
}

/** The private key of an agent. It opens and signs, and leaves the program only as PEM, on request. */
export class PrivateKey {
  private constructor(
    readonly pem: string,
    readonly publicKey: PublicKey,
    readonly unwrapping: CryptoKey,
    readonly signing: CryptoKey,
  ) {}

  /** A new RSA-4096 key. This can take seconds. */
  static async generate(): Promise<PrivateKey> {
    const kind = { ...OAEP, modulusLength: 4096, publicExponent: new Uint8Array([1, 0, 1]) };
    const { privateKey } = await subtle.generateKey(kind, true, ["encrypt", "decrypt"]);
    return PrivateKey.fromPem(toPem("PRIVATE KEY", new Uint8Array(await subtle.exportKey("pkcs8", privateKey))));
  }

  static async fromPem(pem: string): Promise<PrivateKey> {
    const der = pemBytes("PRIVATE KEY", pem);
    if (!der) throw badKey("private", "must be one block of unencrypted PKCS#8 PEM (BEGIN PRIVATE KEY)");
    try {
      const unwrapping = await subtle.importKey("pkcs8", der, OAEP, true, ["decrypt"]);
      const { kty, n, e } = await subtle.exportKey("jwk", unwrapping);
      const half = await subtle.importKey("jwk", { kty, n, e, alg: "RSA-OAEP-256" } as JsonWebKey, OAEP, true, ["encrypt"]);
      const spki = toPem("PUBLIC KEY", new Uint8Array(await subtle.exportKey("spki", half)));
      const signing = await subtle.importKey("pkcs8", der, PSS, false, ["sign"]);
      return new PrivateKey(toPem("PRIVATE KEY", der), await PublicKey.fromPem(spki), unwrapping, signing);
    } catch {
      throw badKey("private", "must be an RSA key of 2048 to 8192 bits in PKCS#8 form");
    }
  }

  toJSON(): string {
    return "[private key]";
  }
  [INSPECT](): string {
    return this.toJSON();
  }
}

/** Seals a text for two agents, of whom the sender is one. */
export async function seal(task: string, sender: PrivateKey, to: Record<string, PublicKey>, text: string): Promise<Sealed> {
  const own = sender.publicKey.fingerprint;
  if (Object.keys(to).length !== 2) throw new SealError("keys", "the keys must be for two different agents");
  if (!Object.values(to).some((key) => key.fingerprint === own)) {
    throw new SealError("keys", "the keys must include the sender's own, or the sender could not read it again");
  }
  const [secret, iv] = [crypto.getRandomValues(new Uint8Array(32)), crypto.getRandomValues(new Uint8Array(12))];
  const aes = await subtle.importKey("raw", secret, "AES-GCM", false, ["encrypt"]);
  const cipher = new Uint8Array(await subtle.encrypt({ name: "AES-GCM", iv }, aes, utf8.encode(text)));
  const bytes = new Uint8Array(12 + cipher.length);
  bytes.set(iv);
  bytes.set(cipher, 12);
  const keys: Record<string, string> = {};
  for (const [agent, key] of Object.entries(to)) {
    keys[agent] = toBase64(new Uint8Array(await subtle.encrypt(OAEP, key.wrapping, secret)));
  }
  const content = toBase64(bytes);
  const signature = toBase64(new Uint8Array(await subtle.sign(PSS, sender.signing, utf8.encode(task + content))));
  return { content, keys, signature };
}

/** Opens what `sender` sealed in a task for `me`. The signature is verified before anything is decrypted. */
export async function open(task: string, sealed: Sealed, me: string, key: PrivateKey, sender: PublicKey): Promise<string> {
  const signature = fromBase64(sealed.signature);
  const signed = signature?.length === sender.modulusBytes && utf8.encode(task + sealed.content);
  if (!signature || !signed || !(await subtle.verify(PSS, sender.verifying, signature, signed))) {
    throw new SealError("signature", "the signature is not the sender's, or not for this content in this task");
  }
  const bytes = fromBase64(sealed.content);
  if (!bytes || bytes.length < CONTENT_BYTES_MIN) {
    throw new SealError("content", "the content must be base64 of at least 29 bytes: IV, ciphertext and tag");
  }
  if (Object.keys(sealed.keys).length !== 2) {
    throw new SealError("keys", "the wrapped keys must be for exactly the two participants");
  }
  const mine = Object.hasOwn(sealed.keys, me) ? sealed.keys[me] : undefined;
  if (mine === undefined) throw new SealError("not_for_you", "there is no wrapped key for you in it");
  const wrapped = fromBase64(mine);
  if (!wrapped) throw new SealError("keys", "the wrapped keys must be standard base64");
  try {
    const secret = await subtle.decrypt(OAEP, key.unwrapping, wrapped);
    const aes = await subtle.importKey("raw", secret, "AES-GCM", false, ["decrypt"]);
    if (secret.byteLength !== 32) throw new Error();
    const clear = await subtle.decrypt({ name: "AES-GCM", iv: bytes.subarray(0, 12) }, aes, bytes.subarray(12));
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(clear);
  } catch {
    // Never which step: whoever can try often enough could learn the content from that.
    throw new SealError("closed", "it cannot be opened with your key");
  }
}
