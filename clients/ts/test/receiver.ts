import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { verify, VerificationError } from "surehook-client/verify";

const server = createServer(async (request, response) => {
  try {
    const payload = await verify(process.env.SECRET!, request.headers, await buffer(request));
    console.log(request.headers["webhook-id"], payload);
    response.writeHead(204).end();
  } catch (error) {
    response.writeHead(error instanceof VerificationError ? 401 : 500).end();
  }
});
server.listen(3000, "127.0.0.1");
