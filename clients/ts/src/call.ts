// Requests and pages, for the methods in resources.ts.
import type { Client } from "openapi-fetch";
import type { operations, paths } from "./openapi.js";

// The parameters of the contract that are headers. The others are of the query.
const headers = new Set(["Idempotency-Key", "If-Match", "traceparent"]);

type Given<T> = [NonNullable<T>] extends [never] ? unknown : NonNullable<T>;

/** The parameters of an operation in the query and in headers, by the names of the contract, and a signal that ends the call. */
export type Options<O extends keyof operations> = Given<operations[O]["parameters"]["query"]> & Given<operations[O]["parameters"]["header"]> & { signal?: AbortSignal };

export interface Page<T> {
  data: T[];
  /** The cursor of the next page, null at the end. */
  next_cursor: string | null;
}

/** A list. `for await` yields the items of all pages, and reads a page only when its first item is asked for. */
export class Pages<T> implements AsyncIterable<T> {
  constructor(private readonly read: (cursor?: string) => Promise<Page<T>>) {}

  /** Reads one page. */
  page(): Promise<Page<T>> {
    return this.read();
  }

  async *[Symbol.asyncIterator](): AsyncIterator<T> {
    for (let page = await this.read(); ; page = await this.read(page.next_cursor)) {
      yield* page.data;
      if (page.next_cursor === null) return;
    }
  }
}

type Method = "get" | "put" | "post" | "patch" | "delete";

export class Call {
  constructor(private readonly client: Client<paths>) {}

  async send<T>(method: string, path: string, names: Record<string, string>, options: object = {}, body?: unknown): Promise<T> {
    const { signal, ...given } = options as { signal?: AbortSignal };
    const [header, query] = [true, false].map((of) => Object.fromEntries(Object.entries(given).filter(([name]) => headers.has(name) === of)));
    const init = { params: { path: names, query, header }, ...(body !== undefined && { body }), ...(signal && { signal }) };
    const { data } = await this.client.request(method.toLowerCase() as Method, path as never, init as never);
    return data as T;
  }

  pages<T>(method: string, path: string, names: Record<string, string>, options: object = {}): Pages<T> {
    return new Pages((cursor) => this.send(method, path, names, cursor === undefined ? options : { ...options, cursor }));
  }
}
