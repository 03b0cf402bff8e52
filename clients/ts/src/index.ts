// Calls the API of Surehook: methods for each operation of the contract, over openapi-fetch.
import createFetchClient, { type Client, type Middleware } from "openapi-fetch";
import { Call } from "./call.js";
import type { components, paths } from "./openapi.js";
import { Resources } from "./resources.js";
import { retrying, type Retries } from "./retry.js";

export { Pages, type Options, type Page } from "./call.js";
export type { components, operations, paths } from "./openapi.js";
export { UnreachableError, type Retries } from "./retry.js";
export { events, verify, VerificationError, type RequestHeaders } from "./verify.js";

type Problem = components["schemas"]["Problem"];

/** A refusal of the API. The code is empty for a request refused by API Gateway. */
export class ProblemError extends Error {
  override readonly name = "ProblemError";

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
 * Calls the API at an address, such as https://hooks.example.com, with a key such as shk_.... Every call throws a ProblemError
 * when the API refuses it, and an UnreachableError without an answer. Calls without a second effect are repeated. Redirects are
 * not followed, so the key stays at the address.
 */
export class Surehook extends Resources {
  /** Requests by method and path, with the status and the headers of the answer. */
  readonly api: Client<paths>;

  constructor(address: string, key: string, options: Retries = {}) {
    const api = createFetchClient<paths>({
      baseUrl: address.replace(/\/+$/, ""), headers: { authorization: `Bearer ${key}` }, redirect: "manual", fetch: retrying(options),
    });
    api.use(keys, problems);
    super(new Call(api));
    this.api = api;
  }
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
    if (response.ok) {
      const kind = response.headers.get("content-type") ?? "";
      if (kind === "" || /json|yaml/.test(kind)) return;
      throw new ProblemError(response.status, "", `the answer is ${kind} and not JSON: the address is not the API's`, []);
    }
    const body = (await response.json().catch(() => ({}))) as Partial<Problem> & { message?: string };
    throw new ProblemError(response.status, body.code ?? "", body.detail ?? body.message ?? response.statusText, body.errors ?? []);
  },
};
