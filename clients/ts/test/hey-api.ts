// Runs the client that @hey-api/openapi-ts generated: create, post, read, change one field.
import assert from "node:assert/strict";
import { createClient, createConfig } from "../hey-api/client/index.js";
import { changeEndpoint, createEndpoint, getEndpoint, getEvent, postEvent } from "../hey-api/index.js";

const client = createClient(createConfig({ baseUrl: process.env["API"] ?? "", auth: process.env["KEY"] ?? "", throwOnError: true }));
const path = { tenant: "acme" };
const created = (await createEndpoint({ client, path, body: { url: "http://127.0.0.1:9/hey", timeout: "7s", max_in_flight: 3 } })).data;
assert.ok(created);
const posted = (await postEvent({ client, path, body: { event_type: "order.paid", payload: { order: 4711 } } })).data;
assert.ok(posted);
assert.deepEqual((await getEvent({ client, path: { ...path, event: posted.id } })).data?.payload, { order: 4711 });
const at = { ...path, endpoint: created.id };
const before = (await getEndpoint({ client, path: at })).data;
const after = (await changeEndpoint({ client, path: at, body: { description: "new" } })).data;
assert.ok(before && after);
const { slow: _slow, circuit_state: _state, ...settings } = before;
assert.deepEqual({ ...after, version: 0, updated_at: "" }, { ...settings, description: "new", version: 0, updated_at: "" });
console.log("ok");
