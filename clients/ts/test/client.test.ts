// Runs against `make dev`: API and KEY name the server.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { createClient, pages, ProblemError, verify, VerificationError } from "../src/index.js";

const [address, key] = [process.env["API"] ?? "", process.env["KEY"] ?? ""];
const surehook = createClient(address, key);

test("creates, posts, reads, changes one field, and verifies", async () => {
  const params = { path: { tenant: "acme" } };
  let secret = "";
  let settle: { resolve: () => void; reject: (error: unknown) => void };
  const arrived = new Promise<void>((resolve, reject) => (settle = { resolve, reject }));
  const receiver = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      response.end();
      try {
        const body = Buffer.concat(chunks);
        verify(secret, request.headers, body);
        assert.throws(() => verify(secret, request.headers, body + " "), VerificationError);
        assert.throws(() => verify(secret, request.headers, body, 0), VerificationError);
        settle.resolve();
      } catch (error) {
        settle.reject(error);
      }
    });
  });
  await new Promise<void>((done) => receiver.listen(0, "127.0.0.1", done));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;

  const created = await surehook.POST("/v1/tenants/{tenant}/endpoints", { params, body: { url, timeout: "7s", max_in_flight: 3, headers: { "X-A": "1" } } });
  assert.ok(created.data);
  secret = created.data.secret;
  const posted = await surehook.POST("/v1/tenants/{tenant}/events", { params, body: { event_type: "order.paid", payload: { order: 4711 } } });
  assert.equal(posted.data?.deliveries, 1);
  await arrived;
  receiver.close();
  const event = await surehook.GET("/v1/tenants/{tenant}/events/{event}", { params: { path: { tenant: "acme", event: posted.data.id } } });
  assert.deepEqual(event.data?.payload, { order: 4711 });

  const path = { tenant: "acme", endpoint: created.data.id };
  const before = (await surehook.GET("/v1/tenants/{tenant}/endpoints/{endpoint}", { params: { path } })).data;
  const after = (await surehook.PATCH("/v1/tenants/{tenant}/endpoints/{endpoint}", { params: { path }, body: { description: "new" } })).data;
  assert.ok(before && after);
  const { slow: _slow, circuit_state: _state, signed_by: _signers, ...settings } = before;
  assert.deepEqual({ ...after, version: 0, updated_at: "" }, { ...settings, description: "new", version: 0, updated_at: "" });

  const ids: string[] = [];
  for await (const e of pages(async (cursor) => surehook.GET("/v1/tenants/{tenant}/endpoints", { params: { ...params, query: { limit: 1, ...(cursor && { cursor }) } } }))) {
    ids.push(e.id);
  }
  assert.ok(ids.includes(created.data.id));
});

test("throws a problem", async () => {
  const call = surehook.POST("/v1/tenants/{tenant}/events", { params: { path: { tenant: "acme" } }, body: { event_type: "a b", payload: 1 } });
  await assert.rejects(call, (error: unknown) => error instanceof ProblemError && error.code === "invalid" && error.fields[0]?.field === "event_type");
});
