// Calls the API of Surehook: openapi-fetch with the types of the contract.
import createFetchClient, { type Client, type Middleware } from "openapi-fetch";
import type { components, paths } from "./openapi.js";

export type { components, paths } from "./openapi.js";
export { verify, VerificationError } from "./verify.js";

export type Problem = components["schemas"]["Problem"];
export type Surehook = Client<paths>;

/** An error of the API. The code is empty for a request refused by API Gateway. */
export class ProblemError extends Error {
  constructor(
    readonly status: number,
    readonly code: Problem["code"] | "",
    readonly detail: string,
    readonly fields: components["schemas"]["FieldError"][],
  ) {
    super(`${status} ${code || "from API Gateway"}: ${[detail, ...fields.map((f) => `${f.field} ${f.message}`)].join("; ")}`);
  }
}

/** Returns a client for the address of the API. Every call throws a ProblemError for a status of 400 or more. */
export function createClient(address: string, key: string): Surehook {
  const client = createFetchClient<paths>({ baseUrl: address, headers: { authorization: `Bearer ${key}` } });
  client.use(keys, problems);
  return client;
}

// A posted event gets an idempotency key, so the caller may send the request again.
const keys: Middleware = {
  async onRequest({ request, schemaPath }) {
    if (request.method !== "POST" || schemaPath !== "/v1/tenants/{tenant}/events" || request.headers.has("idempotency-key")) return;
    const body = (await request.clone().json()) as { idempotency_key?: string };
    if (body.idempotency_key === undefined) request.headers.set("idempotency-key", crypto.randomUUID());
  },
};

const problems: Middleware = {
  async onResponse({ response }) {
    if (response.status < 400) return;
    const body = (await response.json().catch(() => ({}))) as Partial<Problem> & { message?: string };
    throw new ProblemError(response.status, body.code ?? "", body.detail ?? body.message ?? response.statusText, body.errors ?? []);
  },
};

/** Yields the items of all pages. read gets the cursor of a page, undefined for the first. */
export async function* pages<T>(
  read: (cursor: string | undefined) => Promise<{ data?: { data: T[]; next_cursor: string | null } | undefined }>,
): AsyncGenerator<T> {
  let cursor: string | undefined;
  do {
    const { data } = await read(cursor);
    if (data === undefined) return;
    yield* data.data;
    cursor = data.next_cursor ?? undefined;
  } while (cursor !== undefined);
}
