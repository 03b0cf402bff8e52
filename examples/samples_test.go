//go:build examples

package examples_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/proof/port"
)

// TestSamples sends requests to the portal's sample receivers. Each accepts a good signature and
// refuses all others. Samples in a language that this machine lacks are skipped.
func TestSamples(t *testing.T) {
	t.Parallel()

	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	t.Cleanup(cancel)
	modules, err := filepath.Abs("receiver-node/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir() // Node.js looks for libraries beside the file
	if err := os.Symlink(modules, filepath.Join(folder, "node_modules")); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		file    string
		command []string // before the name of the file
	}{
		{"verify.go", nil},
		{"verify.mjs", []string{"node"}},
		{"verify.py", []string{"receiver-python/.venv/bin/python"}},
		{"Verify.java", []string{"java"}},
		{"verify.ru", []string{"rackup", "--quiet", "--server", "webrick", "--host", "127.0.0.1", "--port", "PORT"}},
		{"verify.php", []string{"php", "-S", "127.0.0.1:PORT"}},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			t.Parallel()

			port := port.Reserve(t)
			path := filepath.Join("verify", tt.file)
			switch {
			case tt.command == nil:
				program := filepath.Join(folder, "verify")
				if out, err := exec.CommandContext(ctx, "go", "build", "-o", program, path).CombinedOutput(); err != nil {
					t.Fatalf("build %s: %v\n%s", path, err, out)
				}
				path = program
			case tt.file == "verify.mjs":
				source, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				path = filepath.Join(folder, tt.file)
				if err := os.WriteFile(path, source, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if len(tt.command) > 0 {
				if _, err := exec.LookPath(tt.command[0]); err != nil {
					t.Skipf("no %s", tt.command[0])
				}
			}
			var command []string
			for _, argument := range tt.command {
				command = append(command, strings.Replace(argument, "PORT", port, 1))
			}
			const secret, other = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
			start(ctx, t, []string{"PORT=" + port, "WEBHOOK_SECRET=" + secret}, append(command, path)...)
			listening(ctx, t, port)

			url := fmt.Sprintf("http://127.0.0.1:%s/webhooks", port)
			now := time.Now()
			requests := []struct {
				name, secret string
				at           time.Time
				want         int
			}{
				{"a good signature", secret, now, http.StatusNoContent},
				{"the secret of somebody else", other, now, http.StatusUnauthorized},
				{"a signature of an hour ago", secret, now.Add(-time.Hour), http.StatusUnauthorized},
			}
			for _, r := range requests {
				if got := post(ctx, t, url, r.secret, "evt_1", r.at); got != r.want {
					t.Errorf("POST with %s = %d; want %d", r.name, got, r.want)
				}
			}
		})
	}
}

// listening waits until a program listens on the port.
func listening(ctx context.Context, t *testing.T, port string) {
	t.Helper()

	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", "127.0.0.1:"+port)
		if err == nil {
			_ = conn.Close()
			return
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			t.Fatalf("nothing listens on port %s: %v", port, err)
		}
	}
}
