// Verifies and decrypts end-to-end encrypted content with WebCrypto, as `crates/seal` does:
//   signature  RSA-PSS, SHA-256, salt of 32 bytes, over task id and base64 of the content
//   key        AES-256, wrapped for each participant by RSA-OAEP with SHA-256
//   content    base64 of IV (12 bytes), AES-GCM ciphertext and tag (16 bytes); the plaintext is JSON
// It knows nothing of the page. Private keys come in as PEM once and are then keys that no script can read.

const OAEP = { name: 'RSA-OAEP', hash: 'SHA-256' };
const PSS = { name: 'RSA-PSS', hash: 'SHA-256', saltLength: 32 };
const IV_BYTES = 12;
const MODULUS_BITS_MIN = 2048;

/** @typedef {{ title: string, description: string }} Description */
/** @typedef {{ contentType: 'text' | 'json', body: string }} Message */
/** @typedef {{ filename: string, bytes: Uint8Array<ArrayBuffer> }} SealedFile */
/** @typedef {{ task: string, content: string, signature: string, keys: Record<string, string> }} Sealed */

/** Why something cannot be read, in a sentence for the person. */
export class Refusal extends Error {}

/** Browsers offer WebCrypto on HTTPS and localhost only. */
export const canDecrypt = () => globalThis.crypto?.subtle !== undefined;

/** Strict: with padding, without white space. @param {string} text */
function fromBase64(text) {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) throw new Refusal('It is not standard base64.');
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
  for (let at = 0; at < bytes.length; at += piece) text += btoa(String.fromCharCode(...bytes.subarray(at, at + piece)));
  return text;
}

/**
 * Imports a key from a text that is one PEM block. The bytes of the key cannot be read out again.
 * @param {'spki' | 'pkcs8'} format @param {string} text @param {RsaHashedImportParams} use @param {KeyUsage} usage
 */
async function importKey(format, text, use, usage) {
  const label = format === 'spki' ? 'PUBLIC KEY' : 'PRIVATE KEY';
  const [begin, end] = [`-----BEGIN ${label}-----`, `-----END ${label}-----`];
  const pem = text.trim();
  if (!pem.startsWith(begin) || !pem.endsWith(end)) throw new Refusal('It is not PEM.');
  const der = fromBase64(pem.slice(begin.length, -end.length).replace(/\s/g, ''));
  const key = await crypto.subtle.importKey(format, der, use, false, [usage]);
  const { modulusLength } = /** @type {RsaHashedKeyAlgorithm} */ (key.algorithm);
  if (modulusLength < MODULUS_BITS_MIN) throw new Refusal('It is too short.');
  return key;
}

/** @param {string} pem */
export async function importPrivateKey(pem) {
  return importKey('pkcs8', pem, OAEP, 'unwrapKey').catch(() => {
    throw new Refusal('This is not an unencrypted private key in PKCS#8 form (BEGIN PRIVATE KEY), RSA of 2048 bits or more.');
  });
}

/** Whether a private key unwraps what the public one wrapped. @param {CryptoKey} key @param {string} pem */
export async function belongsTo(key, pem) {
  try {
    const wrapping = await importKey('spki', pem, OAEP, 'wrapKey');
    const probe = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, true, ['decrypt']);
    await unwrap(key, await crypto.subtle.wrapKey('raw', probe, wrapping, OAEP));
    return true;
  } catch {
    return false;
  }
}

/** Whether this key signed this content for this task. @param {string} senderPem @param {Sealed} sealed */
export async function isSigned(senderPem, { task, content, signature }) {
  try {
    const key = await importKey('spki', senderPem, PSS, 'verify');
    return await crypto.subtle.verify(PSS, key, fromBase64(signature), new TextEncoder().encode(task + content));
  } catch {
    return false;
  }
}

/** @param {CryptoKey} key @param {BufferSource} wrapped */
async function unwrap(key, wrapped) {
  const content = await crypto.subtle.unwrapKey('raw', wrapped, key, OAEP, 'AES-GCM', false, ['decrypt']);
  if (/** @type {AesKeyAlgorithm} */ (content.algorithm).length !== 256) throw new Refusal('It is not AES-256.');
  return content;
}

/**
 * Decrypts content for an agent. Call it only for content whose signature verified.
 * @param {Sealed} sealed @param {string} agent @param {CryptoKey} key
 * @returns {Promise<string>} the plaintext, which is JSON
 */
export async function decrypt({ content, keys }, agent, key) {
  if (Object.keys(keys).length !== 2) throw new Refusal('It is not encrypted for exactly two agents.');
  const wrapped = new Map(Object.entries(keys)).get(agent);
  if (wrapped === undefined) throw new Refusal('It is not encrypted for this agent.');
  const refuse = (/** @type {string} */ sentence) => () => { throw new Refusal(sentence); };
  const contentKey = await (async () => unwrap(key, fromBase64(wrapped)))().catch(refuse('The key does not fit.'));
  return (async () => {
    const bytes = fromBase64(content);
    const cipher = { name: 'AES-GCM', iv: bytes.subarray(0, IV_BYTES) };
    const plain = await crypto.subtle.decrypt(cipher, contentKey, bytes.subarray(IV_BYTES));
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(plain);
  })().catch(refuse('The content is damaged and cannot be decrypted.'));
}

/**
 * Reads the plaintext as what it must be.
 * @param {string | undefined} kind @param {string} json @returns {Description | Message | SealedFile}
 */
export function readEnvelope(kind, json) {
  try {
    const { title, description, contentType, body, filename, mimeType, data } = JSON.parse(json);
    const areText = (/** @type {unknown[]} */ ...values) => values.every((value) => typeof value === 'string');
    if (kind === 'description' && areText(title, description)) return { title, description };
    if (kind === 'message' && areText(body) && /^(text|json)$/.test(contentType)) return { contentType, body };
    if (kind === 'file' && areText(filename, mimeType, data)) return { filename, bytes: fromBase64(data) };
  } catch {
    // Refused below.
  }
  throw new Refusal(`The decrypted content is not a ${kind}.`);
}

/** A name that is safe to save under: the sender chose it. @param {string} name */
export function cleanName(name) {
  // No folders, no control or direction characters, no hidden file.
  const last = name.split(/[\\/]/).pop() ?? '';
  return last.replace(/[\p{Cc}\p{Cf}<>:"|?*]/gu, '').replace(/^[.\s]+/, '').trim().slice(0, 150) || 'file';
}
