// Calls the API of Surehook: openapi-fetch with the types of the contract.
import createFetchClient, { type Client, type Middleware } from "openapi-fetch";
import type { components, paths } from "./openapi.js";
import { retrying, type Retries } from "./retry.js";

export type { components, paths } from "./openapi.js";
export { UnreachableError, type Retries } from "./retry.js";
export { events, verify, VerificationError } from "./verify.js";

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

/**
 * Returns a client for the address of the API. Every call throws a ProblemError for a status other than 2xx, and an
 * UnreachableError without an answer. Calls without a second effect are repeated. Redirects are not followed, so the key
 * stays at the address.
 */
export function createClient(address: string, key: string, options: Retries = {}): Surehook {
  const client = createFetchClient<paths>({
    baseUrl: address.replace(/\/+$/, ""), headers: { authorization: `Bearer ${key}` }, redirect: "manual", fetch: retrying(options),
  });
  client.use(keys, problems);
  return client;
}

type Keyed = { idempotency_key?: string };

// Every posted event gets an idempotency key, so the repetitions of one call make one event.
const keys: Middleware = {
  async onRequest({ request, schemaPath }) {
    if (request.method !== "POST") return;
    if (schemaPath === "/v1/tenants/{tenant}/events" && !request.headers.has("idempotency-key")) {
      const body = (await request.clone().json()) as Keyed;
      if (!body.idempotency_key) request.headers.set("idempotency-key", crypto.randomUUID());
    }
    if (schemaPath === "/v1/tenants/{tenant}/events/batch") {
      const body = (await request.clone().json()) as { events?: Keyed[] };
      const events = body.events?.map((e) => ({ ...e, idempotency_key: e.idempotency_key || crypto.randomUUID() }));
      return new Request(request, { body: JSON.stringify({ ...body, events }) });
    }
    return;
  },
};

const problems: Middleware = {
  async onResponse({ response }) {
    if (response.ok) return;
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
