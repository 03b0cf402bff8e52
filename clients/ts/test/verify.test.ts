import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { verify, VerificationError } from "../src/index.js";

const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const [id, time, body] = ["evt_1", "1614265330", '{"a":"é"}'];
const signature = `v1,${createHmac("sha256", Buffer.alloc(32, 7)).update(`${id}.${time}.${body}`).digest("base64")}`;
const lower = { "webhook-id": id, "webhook-timestamp": time, "webhook-signature": signature };
const upper = { "Webhook-Id": id, "Webhook-Timestamp": time, "WEBHOOK-SIGNATURE": signature };
const check = (headers: Parameters<typeof verify>[1], key = secret) => verify(key, headers, body, Number(time));

test("takes headers in any letter case, from any server", () => {
  check(lower);
  check(upper); // event.headers of a Lambda behind a REST API
  check({ ...lower, "webhook-signature": [signature] });
  check(new Headers(upper));
  check(new Map(Object.entries(upper)));
  check(Object.entries(upper));
});

test("takes one of several signatures, and a secret as pasted", () => {
  check({ ...lower, "webhook-signature": `v1,AAAA ${signature}` });
  check(lower, ` ${secret}\n`);
});

test("refuses missing, repeated and wrong headers", () => {
  for (const headers of [
    {},
    { ...lower, "webhook-id": undefined },
    { ...lower, "Webhook-Id": id },
    { ...lower, "webhook-id": [id, id] },
    { ...lower, "webhook-timestamp": "1614265331" },
    { ...lower, "webhook-signature": "v1,ü" },
  ]) {
    assert.throws(() => check(headers), VerificationError, JSON.stringify(headers));
  }
});
