//go:build examples

// Package examples_test runs the example receivers against `make dev`.
package examples_test

import (
	"bufio"
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"surehook.example/surehook/localstack/stack"
)

const (
	tenant  = "acme"
	payload = `{"order":4711}`
)

// waitLimit bounds one test: the start of the programs and all waits.
const waitLimit = 2 * time.Minute

// TestReceivers delivers an event from `make dev` to each receiver, and sends
// requests that a receiver must refuse or must not handle twice.
func TestReceivers(t *testing.T) {
	t.Parallel()

	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	t.Cleanup(cancel)
	api := startSurehook(ctx, t)
	tests := []struct {
		name    string
		command []string
	}{
		{"node", []string{"node", "receiver-node/receiver.mjs"}},
		{"python", []string{"receiver-python/.venv/bin/python", "receiver-python/receiver.py"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			// The secret is in the answer to the creation, and the receiver's port
			// is known later: the first URL is a stand-in.
			endpoint, err := api.CreateEndpoint(ctx, tenant, map[string]any{
				"url": "http://127.0.0.1:1/hooks", "event_types": []string{"order." + tt.name},
			})
			if err != nil {
				t.Fatal(err)
			}
			lines := start(ctx, t, []string{"SECRET=" + endpoint.Secret, "PORT=0"}, tt.command...)
			url := after(ctx, t, lines, "listening on ")
			if err := api.Call(ctx, http.MethodPatch, "/v1/tenants/"+tenant+"/endpoints/"+endpoint.ID,
				map[string]any{"url": url}, http.StatusOK, nil); err != nil {
				t.Fatal(err)
			}

			event, err := api.PostEvent(ctx, tenant, "order."+tt.name, payload)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := after(ctx, t, lines, "order."+tt.name+" "), event.ID+" "+payload; got != want {
				t.Errorf("the receiver handled %q; want %q", got, want)
			}
			deliveries, err := api.Deliveries(ctx, tenant, event.ID)
			if err != nil || len(deliveries) != 1 {
				t.Fatalf("deliveries = %v, %v; want one", deliveries, err)
			}
			if delivery, err := api.AwaitDelivery(ctx, tenant, deliveries[0].ID, "delivered"); err != nil || delivery.Attempts != 1 {
				t.Errorf("delivery = %+v, %v; want it delivered at the first attempt", delivery, err)
			}

			now := time.Now()
			const other = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
			requests := []struct {
				name, id, secret string
				at               time.Time
				want             int
			}{
				{"a repeated event", event.ID, endpoint.Secret, now, http.StatusNoContent},
				{"the secret of somebody else", "evt_other", other, now, http.StatusUnauthorized},
				{"a signature of an hour ago", "evt_old", endpoint.Secret, now.Add(-time.Hour), http.StatusUnauthorized},
				{"a new event", "evt_new", endpoint.Secret, now, http.StatusNoContent},
			}
			for _, r := range requests {
				if got := post(ctx, t, url, r.secret, r.id, r.at); got != r.want {
					t.Errorf("POST with %s = %d; want %d", r.name, got, r.want)
				}
			}
			// The receiver prints a line per handled event, so the first line after
			// these requests tells that the receiver handled the last request alone.
			if got, want := after(ctx, t, lines, ""), "order.test evt_new "+payload; got != want {
				t.Errorf("the receiver handled %q next; want %q", got, want)
			}
		})
	}
}

// startSurehook runs the command of `make dev` on a free port and returns a
// client with the printed key.
func startSurehook(ctx context.Context, t *testing.T) *stack.Client {
	t.Helper()

	program := filepath.Join(t.TempDir(), "surehook")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "../cmd/surehook")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build cmd/surehook: %v\n%s", err, out)
	}
	lines := start(ctx, t, nil, program, "dev", "--port", "0")
	api := &stack.Client{HTTP: &http.Client{Transport: &http.Transport{}}}
	api.Address = after(ctx, t, lines, "   API=")
	api.Key = after(ctx, t, lines, "   KEY=")
	return api
}

// start runs a program until the end of the test and returns the lines of its
// standard output.
func start(ctx context.Context, t *testing.T, env []string, argv ...string) <-chan string {
	t.Helper()

	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := make(chan string, 100)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(out); scanner.Scan(); {
			lines <- scanner.Text()
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // fails only when the program has ended
		for range lines {                       // Wait closes the pipe, so read first
		}
		_ = cmd.Wait() // the signal ends the program
	})
	return lines
}

// after waits for a line with the prefix, and returns the rest of the line.
func after(ctx context.Context, t *testing.T, lines <-chan string, prefix string) string {
	t.Helper()

	for {
		select {
		case line, running := <-lines:
			if !running {
				t.Fatalf("the program ended before a line with %q", prefix)
			}
			if rest, found := strings.CutPrefix(line, prefix); found {
				return rest
			}
		case <-ctx.Done():
			t.Fatalf("no line with %q: %v", prefix, ctx.Err())
		}
	}
}

// post sends an event of the type order.test, signed by the public Go library,
// and returns the status of the answer.
func post(ctx context.Context, t *testing.T, url, secret, id string, at time.Time) int {
	t.Helper()

	signer, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	body := `{"type":"order.test","timestamp":"2026-11-21T09:30:00.000Z","data":` + payload + "}"
	signature, err := signer.Sign(id, at, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Webhook-Id", id)
	r.Header.Set("Webhook-Timestamp", strconv.FormatInt(at.Unix(), 10))
	r.Header.Set("Webhook-Signature", signature)
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := answer.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode
}
