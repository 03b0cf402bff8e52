// Needs no server: the fetch is a list of answers, and no test waits.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { ProblemError, Surehook, UnreachableError } from "surehook-client";
import { pauseAfter, retrying } from "../dist/esm/retry.js";

// Answers with the statuses in order, 0 for none. The last repeats.
function answers(...statuses: number[]) {
  const bodies: string[] = [];
  const keys: (string | null)[] = [];
  const surehook = new Surehook("http://127.0.0.1:1/", "shk_x", {
    wait: 0,
    fetch: async (request) => {
      bodies.push(await request.text());
      keys.push(request.headers.get("idempotency-key"));
      const status = statuses[Math.min(bodies.length, statuses.length) - 1] ?? 0;
      if (status === 0) throw new TypeError("fetch failed");
      const text = status < 300 ? '{"id":"evt_1","deliveries":1,"duplicate":false}' : '{"message":"Slow Down"}';
      return new Response(text, { status, headers: { "content-type": "application/json" } });
    },
  });
  return { surehook, bodies, keys };
}

const event = { event_type: "order.paid", payload: { order: 4711 } };

test("a post is repeated with one key", async () => {
  const { surehook, bodies, keys } = answers(503, 0, 429, 500, 202);
  const posted = await surehook.events.create("acme", event);
  assert.equal(posted.id, "evt_1");
  assert.equal(bodies.length, 5);
  assert.ok(keys[0]);
  assert.deepEqual(new Set(keys).size, 1);
  assert.deepEqual(new Set(bodies).size, 1);
});

test("a key of the caller stays", async () => {
  const { surehook, bodies, keys } = answers(503, 202);
  await surehook.events.create("acme", { ...event, idempotency_key: "mine" });
  assert.deepEqual(keys, [null, null]);
  assert.match(bodies[1] ?? "", /"idempotency_key":"mine"/);
});

test("every event of a batch gets a key, the same at every repetition", async () => {
  const { surehook, bodies } = answers(503, 202);
  await surehook.events.createBatch("acme", { events: [event, { ...event, idempotency_key: "mine" }] });
  assert.equal(bodies.length, 2);
  assert.equal(bodies[0], bodies[1]);
  const sent = (JSON.parse(bodies[0] ?? "") as { events: { idempotency_key: string }[] }).events;
  assert.ok((sent[0]?.idempotency_key.length ?? 0) > 10);
  assert.equal(sent[1]?.idempotency_key, "mine");
});

test("only what may be repeated is repeated", async () => {
  const create = (s: Surehook) => s.endpoints.create("acme", { url: "https://example.com" });
  const read = (s: Surehook) => s.events.get("acme", "evt_1");
  const tests: [string, (s: Surehook) => Promise<unknown>, number, number][] = [
    ["a creation is not", create, 503, 1],
    ["a throttled creation is", create, 429, 5],
    ["a creation without an answer is not", create, 0, 1],
    ["a read is", read, 503, 5],
    ["a read without an answer is", read, 0, 5],
    ["a wrong read is not", read, 400, 1],
    ["a redirect is a refusal", read, 307, 1],
    ["a dry run is", (s) => s.replays.preview("acme", { filter: {} }), 503, 5],
    ["a replay is not", (s) => s.replays.create("acme", { filter: {} }), 503, 1],
  ];
  for (const [name, call, status, want] of tests) {
    const { surehook, bodies } = answers(status);
    await assert.rejects(call(surehook), (error: unknown) =>
      status === 0 ? error instanceof UnreachableError && error.host === "127.0.0.1:1" : error instanceof ProblemError && error.status === status && error.code === "", name);
    assert.equal(bodies.length, want, name);
  }
});

test("Retry-After counts, up to 30 seconds; other waits grow with jitter", () => {
  assert.equal(pauseAfter(1, 500, "7", 0), 7000);
  assert.equal(pauseAfter(1, 500, "3600", 0), 30_000);
  for (const none of [null, "0", "-1", "soon"]) assert.equal(pauseAfter(1, 500, none, 0), 250);
  assert.equal(pauseAfter(1, 500, null, 0.999), 749.5);
  assert.equal(pauseAfter(3, 500, null, 0.5), 1125);
  assert.equal(pauseAfter(99, 500, null, 0.5), 30_000);
});

test("the waits between attempts follow Retry-After, and a signal ends them", async () => {
  const waits: number[] = [];
  const send = retrying(
    { fetch: async () => new Response("", { status: 503, headers: { "retry-after": "9" } }) },
    async (ms) => void waits.push(ms),
  );
  assert.equal((await send(new Request("http://127.0.0.1:1/v1/health"))).status, 503);
  assert.deepEqual(waits, [9000, 9000, 9000, 9000]);

  const stop = new AbortController();
  const ended = retrying({ wait: 1e9, fetch: async () => (queueMicrotask(() => stop.abort(new Error("stopped"))), new Response("", { status: 503 })) });
  await assert.rejects(ended(new Request("http://127.0.0.1:1/v1/health", { signal: stop.signal })), /stopped/);
});

test("an attempt ends after its timeout, also when garbage is collected meanwhile", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const server = createServer(() => {}); // never answers
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const surehook = new Surehook(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, "shk_x", { attempts: 2, wait: 1, timeout: 300 });
  const collecting = setInterval(collect, 10);
  try {
    await assert.rejects(surehook.events.create("acme", event), UnreachableError);
  } finally {
    clearInterval(collecting);
    server.closeAllConnections();
    server.close();
  }
});

test("the key follows no redirect", async () => {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(request.url ?? "");
    response.writeHead(307, { location: "/elsewhere" }).end();
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  try {
    const surehook = new Surehook(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, "shk_x");
    await assert.rejects(surehook.pipeline.health(), (error: unknown) => error instanceof ProblemError && error.status === 307);
    assert.deepEqual(seen, ["/v1/health"]);
  } finally {
    server.close();
  }
});

test("another answer than JSON is no answer of the API", async () => {
  const surehook = new Surehook("http://127.0.0.1:1/", "shk_x", { fetch: async () => new Response("<p>sign in</p>", { headers: { "content-type": "text/html" } }) });
  await assert.rejects(surehook.events.get("acme", "evt_1"), (error: unknown) => error instanceof ProblemError && error.detail.includes("text/html"));
});
