// An outbox on Postgres. An order and its event are written in one transaction, and a relay posts the events to Surehook.
//
//   node js/postgres.js order acme 4711   places an order
//   node js/postgres.js relay             posts events, until Ctrl-C; several may run
import { setTimeout } from "node:timers/promises";
import { Client } from "pg";
import { Surehook } from "surehook-client";

/** Runs the work over a connection of its own, in one transaction: all that it writes is there, or nothing. */
async function transaction<T>(db: Client, work: () => Promise<T>): Promise<T> {
  await db.query("BEGIN");
  try {
    const result = await work();
    await db.query("COMMIT");
    return result;
  } catch (error) {
    await db.query("ROLLBACK");
    throw error;
  }
}

async function connected<T>(work: (db: Client) => Promise<T>): Promise<T> {
  const db = new Client({ connectionString: process.env.DATABASE_URL });
  db.on("error", () => {}); // the next query fails, too
  await db.connect();
  try {
    return await work(db);
  } finally {
    await db.end();
  }
}

/** Stores an order and its event, or neither. */
async function order(tenant: string, id: string) {
  await connected((db) => transaction(db, async () => {
    await db.query("INSERT INTO outbox (tenant, event_type, payload) VALUES ($1, 'order.placed', $2)", [tenant, JSON.stringify({ order: id })]);
    await db.query("INSERT INTO orders (tenant, id) VALUES ($1, $2)", [tenant, id]);
  }));
}

/** Posts events. After a trouble of the database it connects again. */
async function relay(): Promise<never> {
  // An attempt is enough: the event stays in the outbox until its post succeeds.
  const surehook = new Surehook(process.env.SUREHOOK_URL!, process.env.SUREHOOK_API_KEY!, { attempts: 1 });
  for (;;) {
    try {
      await connected(async (db) => {
        for (;;) if (!(await next(db, surehook))) await setTimeout(1000);
      });
    } catch (error) {
      console.error(error);
      await setTimeout(1000);
    }
  }
}

/**
 * Posts one event, and deletes it. The event is locked until the end of the transaction, and other relays skip it. If this
 * relay dies before, Postgres releases the lock, and the next post with the same key makes no second event.
 */
async function next(db: Client, surehook: Surehook): Promise<boolean> {
  return transaction(db, async () => {
    const { rows: [row] } = await db.query<{ id: string; tenant: string; event_type: string; payload: string }>(
      "SELECT id, tenant, event_type, payload::text FROM outbox WHERE due_at <= now() ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED",
    );
    if (!row) return false;
    try {
      const event = await surehook.events.create(row.tenant, { event_type: row.event_type, payload: JSON.parse(row.payload), idempotency_key: row.id });
      console.log("posted", row.id, event.id);
    } catch (error) {
      console.log("later", row.id, String(error));
      await db.query("UPDATE outbox SET due_at = now() + interval '10 seconds', problem = $2 WHERE id = $1", [row.id, String(error)]);
      return true;
    }
    await db.query("DELETE FROM outbox WHERE id = $1", [row.id]);
    return true;
  });
}

const [command, tenant, id] = process.argv.slice(2);
if (command === "order" && tenant && id) await order(tenant, id);
else if (command === "relay") await relay();
else throw new Error("usage: postgres.js order TENANT ID, or postgres.js relay");
