// Seals content with node's crypto, independently of `crates/seal` and of the code under test.
import { constants, createCipheriv, generateKeyPairSync, publicEncrypt, randomBytes, sign } from 'node:crypto';

export function makeKey(modulusLength = 4096) {
  return generateKeyPairSync('rsa', { modulusLength,
    publicKeyEncoding: { type: 'spki', format: 'pem' }, privateKeyEncoding: { type: 'pkcs8', format: 'pem' } });
}

/** Seals an envelope: `readers` is `{agent: public PEM}`. */
export function seal(task, envelope, senderPrivate, readers) {
  const key = randomBytes(32);
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, iv);
  const text = Buffer.concat([cipher.update(JSON.stringify(envelope), 'utf8'), cipher.final()]);
  const content = Buffer.concat([iv, text, cipher.getAuthTag()]).toString('base64');
  const keys = Object.fromEntries(Object.entries(readers).map(([agent, pem]) => [agent,
    publicEncrypt({ key: pem, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' }, key).toString('base64')]));
  return { content, keys, signature: signAs(senderPrivate, task + content) };
}

export function signAs(privatePem, text) {
  return sign('sha256', Buffer.from(text), { key: privatePem, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 })
    .toString('base64');
}
