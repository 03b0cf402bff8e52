//go:build examples

package examples_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/proof/port"
)

// serve puts a handler that no server of its own has behind Node.js: it imports the module that the
// first argument names, and calls the handler as its framework does.
const serve = `import { createServer } from "node:http";
const { POST, handler } = await import(process.argv[2]);
createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks), { headers } = request;
  const status = POST
    ? (await POST(new Request("http://127.0.0.1/webhooks", { method: "POST", headers, body }))).status
    : (await handler({ headers, body: body.toString("base64"), isBase64Encoded: true })).statusCode;
  response.writeHead(status).end();
}).listen(Number(process.env.PORT), "127.0.0.1");
`

// TestRecipes runs the programs of docs/receiving.md as they stand there. Each accepts a good
// signature and refuses all others. The handlers of Next.js and Lambda run without these: what they
// get is what a Request of the web and an event of API Gateway hold.
func TestRecipes(t *testing.T) {
	t.Parallel()

	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	t.Cleanup(cancel)
	folder := t.TempDir()
	blocks := recipes(t, folder)
	node(ctx, t, folder)
	build := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(folder, "main"), filepath.Join(folder, "main.go"))
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the Go program of docs/receiving.md: %v\n%s", err, out)
	}
	python, err := filepath.Abs("../.venv/recipes/bin/uvicorn")
	if err != nil {
		t.Fatal(err)
	}
	server := filepath.Join(folder, "serve.mjs")
	tests := map[string][]string{ // the command for each file
		"main.go":                                {filepath.Join(folder, "main")},
		"express.ts":                             {"node", filepath.Join(folder, "js/express.js")},
		"app/webhooks/route.ts":                  {"node", server, filepath.Join(folder, "js/app/webhooks/route.js")},
		"lambda.ts":                              {"node", server, filepath.Join(folder, "js/lambda.js")},
		"main.py":                                {python, "--app-dir", folder, "--log-level", "warning", "--port", "PORT", "main:app"},
		"routes/api.php":                         nil,
		"app/controllers/webhooks_controller.rb": nil,
	}
	for file := range blocks {
		command, known := tests[file]
		if !known {
			t.Errorf("docs/receiving.md has %s, which no test runs", file)
		}
		if command == nil {
			continue
		}
		t.Run(file, func(t *testing.T) {
			t.Parallel()

			port := port.Reserve(t)
			var argv []string
			for _, argument := range command {
				argv = append(argv, strings.Replace(argument, "PORT", port, 1))
			}
			const secret, other = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
			start(ctx, t, []string{"PORT=" + port, "WEBHOOK_SECRET=" + secret}, argv...)
			listening(ctx, t, port)
			url := fmt.Sprintf("http://127.0.0.1:%s/webhooks", port)
			now := time.Now()
			if got := post(ctx, t, url, secret, "evt_1", now); got != http.StatusNoContent {
				t.Errorf("POST with a good signature = %d; want 204", got)
			}
			if got := post(ctx, t, url, other, "evt_1", now); got != http.StatusUnauthorized {
				t.Errorf("POST with the secret of somebody else = %d; want 401", got)
			}
			if got := post(ctx, t, url, secret, "evt_1", now.Add(-time.Hour)); got != http.StatusUnauthorized {
				t.Errorf("POST with a signature of an hour ago = %d; want 401", got)
			}
		})
	}
	if len(blocks) != len(tests) {
		t.Errorf("docs/receiving.md has %d programs; want %d", len(blocks), len(tests))
	}
}

// recipes writes the programs of docs/receiving.md into the folder, and returns them by their file:
// the first words of their first line, a comment.
func recipes(t *testing.T, folder string) map[string]string {
	t.Helper()

	text, err := os.ReadFile("../docs/receiving.md")
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]string)
	for _, block := range regexp.MustCompile("(?ms)^```(?:go|ts|python|ruby|php)\n(?:#|//) ([^\\s:,]+).*?^```").FindAllSubmatch(text, -1) {
		code := strings.TrimSuffix(string(block[0]), "```")
		_, code, _ = strings.Cut(code, "\n")
		file := string(block[1])
		all[file] = code
		path := filepath.Join(folder, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(code), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// node compiles the programs in TypeScript, strictly, and puts the libraries and the server beside them.
func node(ctx context.Context, t *testing.T, folder string) {
	t.Helper()

	modules, err := filepath.Abs("recipes/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(modules, filepath.Join(folder, "node_modules")); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"package.json":  `{"type": "module"}`,
		"serve.mjs":     serve,
		"tsconfig.json": `{"compilerOptions": {"strict": true, "module": "nodenext", "target": "es2022", "lib": ["es2022", "dom", "dom.iterable"], "types": ["node"], "outDir": "js", "rootDir": "."}, "include": ["**/*.ts"], "exclude": ["node_modules"]}`,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	compile := exec.CommandContext(ctx, filepath.Join(modules, ".bin/tsc"), "--project", folder)
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("compile the TypeScript of docs/receiving.md: %v\n%s", err, out)
	}
}
