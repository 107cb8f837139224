// Verifies and decrypts end-to-end encrypted content with WebCrypto, as `crates/seal` does:
//   signature  RSA-PSS, SHA-256, salt of 32 bytes, over task id and base64 of the content
//   key        AES-256, wrapped for each participant by RSA-OAEP with SHA-256
//   content    base64 of IV (12 bytes), AES-GCM ciphertext and tag (16 bytes); the plaintext is JSON
// It knows nothing of the page. Private keys come in as PEM once and are then keys that no script can read.

const OAEP = { name: 'RSA-OAEP', hash: 'SHA-256' };
const PSS = { name: 'RSA-PSS', hash: 'SHA-256' };
const SALT_BYTES = 32;
const IV_BYTES = 12;
/** IV, tag, and at least one byte of ciphertext. */
const CONTENT_BYTES_MIN = 29;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** @typedef {{ title: string, description: string }} Description */
/** @typedef {{ contentType: 'text' | 'json', body: string }} Message */
/** @typedef {{ filename: string, bytes: Uint8Array<ArrayBuffer> }} SealedFile */
/** @typedef {{ task: string, content: string, signature: string, keys: Record<string, string> }} Sealed */

/** Why something cannot be read, in a sentence for the person. */
export class Refusal extends Error {}

/** Browsers offer WebCrypto on HTTPS and localhost only. */
export function canDecrypt() {
  return globalThis.crypto?.subtle !== undefined;
}

/**
 * Strict standard base64: with padding, without white space.
 * @param {string} text
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function fromBase64(text) {
  if (text.length % 4 !== 0 || !BASE64.test(text)) throw new Refusal('This is not standard base64.');
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

/** @param {Uint8Array} bytes */
export function toBase64(bytes) {
  // A multiple of three, so that the base64 of the pieces is the base64 of the whole.
  const piece = 3 * 8192;
  let text = '';
  for (let at = 0; at < bytes.length; at += piece) {
    text += btoa(String.fromCharCode(...bytes.subarray(at, at + piece)));
  }
  return text;
}

/**
 * The bytes of a text that is one PEM block.
 * @param {string} label
 * @param {string} text
 */
function fromPem(label, text) {
  const [begin, end] = [`-----BEGIN ${label}-----`, `-----END ${label}-----`];
  const pem = text.trim();
  if (!pem.startsWith(begin) || !pem.endsWith(end)) return null;
  return fromBase64(pem.slice(begin.length, -end.length).replace(/\s/g, ''));
}

/**
 * Imports a private key that can unwrap content keys and cannot be read out.
 * @param {string} pem
 */
export async function importPrivateKey(pem) {
  const refusal = new Refusal('This is not an unencrypted private key in PKCS#8 form (BEGIN PRIVATE KEY), RSA of 2048 bits or more.');
  try {
    const der = fromPem('PRIVATE KEY', pem);
    if (!der) throw refusal;
    const key = await crypto.subtle.importKey('pkcs8', der, OAEP, false, ['unwrapKey']);
    if (modulusBits(key) < 2048) throw refusal;
    return key;
  } catch {
    throw refusal;
  }
}

/** @param {CryptoKey} key */
function modulusBits(key) {
  return 'modulusLength' in key.algorithm ? Number(key.algorithm.modulusLength) : 0;
}

/**
 * Whether a private key belongs to a public one: unwraps what the public one wrapped.
 * @param {CryptoKey} key
 * @param {string} pem
 */
export async function belongsTo(key, pem) {
  try {
    const spki = fromPem('PUBLIC KEY', pem);
    if (!spki) return false;
    const wrapping = await crypto.subtle.importKey('spki', spki, OAEP, false, ['wrapKey']);
    const probe = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, true, ['decrypt']);
    await unwrap(key, new Uint8Array(await crypto.subtle.wrapKey('raw', probe, wrapping, OAEP)));
    return true;
  } catch {
    return false;
  }
}

/**
 * Whether the sender's key signed this content for this task.
 * @param {string} senderPem
 * @param {Sealed} sealed
 */
export async function isSigned(senderPem, { task, content, signature }) {
  try {
    const spki = fromPem('PUBLIC KEY', senderPem);
    if (!spki) return false;
    const key = await crypto.subtle.importKey('spki', spki, PSS, false, ['verify']);
    if (modulusBits(key) < 2048) return false;
    const signed = new TextEncoder().encode(task + content);
    return await crypto.subtle.verify({ name: 'RSA-PSS', saltLength: SALT_BYTES }, key, fromBase64(signature), signed);
  } catch {
    return false;
  }
}

/**
 * @param {CryptoKey} key
 * @param {Uint8Array<ArrayBuffer>} wrapped
 */
async function unwrap(key, wrapped) {
  const content = await crypto.subtle.unwrapKey('raw', wrapped, key, OAEP, 'AES-GCM', false, ['decrypt']);
  if (!('length' in content.algorithm) || content.algorithm.length !== 256) throw new Refusal('Not AES-256.');
  return content;
}

/**
 * Decrypts content for an agent. Call it only for content whose signature verified.
 * @param {Sealed} sealed
 * @param {string} agent
 * @param {CryptoKey} key
 * @returns {Promise<string>} the plaintext, which is JSON
 */
export async function decrypt({ content, keys }, agent, key) {
  if (Object.keys(keys).length !== 2) throw new Refusal('It is not encrypted for exactly two agents.');
  if (!Object.hasOwn(keys, agent)) throw new Refusal('It is not encrypted for this agent.');
  /** @type {CryptoKey} */
  let contentKey;
  try {
    contentKey = await unwrap(key, fromBase64(String(keys[agent])));
  } catch {
    throw new Refusal('The key does not fit.');
  }
  try {
    const bytes = fromBase64(content);
    if (bytes.length < CONTENT_BYTES_MIN) throw new Refusal();
    const cipher = { name: 'AES-GCM', iv: bytes.subarray(0, IV_BYTES) };
    const plain = await crypto.subtle.decrypt(cipher, contentKey, bytes.subarray(IV_BYTES));
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(plain);
  } catch {
    throw new Refusal('The content is damaged and cannot be decrypted.');
  }
}

/**
 * Reads the plaintext as what it must be.
 * @param {string | undefined} kind
 * @param {string} json
 * @returns {Description | Message | SealedFile}
 */
export function readEnvelope(kind, json) {
  try {
    const { title, description, contentType, body, filename, mimeType, data } = JSON.parse(json);
    const areText = (/** @type {unknown[]} */ ...values) => values.every((value) => typeof value === 'string');
    if (kind === 'description' && areText(title, description)) return { title, description };
    if (kind === 'message' && areText(body) && (contentType === 'text' || contentType === 'json')) return { contentType, body };
    if (kind === 'file' && areText(filename, mimeType, data)) return { filename, bytes: fromBase64(data) };
  } catch {
    // Refused below.
  }
  throw new Refusal(`The decrypted content is not a ${kind}.`);
}

/**
 * A name that is safe to save under: no folders, no control or direction characters. The sender chose it.
 * @param {string} name
 */
export function cleanName(name) {
  const last = name.split(/[\\/]/).pop() ?? '';
  return last.replace(/[\p{Cc}\p{Cf}<>:"|?*]/gu, '').replace(/^[.\s]+/, '').trim().slice(0, 150) || 'file';
}
