import assert from "node:assert/strict";
import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { test } from "node:test";
import { events, verify, VerificationError } from "surehook-client/verify";

const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const [id, time, body] = ["evt_1", "1614265330", '{"a":"é"}'];
const signature = `v1,${createHmac("sha256", Buffer.alloc(32, 7)).update(`${id}.${time}.${body}`).digest("base64")}`;
const lower = { "webhook-id": id, "webhook-timestamp": time, "webhook-signature": signature };
const upper = { "Webhook-Id": id, "Webhook-Timestamp": time, "WEBHOOK-SIGNATURE": signature };
const check = (headers: Parameters<typeof verify>[1], key = secret) => verify(key, headers, body, Number(time));

test("takes headers in any letter case, from any server", async () => {
  await check(lower);
  await check(upper); // event.headers of a Lambda behind a REST API
  await check({ ...lower, "webhook-signature": [signature] });
  await check(new Headers(upper));
  await check(new Map(Object.entries(upper)));
  await check(Object.entries(upper));
});

test("takes one of several signatures, and a secret as pasted", async () => {
  await check({ ...lower, "webhook-signature": `v1,AAAA ${signature}` });
  await check(lower, ` ${secret}\n`);
});

test("refuses missing, repeated and wrong headers", async () => {
  for (const headers of [
    {},
    { ...lower, "webhook-id": undefined },
    { ...lower, "Webhook-Id": id },
    { ...lower, "webhook-id": [id, id] },
    { ...lower, "webhook-timestamp": "1614265331" },
    { ...lower, "webhook-signature": "v1,ü" },
  ]) {
    await assert.rejects(check(headers), VerificationError, JSON.stringify(headers));
  }
});

test("returns the payload: the JSON, or the text of another body", async () => {
  assert.deepEqual(await check(lower), { a: "é" });
  const text = `v1,${createHmac("sha256", Buffer.alloc(32, 7)).update(`${id}.${time}.a=1`).digest("base64")}`;
  assert.equal(await verify(secret, { ...lower, "webhook-signature": text }, new TextEncoder().encode("a=1"), Number(time)), "a=1");
});

test("takes a public key", async () => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const key = `whpk_${publicKey.export({ format: "der", type: "spki" }).subarray(-32).toString("base64")}`;
  const headers = { ...lower, "webhook-signature": `v1a,${sign(null, Buffer.from(`${id}.${time}.${body}`), privateKey).toString("base64")}` };
  await check(headers, key);
  await assert.rejects(check({ ...headers, "webhook-timestamp": "1614265331" }, key), VerificationError);
});

test("says that a key is wrong", async () => {
  await assert.rejects(check(lower, "whsec_ü"), TypeError);
});

test("reads the events of a batch", () => {
  assert.deepEqual(events({ type: "webhook.batch", events: [] }), []);
  for (const wrong of [null, "text", {}, { type: "webhook.batch" }]) assert.throws(() => events(wrong), TypeError);
});
