// Sends requests again, by the rules of the Go client: requests without a second effect after a 5xx or no answer, and
// every request after a 429, which had no effect.

export interface Retries {
  /** Attempts of one call, 1 to repeat nothing. Default: 5. */
  attempts?: number;
  /** Milliseconds before the second attempt, then longer, at most 30 s. Default: 500. */
  wait?: number;
  /** Milliseconds of one attempt. Default: 35,000, because API Gateway answers after 29 s at the latest. */
  timeout?: number;
  /** Sends a request. Default: the global fetch. */
  fetch?: (request: Request) => Promise<Response>;
}

/** A request without an answer. The API may have done what the request says. */
export class UnreachableError extends Error {
  constructor(readonly host: string, options: ErrorOptions) {
    super(`no answer from ${host}`, options);
  }
}

const maxWait = 30_000;

/** Returns the milliseconds before the attempt after this one: Retry-After in seconds, or growing and with jitter. */
export function pauseAfter(attempt: number, wait: number, retryAfter: string | null, random = Math.random()): number {
  const seconds = /^[0-9]+$/.test(retryAfter ?? "") ? Number(retryAfter) : 0;
  if (seconds > 0) return Math.min(seconds * 1000, maxWait);
  return Math.min(wait * 1.5 ** (attempt - 1), maxWait) * (0.5 + random);
}

/** Returns a fetch with repetitions. Its waits end with the signal of the request. */
export function retrying(o: Retries, pause: (ms: number, signal: AbortSignal) => Promise<void> = sleep): (request: Request) => Promise<Response> {
  const { attempts = 5, wait = 500, timeout = 35_000, fetch = globalThis.fetch } = o;
  return async (request) => {
    const again = await repeatable(request);
    for (let attempt = 1; ; attempt++) {
      let retryAfter: string | null = null;
      try {
        const response = await within(timeout, request, fetch);
        if (attempt >= attempts || (response.status !== 429 && (response.status < 500 || !again))) return response;
        retryAfter = response.headers.get("retry-after");
      } catch (cause) {
        if (request.signal.aborted) throw cause;
        if (attempt >= attempts || !again) throw new UnreachableError(new URL(request.url).host, { cause });
      }
      await pause(pauseAfter(attempt, wait, retryAfter), request.signal);
    }
  };
}

const held = new Set<Request>(); // until their answers have come

// Sends the request, and ends it after the timeout or with its signal. A Request follows the signal that it is made with
// only as long as somebody holds the Request: Node.js may collect it while fetch waits, and then nothing ends the wait.
async function within(timeout: number, request: Request, fetch: (request: Request) => Promise<Response>): Promise<Response> {
  const controller = new AbortController();
  const sent = new Request(request.clone(), { signal: controller.signal });
  held.add(sent);
  const abort = () => controller.abort(request.signal.reason);
  const timer = setTimeout(() => controller.abort(new DOMException(`no answer within ${timeout} ms`, "TimeoutError")), timeout);
  request.signal.addEventListener("abort", abort, { once: true });
  if (request.signal.aborted) abort();
  try {
    return await whole(await fetch(sent));
  } finally {
    clearTimeout(timer);
    request.signal.removeEventListener("abort", abort);
    held.delete(sent);
  }
}

// An answer can be cut off, so it has come only when its body has.
async function whole(response: Response): Promise<Response> {
  if (response.body === null) return response;
  const { status, statusText, headers } = response;
  return new Response(await response.arrayBuffer(), { status, statusText, headers });
}

// The body of an event has a key of its own, or the middleware of the client gave one.
async function repeatable(request: Request): Promise<boolean> {
  if (request.method !== "POST") return ["GET", "PUT", "DELETE"].includes(request.method);
  const path = new URL(request.url).pathname;
  if (path.endsWith("/events") && request.headers.has("idempotency-key")) return true;
  if (!/\/(events|events\/batch|replays)$/.test(path)) return false;
  const body = (await request.clone().json().catch(() => ({}))) as { idempotency_key?: string; events?: { idempotency_key?: string }[]; dry_run?: boolean };
  if (path.endsWith("/replays")) return body.dry_run === true;
  return path.endsWith("/batch") ? (body.events ?? []).every((e) => Boolean(e.idempotency_key)) : Boolean(body.idempotency_key);
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => (clearTimeout(timer), reject(signal.reason));
    const timer = setTimeout(() => (signal.removeEventListener("abort", end), resolve()), ms);
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}
