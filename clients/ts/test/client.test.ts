// Runs against `make dev`: SUREHOOK_URL and SUREHOOK_API_KEY name the server, FLAKY is a server in trouble before it.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { test } from "node:test";
import { ProblemError, Surehook, VerificationError } from "surehook-client";
import { verify } from "surehook-client/verify";

const key = process.env.SUREHOOK_API_KEY ?? "";
const surehook = new Surehook(process.env.SUREHOOK_URL ?? "", key);

test("creates, posts, reads, changes and verifies", async () => {
  const settle = Promise.withResolvers<void>();
  let secret = "";
  const receiver = createServer(async (request, response) => {
    const body = await buffer(request);
    response.end();
    try {
      const payload = await verify<{ data: { order: number } }>(secret, request.headers, body);
      assert.equal(payload.data.order, 4711);
      await assert.rejects(verify(secret, request.headers, `${body} `), VerificationError);
      await assert.rejects(verify(secret, request.headers, body, 0), VerificationError);
      settle.resolve();
    } catch (error) {
      settle.reject(error);
    }
  });
  await new Promise<void>((done) => receiver.listen(0, "127.0.0.1", done));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;

  const created = await surehook.endpoints.create("acme", { url, timeout: "7s", max_in_flight: 3, headers: { "X-A": "1" } });
  secret = created.secret;
  const posted = await surehook.events.create("acme", { event_type: "order.paid", payload: { order: 4711 } });
  assert.equal(posted.deliveries, 1);
  await settle.promise;
  receiver.close();
  assert.deepEqual((await surehook.events.get("acme", posted.id)).payload, { order: 4711 });

  const before = await surehook.endpoints.get("acme", created.id);
  const after = await surehook.endpoints.update("acme", created.id, { description: "new" }, { "If-Match": `"${before.version}"` });
  const { slow: _slow, circuit_state: _state, signed_by: _signers, ...settings } = before;
  assert.deepEqual({ ...after, version: 0, updated_at: "" }, { ...settings, description: "new", version: 0, updated_at: "" });
  await assert.rejects(surehook.endpoints.update("acme", created.id, { description: "newer" }, { "If-Match": `"${before.version}"` }), (error: unknown) => error instanceof ProblemError && error.status === 412);

  await surehook.endpoints.create("acme", { url, uid: "second" });
  const ids: string[] = [];
  for await (const e of surehook.endpoints.list("acme", { limit: 1 })) ids.push(e.id);
  assert.ok(ids.length >= 2 && ids.includes(created.id));
  const page = await surehook.endpoints.list("acme", { limit: 1 }).page();
  assert.equal(page.data.length, 1);
  assert.ok(page.next_cursor);
  assert.equal(await surehook.endpoints.delete("acme", "second"), undefined);
});

test("throws a problem", async () => {
  const call = surehook.events.create("acme", { event_type: "a b", payload: 1 });
  await assert.rejects(call, (error: unknown) => error instanceof ProblemError && error.code === "invalid" && error.fields[0]?.field === "event_type");
});

test("each event is there once, though five of six requests fail", async () => {
  const flaky = new Surehook(process.env.FLAKY ?? "", key, { attempts: 6, wait: 1, timeout: 2000 });
  const ids = new Set([(await flaky.events.create("ts-flaky", { event_type: "a", payload: 1 })).id]);
  const batch = await flaky.events.createBatch("ts-flaky", { events: [{ event_type: "a", payload: 1 }, { event_type: "b", payload: 2 }] });
  for (const item of batch.data) if ("id" in item) ids.add(item.id);
  const found: string[] = [];
  for await (const event of flaky.events.list("ts-flaky", { limit: 2 })) found.push(event.id);
  assert.deepEqual(found.sort(), [...ids].sort());
  assert.equal(found.length, 3);
});
