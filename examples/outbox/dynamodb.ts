// An outbox on DynamoDB. An order and its event are written in one transaction, and a relay posts the events to Surehook.
//
//   node js/dynamodb.js order acme 4711   places an order
//   node js/dynamodb.js relay             posts events, until Ctrl-C; several may run
import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { ConditionalCheckFailedException, DynamoDB, paginateScan, type AttributeValue } from "@aws-sdk/client-dynamodb";
import { Surehook } from "surehook-client";

/** How long other relays leave an event to the one that claimed it: longer than a post, which the client gives up after 35 s. */
const claim = 40_000;

const db = new DynamoDB();
const orders = `${process.env.STACK}-orders`, outbox = `${process.env.STACK}-outbox`;
const at = (ms: number) => ({ N: String(ms) });

/** Stores an order and its event, or neither. */
async function order(tenant: string, id: string) {
  const event = {
    key: { S: randomUUID() }, tenant: { S: tenant }, event_type: { S: "order.placed" }, payload: { S: JSON.stringify({ order: id }) }, due_at: at(Date.now()),
  };
  await db.transactWriteItems({ TransactItems: [
    { Put: { TableName: outbox, Item: event } },
    { Put: { TableName: orders, Item: { tenant: { S: tenant }, id: { S: id } }, ConditionExpression: "attribute_not_exists(id)" } },
  ] });
}

/** Posts events. */
async function relay(): Promise<never> {
  // An attempt is enough: the event stays in the outbox until its post succeeds.
  const surehook = new Surehook(process.env.SUREHOOK_URL!, process.env.SUREHOOK_API_KEY!, { attempts: 1 });
  for (;;) {
    try {
      await drain(surehook);
    } catch (error) {
      console.error(error);
    }
    await setTimeout(1000);
  }
}

/** Posts all events that are due. The table has no others but claimed and failed ones, so a scan is short. */
async function drain(surehook: Surehook) {
  const due = { TableName: outbox, FilterExpression: "due_at <= :now", ExpressionAttributeValues: { ":now": at(Date.now()) } };
  for await (const page of paginateScan({ client: db }, due)) {
    for (const event of page.Items ?? []) await post(surehook, event);
  }
}

/**
 * Claims an event, posts it, and deletes it. If this relay dies before, the claim ends, and the next post with the same key
 * makes no second event.
 */
async function post(surehook: Surehook, event: Record<string, AttributeValue>) {
  const name = { TableName: outbox, Key: { key: event.key! } };
  try {
    await db.updateItem({
      ...name, UpdateExpression: "SET due_at = :end", ConditionExpression: "due_at = :seen",
      ExpressionAttributeValues: { ":seen": event.due_at!, ":end": at(Date.now() + claim) },
    });
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return; // claimed by another relay
    throw error;
  }
  const [key, tenant, eventType, payload] = [event.key!.S!, event.tenant!.S!, event.event_type!.S!, event.payload!.S!];
  try {
    const posted = await surehook.events.create(tenant, { event_type: eventType, payload: JSON.parse(payload), idempotency_key: key });
    console.log("posted", key, posted.id);
  } catch (error) {
    console.log("later", key, String(error));
    await db.updateItem({
      ...name, UpdateExpression: "SET problem = :problem", ConditionExpression: "attribute_exists(due_at)",
      ExpressionAttributeValues: { ":problem": { S: String(error) } },
    });
    return;
  }
  await db.deleteItem(name);
}

const [command, tenant, id] = process.argv.slice(2);
if (command === "order" && tenant && id) await order(tenant, id);
else if (command === "relay") await relay();
else throw new Error("usage: dynamodb.js order TENANT ID, or dynamodb.js relay");
