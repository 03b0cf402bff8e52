// The README shows test/example.ts, which runs against `make dev`.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

test("the README shows the example, and the example runs", async () => {
  const [readme, example] = await Promise.all(["README.md", "test/example.ts"].map((name) => readFile(name, "utf8")));
  assert.ok(readme?.includes("```ts\n" + example?.replace("../src/index.js", "surehook-client") + "```"));
  await import("./example.js");
});
