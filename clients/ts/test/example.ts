import { createClient, pages, ProblemError, UnreachableError } from "../src/index.js";

const surehook = createClient(process.env["API"] ?? "", process.env["KEY"] ?? "");
const params = { path: { tenant: "acme" } };

const created = await surehook.POST("/v1/tenants/{tenant}/endpoints", {
  params, body: { url: "http://127.0.0.1:9/hooks", uid: `orders-${Date.now()}`, event_types: ["order.*"] },
});
console.log(created.data?.id, created.data?.secret);

try {
  const { data } = await surehook.POST("/v1/tenants/{tenant}/events", {
    params, body: { event_type: "order.paid", payload: { order: 4711 }, idempotency_key: `order-4711-paid-${created.data?.id}` },
  });
  console.log(data?.id, data?.deliveries);
} catch (error) {
  if (error instanceof ProblemError) console.log(error.status, error.code, error.fields);
  else if (error instanceof UnreachableError) console.log(error.host);
  else throw error;
}

for await (const endpoint of pages(async (cursor) => surehook.GET("/v1/tenants/{tenant}/endpoints", { params: { ...params, query: { ...(cursor && { cursor }) } } }))) {
  console.log(endpoint.uid, endpoint.status);
}
