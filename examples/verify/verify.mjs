// npm install standardwebhooks
import { createServer } from "node:http";
import { Webhook } from "standardwebhooks";

const webhook = new Webhook(process.env.WEBHOOK_SECRET);

createServer(async (request, response) => {
  // The signature covers the exact bytes of the body: with Express, use express.raw().
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks).toString("utf8");
  try {
    webhook.verify(body, request.headers);
  } catch {
    return response.writeHead(401).end();
  }
  // Store the event, unless you know its webhook-id already. Then answer.
  console.log(request.headers["webhook-id"], body);
  response.writeHead(204).end();
}).listen(Number(process.env.PORT), "127.0.0.1");
