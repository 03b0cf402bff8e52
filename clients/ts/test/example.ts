import { ProblemError, Surehook, UnreachableError } from "surehook-client";

const surehook = new Surehook(process.env.SUREHOOK_URL!, process.env.SUREHOOK_API_KEY!);

const endpoint = await surehook.endpoints.create("acme", { url: "http://127.0.0.1:3000/", event_types: ["order.*"] });
console.log(endpoint.id, endpoint.secret);

try {
  const event = await surehook.events.create("acme", { event_type: "order.paid", payload: { order: 4711 }, idempotency_key: "order-4711-paid" });
  console.log(event.id, event.deliveries);
} catch (error) {
  if (error instanceof ProblemError) console.log(error.status, error.code, error.fields);
  else if (error instanceof UnreachableError) console.log(error.host);
  else throw error;
}

for await (const { url, status } of surehook.endpoints.list("acme")) {
  console.log(url, status);
}
