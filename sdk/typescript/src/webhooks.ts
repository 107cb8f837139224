// Requests of webhooks: whether the hub has sent them, by either of the two signatures that docs/webhooks.md describes.
import { InvalidWebhook } from "./errors.js";
import { type Bytes, fromBase64, toBase64, toHex } from "./seal.js";
import type { Schemas } from "./types.js";

/** The body of a request. `data` is the event, or says that it is a test or too large. */
export type WebhookRequest = Schemas["WebhookRequest"];
export type HeadersLike = { get(name: string): string | null } | Record<string, string | string[] | undefined>;

async function mac(key: Bytes, text: Bytes): Promise<Bytes> {
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const imported = await crypto.subtle.importKey("raw", key, hmac, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign(hmac, imported, text));
}
/** Takes the same time wherever the difference is. */
function isSame(given: string, right: string): boolean {
  let differs = given.length ^ right.length;
  for (let at = 0; at < right.length; at++) differs |= given.charCodeAt(at) ^ right.charCodeAt(at);
  return differs === 0;
}

/** Checks a request of a webhook and reads it. `body` must be as it arrived, not parsed and written again. */
export async function verify(
  headers: HeadersLike,
  body: string | Uint8Array,
  secret: string,
  { tolerance = 300, now = Date.now() / 1000 }: { tolerance?: number; now?: number } = {},
): Promise<WebhookRequest> {
  const utf8 = new TextEncoder();
  const raw = typeof body === "string" ? utf8.encode(body) : body.slice();
  const header = (name: string): string => {
    if (typeof headers.get === "function") return headers.get(name) ?? "";
    const [, value] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? [];
    return String(value ?? "");
  };
  const isStandard = header("webhook-signature") !== "";
  const at = header(isStandard ? "webhook-timestamp" : "x-pairai-timestamp");
  const [, base64] = secret.match(/^whsec_(.*)$/s) ?? [];
  const key = (isStandard && base64 !== undefined && fromBase64(base64)) || utf8.encode(secret);
  const signed = utf8.encode(isStandard ? `${header("webhook-id")}.${at}.` : `${at}.`);
  const all = new Uint8Array(signed.length + raw.length);
  all.set(signed);
  all.set(raw, signed.length);
  const code = await mac(key, all);
  const right = isStandard ? `v1,${toBase64(code)}` : toHex(code);
  const given = isStandard ? header("webhook-signature").split(" ") : [header("x-pairai-signature")];
  if (!given.some((one) => isSame(one, right)))
    throw new InvalidWebhook("the signature is not that of this secret for this body");
  if (!/^\d{1,12}$/.test(at) || Math.abs(now - Number(at)) > tolerance)
    throw new InvalidWebhook("the request is too old, or from the future");
  try {
    return JSON.parse(new TextDecoder().decode(raw));
  } catch (cause) {
    throw new InvalidWebhook("the body is no JSON", { cause });
  }
}
