package docs_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/localstack/dev"
	"surehook.example/surehook/localstack/receiver"
)

// migrating has a secret of Svix, and a secret of Convoy and Outpost: a text.
const (
	svixSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	textSecret = "Vuk5LM0uujddIsqO5v_eSuz88"
)

// TestMigrating runs the blocks of docs/migrating.md for each product: export from a server
// that answers as the product does, import, check, gap. The receiver verifies the events
// with the old secret. With -short it does not run, because it builds the command line.
func TestMigrating(t *testing.T) {
	t.Parallel()

	if testing.Short() {
		t.Skip("make prove builds the command line")
	}
	for _, tool := range []string{"bash", "curl", "jq", "python3"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("docs/migrating.md is for readers with %s: %v", tool, err)
		}
	}
	surehook := filepath.Join(t.TempDir(), "surehook")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", surehook, "../cmd/surehook").CombinedOutput(); err != nil {
		t.Fatalf("build the command line: %v\n%s", err, out)
	}
	blocks := make(map[string]string)
	for _, section := range strings.Split(read(t, "docs/migrating.md"), "\n## ")[1:] {
		name, text, _ := strings.Cut(section, "\n")
		for _, block := range regexp.MustCompile("(?s)\n```sh\n(.*?)```").FindAllStringSubmatch(text, -1) {
			blocks[name] += block[1]
		}
	}
	if len(blocks) != 7 {
		t.Fatalf("docs/migrating.md has commands in %d sections; want 7", len(blocks))
	}
	tests := []struct {
		from     string
		genuine  func(receiver.Request) bool
		disabled bool // the export has a second endpoint, which is disabled
	}{
		{from: "From Svix", genuine: receiver.Request.Genuine, disabled: true},
		{from: "From Convoy", genuine: classic, disabled: true},
		{from: "From Outpost", genuine: classic},
		{from: "From your own table", genuine: receiver.Request.Genuine},
	}
	for _, tt := range tests {
		t.Run(tt.from, func(t *testing.T) {
			t.Parallel()

			b := newMigration(t)
			env := append(os.Environ(), "PATH="+filepath.Dir(surehook)+":"+os.Getenv("PATH"), "SUREHOOK_URL="+b.server.URL, "SUREHOOK_API_KEY="+b.server.Key,
				"XDG_CONFIG_HOME="+b.folder, "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1",
				"SVIX_URL="+b.old.URL, "SVIX_TOKEN=t", "CONVOY_URL="+b.old.URL, "CONVOY_KEY=k", "CONVOY_PROJECT=p1", "OUTPOST_URL="+b.old.URL, "OUTPOST_KEY=o")
			script := blocks[tt.from]
			if tt.from == "From your own table" {
				script += fmt.Sprintf(`echo '{"tenant": "acme", "url": "%s/hooks", "uid": "4711", "event_types": ["order.*"], "secret": "'$secret'", "disabled": false}' > endpoints.jsonl`+"\n", b.hooks.URL)
				b.hooks.Trust("/hooks", "whsec_ASNFZ4mrze8BI0VniavN7wEjRWeJq83v")
			}
			script += blocks["Import"] + blocks["Check"] + blocks["The gap"]
			cmd := exec.CommandContext(t.Context(), "bash", "-euxo", "pipefail", "-c", script)
			cmd.Dir, cmd.Env = b.folder, env
			out, err := cmd.CombinedOutput()
			shown := strings.ReplaceAll(string(out), b.server.Key, "$KEY")
			if err != nil || strings.Contains(shown, "not imported: ") {
				t.Fatalf("the commands end with %v:\n%s", err, shown)
			}
			requests, err := b.hooks.Await(t.Context(), "/hooks", 3) // the test event and two of the gap
			if err != nil {
				t.Fatalf("%v:\n%s", err, shown)
			}
			for _, r := range requests {
				if !tt.genuine(r) {
					t.Errorf("%s is not signed with the old secret: %v", r.Header.Get("X-Webhook-Event"), r.Header)
				}
				if r.Header.Get("X-Webhook-Event") == "order.paid" && !strings.HasPrefix(string(r.Body), `{"order":`) {
					t.Errorf("the body is %s; want the payload alone", r.Body)
				}
			}
			if got := strings.Contains(shown, " disabled "); got != tt.disabled {
				t.Errorf("a disabled endpoint: %t; want %t:\n%s", got, tt.disabled, shown)
			}
		})
	}
}

// classic reports whether the request has the hex that Convoy and Outpost send, under the
// text as the key.
func classic(r receiver.Request) bool {
	mac := hmac.New(sha256.New, []byte(textSecret))
	_, _ = mac.Write(r.Body)
	return r.Header.Get("X-Webhook-Signature") == "sha256="+hex.EncodeToString(mac.Sum(nil))
}

// migration is a Surehook, a receiver and the API of the old product.
type migration struct {
	server *dev.Server
	hooks  *receiver.Receiver
	old    *httptest.Server
	folder string
}

func newMigration(t *testing.T) migration {
	t.Helper()

	server, err := dev.Start(t.Context(), dev.Options{})
	if err != nil {
		t.Fatal(err)
	}
	hooks, err := receiver.Start(t.Context(), "127.0.0.1", "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	hooks.Trust("/hooks", svixSecret)
	url := hooks.URL + "/hooks"
	mux := http.NewServeMux()
	for path, text := range map[string]string{
		"GET /api/v1/app/acme/endpoint/{$}": `{"data": [
			{"id": "ep_2srOrx2ZWZBpBUvZwXKQmoEYga2", "uid": "orders", "url": "` + url + `", "description": "", "filterTypes": ["order.paid"], "rateLimit": null, "disabled": false},
			{"id": "ep_2srOrx2ZWZBpBUvZwXKQmoEYga3", "uid": null, "url": "` + url + `", "filterTypes": null, "rateLimit": 10, "disabled": true}], "done": true, "iterator": null}`,
		"GET /api/v1/app/acme/endpoint/{endpoint}/secret/":  `{"key": "` + svixSecret + `"}`,
		"GET /api/v1/app/acme/endpoint/{endpoint}/headers/": `{"headers": {"X-Shop": "1"}, "sensitive": []}`,
		"GET /api/v1/projects/p1/endpoints": `{"status": true, "data": {"content": [
			{"uid": "01H3FRSZYKNYWGPVV46RN98PM5", "name": "orders", "owner_id": "acme", "url": "` + url + `", "status": "active", "secrets": [{"value": "` + textSecret + `"}]},
			{"uid": "01H3FRSZYKNYWGPVV46RN98PM6", "name": "short", "owner_id": "acme", "url": "` + url + `", "status": "paused", "secrets": [{"value": "short"}]}]}}`,
		"GET /api/v1/projects/p1/subscriptions": `{"status": true, "data": {"content": [
			{"endpoint_metadata": {"uid": "01H3FRSZYKNYWGPVV46RN98PM5"}, "filter_config": {"event_types": ["order.paid"]}},
			{"endpoint_metadata": {"uid": "01H3FRSZYKNYWGPVV46RN98PM6"}, "filter_config": {"event_types": ["*"]}}]}}`,
		"GET /tenants/acme/destinations": `[
			{"id": "des_12345", "type": "webhook", "topics": ["order.paid"], "config": {"url": "` + url + `", "custom_headers": "{\"x-api-key\": \"1\"}"}, "credentials": {"secret": "` + textSecret + `"}, "disabled_at": null},
			{"id": "des_12346", "type": "aws_sqs", "topics": ["*"], "config": {}, "credentials": {}, "disabled_at": null}]`,
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) })
	}
	old := httptest.NewServer(mux)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
		defer cancel()
		_ = server.Stop(ctx)
		_ = hooks.Stop()
		old.Close()
	})
	return migration{server: server, hooks: hooks, old: old, folder: t.TempDir()}
}
