// Needs WebCrypto alone: it runs on servers, at the edge and in browsers.
import type { webhooks } from "./openapi.js";

type Batch = webhooks["batch"]["post"]["requestBody"]["content"]["application/json"];

export class VerificationError extends Error {
  override readonly name = "VerificationError";
}

const tolerance = 5 * 60; // seconds

type Values = string | string[] | undefined;

/** The headers of a request as a server holds them: a Headers object, a Map, pairs, or a plain object. Names may be in any letter case. */
export type RequestHeaders = Iterable<[string, Values]> | Record<string, Values>;

/**
 * Checks the signature of a request (https://www.standardwebhooks.com) and returns the payload: the JSON of the body, or its text
 * if it is not JSON. Throws a VerificationError. keys are the secrets (whsec_...) and public keys (whpk_...) of the endpoint; body
 * is the exact text or bytes of the request.
 */
export async function verify<T = unknown>(keys: string | string[], headers: RequestHeaders, body: string | Uint8Array | ArrayBuffer, now = Date.now() / 1000): Promise<T> {
  const entries = Symbol.iterator in headers ? [...(headers as Iterable<[string, Values]>)] : Object.entries(headers);
  const header = (name: string) => {
    const values = entries.filter(([given]) => given.toLowerCase() === name).flatMap(([, value]) => value ?? []);
    return values.length === 1 ? values[0]! : ""; // of two values, another reader may take the other one
  };
  const [id, timestamp, signatures] = [header("webhook-id"), header("webhook-timestamp"), header("webhook-signature")];
  if (id === "" || !/^[0-9]+$/.test(timestamp) || signatures === "") {
    throw new VerificationError("a header of the signature is missing or malformed");
  }
  if (Math.abs(now - Number(timestamp)) > tolerance) throw new VerificationError("the time of the request is too far from now");
  const raw = typeof body === "string" ? new TextEncoder().encode(body) : new Uint8Array(body);
  const front = new TextEncoder().encode(`${id}.${timestamp}.`);
  const content = new Uint8Array(front.length + raw.length);
  content.set(front);
  content.set(raw, front.length);
  for (const signature of signatures.split(" ")) {
    for (const key of [keys].flat()) {
      if (await matches(key.trim(), signature, content)) return payload(raw) as T;
    }
  }
  throw new VerificationError("no signature is valid");
}

const schemes = {
  v1: { prefix: "whsec_", algorithm: { name: "HMAC", hash: "SHA-256" } },
  v1a: { prefix: "whpk_", algorithm: { name: "Ed25519" } },
};

async function matches(key: string, signature: string, content: Uint8Array<ArrayBuffer>): Promise<boolean> {
  const [name = "", encoded = ""] = signature.split(",", 2);
  const scheme = name === "v1" || name === "v1a" ? schemes[name] : undefined;
  if (!scheme || !key.startsWith(scheme.prefix)) return false;
  const given = decode(encoded);
  if (!given) return false;
  const raw = decode(key.slice(scheme.prefix.length));
  if (!raw || raw.length === 0) throw new TypeError(`a key is not ${scheme.prefix} and base64`);
  const imported = await crypto.subtle.importKey("raw", raw, scheme.algorithm, false, ["verify"]);
  return crypto.subtle.verify(scheme.algorithm.name, imported, given, content);
}

function decode(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function payload(raw: Uint8Array): unknown {
  const text = new TextDecoder().decode(raw);
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Returns the events of a verified batch, the oldest first. The id of each event tells repetitions apart. */
export function events(batch: unknown): Batch["events"] {
  const document = batch as Batch | null;
  if (document?.type !== "webhook.batch" || !Array.isArray(document.events)) throw new TypeError("the payload is not a batch");
  return document.events;
}
