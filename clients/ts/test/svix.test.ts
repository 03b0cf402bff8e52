// docs/migrating.md has Svix's calls and Surehook's side by side: the left compiles with Svix's library, and the right runs.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { test } from "node:test";

test("the calls of docs/migrating.md", async () => {
  const [, table = ""] = (await readFile("../../docs/migrating.md", "utf8")).split("| Svix | Surehook |\n|---|---|\n");
  const rows = table.split("\n\n", 1)[0]!.trim().split("\n").map((row) => row.split(" | ").map((cell) => /`([^`]+)`/.exec(cell)?.[1]));
  assert.ok(rows.length > 10);
  const side = (i: number) => rows.flatMap((row) => row[i] ?? []).join("\n");
  const folder = await mkdtemp("build/svix-");
  try {
    const given = `const since = new Date(Date.now() - 60_000); const payload = { order: 4711 }; const url = "http://127.0.0.1:9/";`;
    const left = `import { Svix, Webhook } from "svix";\nexport async function left(token: string, body: string, headers: Record<string, string>) {\n${given}\n${side(0)}\nreturn { portal, data };\n}\n`;
    const right = `import { Surehook } from "surehook-client";\nimport { verify } from "surehook-client/verify";\n` +
      `export async function right(address: string, key: string, sign: (secret: string) => Record<string, string>, body: string) {\n${given}\n` +
      `${side(1).replace("const data", "const headers = sign(secret);\nconst data")}\nreturn { portal, data };\n}\n`;
    await writeFile(`${folder}/left.ts`, left);
    await writeFile(`${folder}/right.ts`, right);
    execFileSync("node_modules/.bin/tsc", ["--strict", "--skipLibCheck", "--target", "ES2022", "--module", "NodeNext", "--types", "node", "--rootDir", ".", "--outDir", folder, `${folder}/left.ts`, `${folder}/right.ts`], { stdio: "inherit" });
    const { right: run } = (await import(`${process.cwd()}/${folder}/${folder}/right.js`)) as { right: (...args: unknown[]) => Promise<{ portal: string; data: unknown }> };
    const body = '{"order":4711}';
    const sign = (secret: string) => {
      const time = Math.floor(Date.now() / 1000);
      const mac = createHmac("sha256", Buffer.from(secret.slice(6), "base64")).update(`evt_1.${time}.${body}`).digest("base64");
      return { "webhook-id": "evt_1", "webhook-timestamp": String(time), "webhook-signature": `v1,${mac}` };
    };
    const { portal, data } = await run(process.env.SUREHOOK_URL, process.env.SUREHOOK_API_KEY, sign, body);
    assert.match(portal, /portal/);
    assert.deepEqual(data, { order: 4711 });
  } finally {
    await rm(folder, { recursive: true });
  }
});
