package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/admin/apikey"
	"surehook.example/surehook/internal/admin/audit"
	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/admin/erasure"
	"surehook.example/surehook/internal/admin/eventtype"
	"surehook.example/surehook/internal/admin/preview"
	"surehook.example/surehook/internal/admin/reject"
	"surehook.example/surehook/internal/admin/search"
	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/admin/tenant"
	"surehook.example/surehook/internal/delivery/egress"
	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/httpapi"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/rule/shape"
)

const endpoints = "/v1/tenants/acme/endpoints"

// Callers.
var (
	admin  = hook.Principal{Key: "key_admin", Tenant: hook.AllTenants, Scopes: []hook.Scope{hook.ScopeAdmin}}
	owner  = hook.Principal{Key: "key_owner", Tenant: "acme", Scopes: []hook.Scope{hook.ScopeAdmin}}
	reader = hook.Principal{Key: "key_reader", Tenant: "acme", Scopes: []hook.Scope{hook.ScopeRead}}
	rival  = hook.Principal{Key: "key_rival", Tenant: "globex", Scopes: []hook.Scope{hook.ScopeAdmin}}
	nobody = hook.Principal{}
)

// replayPaths matches the paths of httpapi.Replay.
var replayPaths = regexp.MustCompile(`^/v1/tenants/[^/]+/(replays|erasures/|dead-letters/|deliveries/[^/]+/|events/[^/]+/(replay|payload)$)`)

// bundle is the whole API over memory with a clock set by tests.
type bundle struct {
	store    *memory.Store
	queue    *memory.TaskQueues
	asked    *memory.CircuitQueue
	jobs     *memory.JobQueue
	admin    *endpoint.Admin
	status   *status.Reader
	keys     *apikey.Issuer
	links    *apikey.Links
	types    *eventtype.Admin
	sources  *memory.EventQueue
	acceptor httpapi.Acceptor
	eraser   *erasure.Eraser
	events   http.Handler
	replays  http.Handler
	manage   http.Handler
	changes  *changeStore
	log      *bytes.Buffer
	now      time.Time
}

func setup(tb testing.TB) *bundle {
	tb.Helper()

	return bounded(tb, 0)
}

// bounded is setup with pages of lists of at most this many bytes; 0: the usual bound.
func bounded(tb testing.TB, pageBytes int) *bundle {
	tb.Helper()

	b := &bundle{store: memory.NewStore(), log: new(bytes.Buffer), now: time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)}
	now := func() time.Time { return b.now }
	b.queue = memory.NewTaskQueues(now)
	b.asked = memory.NewCircuitQueue(now)
	b.jobs = memory.NewJobQueue(now)
	directory := ingest.NewDirectory(b.store)
	acceptor := &ingest.Acceptor{
		Store: b.store, Queue: b.queue, Directory: directory, Retention: 90 * 24 * time.Hour, Now: now, NewID: hook.NewEventID,
	}
	acceptor.Types = ingest.NewTypes(b.store, hook.ValidationOff, 0)
	b.admin = &endpoint.Admin{
		Store: b.store, CircuitQueue: b.asked,
		Vault: memory.Vault{}, Policy: egress.Policy{}, Origins: origins(), Now: now, Wait: func(context.Context, time.Duration) error { return nil },
	}
	b.status = &status.Reader{
		Endpoints: b.admin, Store: b.store, Queues: queues{Live: status.Depth{Visible: 3, InFlight: 2, Delayed: 1}}, Now: now,
	}
	b.keys = &apikey.Issuer{Store: b.store, Now: now}
	b.links = &apikey.Links{Store: b.store, Now: now}
	b.sources = memory.NewEventQueue(now)
	b.types = &eventtype.Admin{Store: b.store, Now: now, Wait: b.admin.Wait}
	b.acceptor = acceptor
	log := slog.New(slog.NewJSONHandler(b.log, nil))
	b.changes = &changeStore{Store: b.store}
	changes := &audit.Log{Store: b.changes, Log: log, Now: now}
	b.events = httpapi.Events(acceptor, log)
	guard := tenant.Guard{Store: b.store, Now: now}
	b.eraser = &erasure.Eraser{Store: b.store, Queue: b.jobs, Log: log, Now: now}
	b.replays = httpapi.Replay(httpapi.Jobs{PageBytes: pageBytes, Eraser: b.eraser, Guard: guard, Audit: changes, Replayer: &replay.Replayer{
		Store: b.store, Queue: b.queue, JobQueue: b.jobs,
		Log: log, Now: now, NewID: hook.NewJobID,
	}}, log)
	previewer := &preview.Previewer{Endpoints: b.admin, Events: b.status, Types: b.types, Shaper: new(shape.Shaper), Signer: &send.Sender{UserAgent: "Surehook/1", Now: now}}
	searcher := &search.Searcher{Store: b.store, Now: now}
	b.manage = httpapi.Manage(httpapi.Admin{Environment: "surehook-test", Previewer: previewer, Searcher: searcher, PageBytes: pageBytes, Endpoints: b.admin, Status: b.status, Keys: b.keys, Links: b.links, Tenants: &tenant.Admin{Store: b.store, Retention: 90 * 24 * time.Hour}, Types: b.types, Rejects: &reject.Admin{Queue: b.sources, Now: now}, Tester: acceptor, Guard: guard, Audit: changes}, log)
	return b
}

// origins are the regions and fixed addresses of the deployment.
func origins() endpoint.Origins {
	return endpoint.Origins{Regions: []string{"us-east-1", "ap-southeast-2"}, Addresses: []netip.Addr{netip.MustParseAddr("203.0.113.10")}}
}

// do makes a request and checks request and response against the contract; headers are "Name: value".
func (b *bundle) do(tb testing.TB, p hook.Principal, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	tb.Helper()

	r, w := b.ask(tb, p, method, target, body, headers...)
	hold(tb, r, body, w)
	return w
}

// ask makes a request without checking it against the contract. Fuzz targets use it, because the
// check is slow.
func (b *bundle) ask(
	tb testing.TB, p hook.Principal, method, target, body string, headers ...string,
) (*http.Request, *httptest.ResponseRecorder) {
	tb.Helper()

	r := httptest.NewRequestWithContext(tb.Context(), method, target, strings.NewReader(body))
	if p.Key != "" {
		r = r.WithContext(httpapi.WithPrincipal(r.Context(), p))
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Add(name, value)
	}
	w := httptest.NewRecorder()
	b.handler(method, r.URL.Path).ServeHTTP(w, r)
	return r, w
}

// handler returns the handler of the path.
func (b *bundle) handler(method, path string) http.Handler {
	switch {
	case method == http.MethodPost && (strings.HasSuffix(path, "/events") || strings.HasSuffix(path, "/events/batch")):
		return b.events
	case replayPaths.MatchString(path), method == http.MethodDelete && strings.Count(path, "/") == 3 && strings.HasPrefix(path, "/v1/tenants/"):
		return b.replays
	}
	return b.manage
}

// get calls do, checks the status and decodes the response.
func get[T any](tb testing.TB, b *bundle, p hook.Principal, status int, method, target, body string, headers ...string) T {
	tb.Helper()

	w := b.do(tb, p, method, target, body, headers...)
	if w.Code != status {
		tb.Fatalf("%s %s = %d %s; want %d", method, target, w.Code, w.Body, status)
	}
	var v T
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		tb.Fatalf("%s %s = %s: %v", method, target, w.Body, err)
	}
	return v
}

// object is a JSON object without a type.
type object = map[string]any

// create makes an endpoint and returns the response.
func (b *bundle) create(tb testing.TB, body string) object {
	tb.Helper()

	return get[object](tb, b, owner, http.StatusCreated, http.MethodPost, endpoints, body)
}

// idOf returns the object's id.
func idOf(tb testing.TB, o object) string {
	tb.Helper()

	id, ok := o["id"].(string)
	if !ok {
		tb.Fatalf("id is %v; want a string", o["id"])
	}
	return id
}

// lines returns the log lines with the message.
func (b *bundle) lines(tb testing.TB, message string) []object {
	tb.Helper()

	var found []object
	for line := range strings.Lines(b.log.String()) {
		var o object
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			tb.Fatalf("log line %s: %v", line, err)
		}
		if o["msg"] == message {
			found = append(found, o)
		}
	}
	return found
}
