package emulator_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"surehook.example/surehook/localstack/emulator"
)

// dockerScript replaces docker: it records its arguments, and "logs" answers in
// place of the container.
const dockerScript = `#!/bin/sh
echo "$@" >> "$0.calls"
case "$*" in
*logs*) exec python3 -c '
import http.server, os
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers()
http.server.HTTPServer(("127.0.0.1", int(os.environ["LOCALSTACK_PORT"])), H).serve_forever()
' ;;
esac
`

// The test sets PATH, so it cannot run concurrently.
func TestStart_bringsLocalStackUpAndRemovesIt(t *testing.T) {
	dir := t.TempDir()
	docker := filepath.Join(dir, "docker")
	if err := os.WriteFile(docker, []byte(dockerScript), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	env := append(os.Environ(), "LOCALSTACK_AUTH_TOKEN=token")
	e, err := emulator.Start(t.Context(), emulator.LocalStack, emulator.Options{Root: t.TempDir(), Env: env})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Stop(); err != nil {
		t.Fatalf("Stop = %v; want nil", err)
	}
	raw, err := os.ReadFile(docker + ".calls")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(raw)) {
		// Calls are "compose -f <file> -p <project> <command> <flags>".
		words := strings.Fields(line)
		if len(words) < 6 || !strings.HasPrefix(words[4], "surehook-") {
			t.Fatalf("docker was called with %q; want a project of our own", line)
		}
		got = append(got, words[5])
	}
	if want := "version up logs down"; strings.Join(got, " ") != want {
		t.Errorf("compose commands = %q; want %q", got, want)
	}
}

func TestCanRunStack(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name    string
		kind    emulator.Kind
		env     []string
		wantErr bool
	}{
		{name: "MiniStack can", kind: emulator.MiniStack},
		{name: "LocalStack can", kind: emulator.LocalStack},
		{name: "LocalStack without a token cannot", kind: emulator.LocalStack, env: []string{"LOCALSTACK_TAG=" + emulator.TokenlessTag}, wantErr: true},
		{name: "an older LocalStack cannot", kind: emulator.LocalStack, env: []string{"LOCALSTACK_TAG=4.9.2"}, wantErr: true},
		{name: "the same LocalStack of one architecture cannot", kind: emulator.LocalStack, env: []string{"LOCALSTACK_TAG=4.14.0-arm64"}, wantErr: true},
		{name: "a newer LocalStack can", kind: emulator.LocalStack, env: []string{"LOCALSTACK_TAG=4.14.1"}},
		{name: "a LocalStack of a year and month can", kind: emulator.LocalStack, env: []string{"LOCALSTACK_TAG=2026.08.3"}},
		{name: "the latest LocalStack can", kind: emulator.LocalStack, env: []string{"LOCALSTACK_TAG=latest"}},
		{name: "LocalStack as a package cannot", kind: emulator.LocalStackPackage, wantErr: true},
		{name: "Moto cannot", kind: emulator.Moto, wantErr: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if err := emulator.CanRunStack(tt.kind, tt.env); (err != nil) != tt.wantErr {
				t.Errorf("CanRunStack(%s, %v) = %v; want error %t", tt.kind, tt.env, err, tt.wantErr)
			}
		})
	}
}
