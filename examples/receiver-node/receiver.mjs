// A webhook receiver on 127.0.0.1. Standard Webhooks' public library verifies each
// request; the receiver answers 204 to a new event and to a repeated event.
//
//   SECRET=whsec_... node receiver.mjs     (PORT=3000; 0 chooses a free port)
import { createServer } from "node:http";
import { Webhook } from "standardwebhooks";

const maxBody = 1 << 20; // bytes; a payload has at most 256 KiB
const webhook = new Webhook(process.env.SECRET ?? "");

// The ids of handled events. Use a table with a unique key instead: Surehook
// delivers at least once, and this set is empty after a restart.
const handled = new Set();

// The body is {"type", "timestamp", "data"}: the envelope of Standard Webhooks.
function handle(event, { type, data }) {
  console.log(`${type} ${event} ${JSON.stringify(data)}`);
}

// read returns the exact bytes of the body: a signature covers the bytes and not the parsed JSON.
async function read(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > maxBody) {
      return undefined;
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function answer(request) {
  if (request.method !== "POST" || request.url !== "/hooks") {
    return 404;
  }
  const body = await read(request);
  if (body === undefined) {
    return 413;
  }
  try {
    webhook.verify(body.toString("utf8"), request.headers);
  } catch (err) {
    console.error(`refused: ${err.message}`);
    return 401;
  }
  const event = request.headers["webhook-id"];
  if (!handled.has(event)) {
    handle(event, JSON.parse(body));
    handled.add(event); // after the work: a failure before this line brings the event again
  }
  return 204;
}

const server = createServer(async (request, response) => {
  let status = 500; // Surehook tries again
  try {
    status = await answer(request);
  } catch (err) {
    console.error(err);
  }
  response.writeHead(status, status === 413 ? { Connection: "close" } : {}).end();
});
server.listen(Number(process.env.PORT || 3000), "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}/hooks`);
});
