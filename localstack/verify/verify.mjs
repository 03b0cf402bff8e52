// Verifies one captured webhook with the public Standard Webhooks library.
// Input, on standard input: {"secret": "whsec_...", "headers": {...}, "body": "<base64>"}.
// It exits with 0 if the signature is good and with 1 and the reason if it is not.
import { readFileSync } from "node:fs";
import { Webhook } from "standardwebhooks";

const { secret, headers, body } = JSON.parse(readFileSync(0, "utf8"));
try {
  new Webhook(secret).verify(Buffer.from(body, "base64").toString("utf8"), headers);
} catch (err) {
  console.error(err.message);
  process.exit(1);
}
