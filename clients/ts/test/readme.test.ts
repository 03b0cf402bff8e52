// The README shows example.ts and receiver.ts, which CI runs against `surehook dev`.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

test("the README shows the programs", async () => {
  const readme = await readFile("README.md", "utf8");
  for (const name of ["test/example.ts", "test/receiver.ts"]) {
    assert.ok(readme.includes("```ts\n" + (await readFile(name, "utf8")) + "```"), name);
  }
});
