package docs_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

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
		from    string
		genuine func(receiver.Request) bool
		says    []string // what the import says beside the imported endpoints
		rates   []float64
	}{
		{from: "From Svix", genuine: receiver.Request.Genuine, rates: []float64{25, 0}, says: []string{
			"left out: off of acme: disabled",
			"left out: project of acme: gets the channels project_123, project_7 only",
			"left out: hidden of acme: needs the headers X-Token",
			"left out: svix-ep_ed of acme: has a key that is not whsec_",
		}},
		{from: "From Convoy", genuine: classic, rates: []float64{2.5, 0, 0}, says: []string{
			"left out: paused of acme: paused",
			"left out: filtered of acme: its subscriptions filter or change events",
			"left out: alone of acme: has no subscription",
			"left out: oauth of acme: authenticates by OAuth 2.0",
			"new secret: short of acme",
			"new secret: advanced of acme",
		}},
		{from: "From Outpost", genuine: classic, rates: []float64{0}, says: []string{
			"left out: des_sqs of acme: is of the type aws_sqs",
			"left out: des_off of acme: disabled",
			`left out: des_filter of acme: has the filter {"data":{"amount":{"$gte":100}}}`,
			"left out: des_meta of acme: sends the metadata app-id as headers",
		}},
		{from: "From your own table", genuine: receiver.Request.Genuine, rates: []float64{0}},
	}
	for _, tt := range tests {
		t.Run(tt.from, func(t *testing.T) {
			t.Parallel()

			ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second) // a block that waits for ever fails
			defer cancel()
			b := newMigration(t)
			env := append(os.Environ(), "PATH="+filepath.Dir(surehook)+":"+os.Getenv("PATH"), "SUREHOOK_URL="+b.server.URL, "SUREHOOK_API_KEY="+b.server.Key,
				"XDG_CONFIG_HOME="+b.folder, "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1",
				"SVIX_URL="+b.old.URL, "SVIX_TOKEN=t", "CONVOY_URL="+b.old.URL, "CONVOY_KEY=k", "CONVOY_PROJECT=p1", "OUTPOST_URL="+b.old.URL, "OUTPOST_KEY=o")
			script := blocks[tt.from]
			if tt.from == "From your own table" {
				script += fmt.Sprintf(`echo '{"tenant": "acme", "url": "%s/hooks", "uid": "4711", "event_types": ["order.*"], "secret": "'$secret'"}' > endpoints.jsonl`+"\n", b.hooks.URL)
				b.hooks.Trust("/hooks", "whsec_ASNFZ4mrze8BI0VniavN7wEjRWeJq83v")
			}
			script += blocks["Import"] + blocks["Check"] + blocks["The gap"]
			cmd := exec.CommandContext(ctx, "bash", "-euxo", "pipefail", "-c", script)
			cmd.Dir, cmd.Env, cmd.WaitDelay = b.folder, env, time.Second
			var stdout, all bytes.Buffer
			cmd.Stdout, cmd.Stderr = io.MultiWriter(&stdout, &all), &all
			err := cmd.Run()
			shown := strings.ReplaceAll(all.String(), b.server.Key, "$KEY")
			if err != nil || strings.Contains(shown, "not imported: ") {
				t.Fatalf("the commands end with %v:\n%s", err, shown)
			}
			requests, err := b.hooks.Await(ctx, "/hooks", 3) // the test event and two of the gap
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
			var says []string
			for line := range strings.Lines(stdout.String()) {
				if strings.HasPrefix(line, "left out: ") || strings.HasPrefix(line, "new secret: ") {
					says = append(says, strings.TrimSpace(line))
				}
			}
			if diff := cmp.Diff(tt.says, says, cmpopts.SortSlices(strings.Compare)); diff != "" {
				t.Errorf("the import says (-want +got):\n%s", diff)
			}
			if got := b.rates(t); !slices.Equal(got, tt.rates) {
				t.Errorf("the endpoints have the rates %v; want %v", got, tt.rates)
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
	// Answers as the public contracts have them, with the values that decide.
	const secret, simple = `{"key": "` + svixSecret + `"}`, `"secrets": [{"value": "` + textSecret + `"}]`
	subscription := func(uid string) string {
		return `{"uid": "sub_` + uid + `", "type": "api", "endpoint_metadata": {"uid": "` + uid + `"}, "filter_config": {"event_types": ["order.paid"], "filter": {"body": {}, "headers": {}, "query": null, "path": null}}}`
	}
	for path, text := range map[string]string{
		"GET /api/v1/app/acme/endpoint/{$}": `{"data": [
			{"id": "ep_1", "uid": "orders", "url": "` + url + `", "description": "", "filterTypes": ["order.paid"], "channels": null, "throttleRate": 25, "disabled": false, "metadata": {}, "version": 1},
			{"id": "ep_2", "uid": "off", "url": "` + url + `", "description": "", "filterTypes": null, "disabled": true},
			{"id": "ep_3", "uid": "project", "url": "` + url + `", "description": "", "filterTypes": ["order.paid"], "channels": ["project_123", "project_7"]}],
			"done": false, "iterator": "ep_3", "prevIterator": "-ep_1"}`,
		"GET /api/v1/app/acme/endpoint/{endpoint}/secret/":  secret,
		"GET /api/v1/app/acme/endpoint/ep_ed/secret/":       `{"key": "whsk_AAAA"}`,
		"GET /api/v1/app/acme/endpoint/{endpoint}/headers/": `{"headers": {"X-Shop": "1"}, "sensitive": []}`,
		"GET /api/v1/app/acme/endpoint/ep_4/headers/":       `{"headers": {}, "sensitive": ["X-Token"]}`,
		"GET /api/v1/projects/p1/endpoints": `{"status": true, "message": "Endpoints fetched successfully", "data": {"pagination": {"has_next_page": false, "per_page": 1000}, "content": [
			{"uid": "orders", "name": "orders", "owner_id": "acme", "url": "` + url + `", "status": "active", "rate_limit": 150, "rate_limit_duration": 60, "http_timeout": 20,
				"authentication": {"type": "api_key", "api_key": {"header_name": "X-Api-Key", "header_value": "1"}}, "advanced_signatures": false, ` + simple + `},
			{"uid": "short", "name": "short", "owner_id": "acme", "url": "` + url + `", "status": "active", "authentication": {"type": "basic_auth", "basic_auth": {"username": "u", "password": "p"}}, "secrets": [{"value": "short"}]},
			{"uid": "advanced", "name": "", "owner_id": "acme", "url": "` + url + `", "status": "active", "advanced_signatures": true, ` + simple + `},
			{"uid": "paused", "name": "", "owner_id": "acme", "url": "` + url + `", "status": "paused", ` + simple + `},
			{"uid": "filtered", "name": "", "owner_id": "acme", "url": "` + url + `", "status": "active", ` + simple + `},
			{"uid": "alone", "name": "", "owner_id": "acme", "url": "` + url + `", "status": "active", ` + simple + `},
			{"uid": "oauth", "name": "", "owner_id": "acme", "url": "` + url + `", "status": "active", "authentication": {"type": "oauth2", "oauth2": {"url": "https://id.example.com"}}, ` + simple + `}]}}`,
		"GET /api/v1/projects/p1/subscriptions": `{"status": true, "message": "", "data": {"pagination": {"has_next_page": false}, "content": [
			` + subscription("orders") + `, ` + subscription("paused") + `, ` + subscription("oauth") + `,
			{"endpoint_metadata": {"uid": "short"}, "filter_config": {"event_types": ["invoice.paid"], "filter": {}}},
			{"endpoint_metadata": {"uid": "advanced"}, "filter_config": {"event_types": ["invoice.paid"], "filter": {}}},
			{"endpoint_metadata": {"uid": "filtered"}, "filter_config": {"event_types": ["*"], "filter": {"body": {"amount": {"$gt": 100}}, "headers": {}}}}]}}`,
		"GET /tenants/acme/destinations": `[
			{"id": "des_1", "type": "webhook", "topics": ["order.paid"], "filter": null, "config": {"url": "` + url + `", "custom_headers": "{\"x-api-key\": \"1\"}"}, "credentials": {"secret": "` + textSecret + `"}, "disabled_at": null, "delivery_metadata": null, "target": "127.0.0.1"},
			{"id": "des_off", "type": "webhook", "topics": "*", "config": {"url": "` + url + `"}, "credentials": {"secret": "` + textSecret + `"}, "disabled_at": "2026-03-01T12:00:00Z"},
			{"id": "des_filter", "type": "webhook", "topics": "*", "filter": {"data": {"amount": {"$gte": 100}}}, "config": {"url": "` + url + `"}, "credentials": {"secret": "` + textSecret + `"}, "disabled_at": null},
			{"id": "des_meta", "type": "webhook", "topics": "*", "config": {"url": "` + url + `"}, "credentials": {"secret": "` + textSecret + `"}, "disabled_at": null, "delivery_metadata": {"app-id": "shop"}},
			{"id": "des_sqs", "type": "aws_sqs", "topics": ["*"], "config": {"queue_url": "https://sqs.us-east-1.amazonaws.com/123456789012/q"}, "credentials": {"key": "k", "secret": "s"}, "disabled_at": null}]`,
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			text := text
			if r.URL.Query().Get("iterator") == "ep_3" {
				text = `{"data": [
					{"id": "ep_4", "uid": "hidden", "url": "` + url + `", "description": "", "filterTypes": ["order.paid"]},
					{"id": "ep_ed", "uid": null, "url": "` + url + `", "description": "", "filterTypes": ["order.paid"]},
					{"id": "ep_6", "uid": null, "url": "` + url + `", "description": "", "filterTypes": ["invoice.paid"], "rateLimit": null}],
					"done": true, "iterator": "ep_6"}`
			}
			_, _ = w.Write([]byte(text))
		})
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

// rates returns rate_per_second of each endpoint that was created, in the order of the import.
func (m migration) rates(t *testing.T) []float64 {
	t.Helper()

	file, err := os.Open(filepath.Join(m.folder, "created.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	var all []float64
	for decoder := json.NewDecoder(file); decoder.More(); {
		var endpoint struct {
			Rate float64 `json:"rate_per_second"`
		}
		if err := decoder.Decode(&endpoint); err != nil {
			t.Fatal(err)
		}
		all = append(all, endpoint.Rate)
	}
	return all
}
