import { createHmac, createPublicKey, timingSafeEqual, verify as verifyEd25519 } from "node:crypto";

import type { webhooks } from "./openapi.js";

type Batch = webhooks["batch"]["post"]["requestBody"]["content"]["application/json"];

export class VerificationError extends Error {}

const tolerance = 5 * 60; // seconds
const spki = Buffer.from("302a300506032b6570032100", "hex"); // the fixed bytes before an ed25519 key in SPKI

/** The headers of a request as a server holds them: a Headers object, a Map, pairs, or a plain object. Names may be in any letter case. */
export type RequestHeaders = Iterable<[string, string | string[] | undefined]> | Record<string, string | string[] | undefined>;

/**
 * Checks the signature of a request (https://www.standardwebhooks.com) and throws a VerificationError. keys are the
 * secrets (whsec_...) and public keys (whpk_...) of the endpoint; body is the exact text or bytes of the request.
 */
export function verify(keys: string | string[], headers: RequestHeaders, body: string | Uint8Array, now = Date.now() / 1000): void {
  const entries = Symbol.iterator in headers ? [...(headers as Iterable<[string, string | string[] | undefined]>)] : Object.entries(headers);
  const header = (name: string) => {
    const values = entries.filter(([given]) => given.toLowerCase() === name).flatMap(([, value]) => value ?? []);
    return values.length === 1 ? values[0]! : ""; // of two values, another reader may take the other one
  };
  const [id, timestamp, signatures] = [header("webhook-id"), header("webhook-timestamp"), header("webhook-signature")];
  if (id === "" || !/^[0-9]+$/.test(timestamp) || signatures === "") {
    throw new VerificationError("a header of the signature is missing or malformed");
  }
  if (Math.abs(now - Number(timestamp)) > tolerance) throw new VerificationError("the time of the request is too far from now");
  const content = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), Buffer.from(body as string)]);
  const valid = signatures.split(" ").some((signature) => [keys].flat().some((key) => matches(key.trim(), signature, content)));
  if (!valid) throw new VerificationError("no signature is valid");
}

function matches(key: string, signature: string, content: Buffer): boolean {
  const [scheme, encoded] = signature.split(",", 2);
  const given = Buffer.from(encoded ?? "", "base64");
  if (scheme === "v1" && key.startsWith("whsec_")) {
    const want = createHmac("sha256", Buffer.from(key.slice(6), "base64")).update(content).digest();
    return given.length === want.length && timingSafeEqual(given, want);
  }
  if (scheme === "v1a" && key.startsWith("whpk_")) {
    const raw = Buffer.from(key.slice(5), "base64");
    return raw.length === 32 && verifyEd25519(null, content, createPublicKey({ key: Buffer.concat([spki, raw]), format: "der", type: "spki" }), given);
  }
  return false;
}

/** Returns the events of a verified batch, the oldest first. The id of each event tells repetitions apart. */
export function events(body: string | Uint8Array): Batch["events"] {
  const document = JSON.parse(typeof body === "string" ? body : new TextDecoder().decode(body)) as Batch | null;
  if (document?.type !== "surehook.batch" || !Array.isArray(document.events)) throw new TypeError("the body is not a batch");
  return document.events;
}
