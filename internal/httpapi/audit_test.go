package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/admin/audit"
	"surehook.example/surehook/internal/admin/tenant"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/httpapi"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/proof/certificate"
)

// changeStore is a store of records that may fail.
type changeStore struct {
	*memory.Store
	puts int
	fail func(put int) bool // put counts from 1; nil: never
}

func (s *changeStore) PutAudit(ctx context.Context, r hook.AuditRecord) error {
	s.puts++
	if s.fail != nil && s.fail(s.puts) {
		return &hook.Error{Code: hook.CodeUnavailable, Message: "no answer"}
	}
	return s.Store.PutAudit(ctx, r)
}

// AuditRecords returns empty fields as a table does: empty, not nil.
func (s *changeStore) AuditRecords(ctx context.Context, tenant hook.TenantID, span hook.AuditSpan, cursor string, limit int) ([]hook.AuditRecord, string, error) {
	page, next, err := s.Store.AuditRecords(ctx, tenant, span, cursor, limit)
	for i := range page {
		page[i].Request = append([]byte{}, page[i].Request...)
		page[i].Changes = append([]byte{}, page[i].Changes...)
	}
	return page, next, err
}

// noChanges lists the routes with another method than GET that leave no record of their own, with
// the reason.
func noChanges() map[string]string {
	return map[string]string{
		"POST /v1/tenants/{tenant}/events":                       "the event is the record",
		"POST /v1/tenants/{tenant}/events/batch":                 "the events are the record",
		"POST /v1/tenants/{tenant}/endpoints/{endpoint}/preview": "nothing is stored",
	}
}

// chief is a caller with a named key.
var chief = hook.Principal{Key: "key_chief", Name: "support desk", Tenant: hook.AllTenants, Scopes: []hook.Scope{hook.ScopeAdmin}}

// actor is the caller in the record of an action by chief. For the code of a link, that is the
// link's key.
func actor(action string) hook.Principal {
	if action == "portal_session.open" {
		return hook.Principal{Key: linkID, Name: "portal link"}
	}
	return chief
}

type changeView struct {
	ID      string                    `json:"id"`
	At      string                    `json:"at"`
	Actor   string                    `json:"actor"`
	Key     string                    `json:"key_id"`
	KeyName string                    `json:"key_name"`
	From    string                    `json:"source_ip"`
	Action  string                    `json:"action"`
	Target  string                    `json:"target"`
	Request map[string]any            `json:"request"`
	Changes map[string]map[string]any `json:"changes"`
	Outcome string                    `json:"outcome"`
	Code    string                    `json:"code"`
}

// recorded returns all records, those of acme and those outside of the tenants.
func (b *bundle) recorded(t *testing.T) []changeView {
	t.Helper()

	type list struct{ Data []changeView }
	return append(
		get[list](t, b, chief, 200, "GET", "/v1/tenants/acme/audit", "").Data,
		get[list](t, b, chief, 200, "GET", "/v1/audit", "").Data...,
	)
}

// recordedOne returns the only record.
func (b *bundle) recordedOne(t *testing.T) changeView {
	t.Helper()

	all := b.recorded(t)
	if len(all) != 1 {
		t.Fatalf("records = %+v; want one", all)
	}
	return all[0]
}

// everything returns all that a change through the API can change, as text.
func (e estate) everything(t *testing.T) string {
	t.Helper()

	var all strings.Builder
	all.WriteString(e.inventory(t))
	for _, path := range []string{"/v1/keys", "/v1/tenants/acme/limits", endpoints + "/crm", "/v1/tenants/acme/deliveries/" + e.dead.String()} {
		all.WriteString(wire(e.do(t, admin, "GET", path, "")) + "\n")
	}
	for _, queue := range []hook.Queue{hook.QueueLive, hook.QueueReplay} {
		n, err := e.queue.Visible(t.Context(), queue)
		if err != nil {
			t.Fatalf("Visible = %v", err)
		}
		_, _ = fmt.Fprintln(&all, queue, n)
	}
	_, checks := e.asked.Next()
	_, _ = fmt.Fprintln(&all, "checks:", checks)
	return all.String()
}

// metadata returns metadata of n entries, each of 510 letters.
func metadata(t *testing.T, n int) []byte {
	t.Helper()

	all := make(map[string]string)
	for i := range n {
		all[fmt.Sprint(i)] = strings.Repeat("m", 510)
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestAudit_refusedIsShort sends the largest requests. The record of a refused one has the sizes
// of the large values, and keeps the others.
func TestAudit_refusedIsShort(t *testing.T) {
	t.Parallel()

	const large = 60 << 10
	text := metadata(t, 1+large/520)
	b := setup(t)
	b.create(t, `{"url":"https://example.com/","uid":"crm"}`)
	for _, tt := range []struct{ method, path, body, field string }{
		{"PATCH", endpoints + "/crm", fmt.Sprintf(`{"url":"https://10.0.0.1/","metadata":%s}`, text), "metadata"},
		{"POST", endpoints, fmt.Sprintf(`{"url":"https://10.0.0.1/","description":"%s"}`, strings.Repeat("d", large)), "description"},
		{"POST", endpoints + "/nobody/test", fmt.Sprintf(`{"event_type":"%s"}`, strings.Repeat("t", large)), "event_type"},
		{"POST", "/v1/keys", fmt.Sprintf(`{"name":"%s","tenant":"acme","scopes":["read"]}`, strings.Repeat("n", large)), "name"},
	} {
		w := b.do(t, chief, tt.method, tt.path, tt.body)
		if w.Code < 400 || w.Code >= 500 {
			t.Errorf("%s %s = %d %.300s; want a refusal", tt.method, tt.path, w.Code, w.Body)
		}
		all := b.recorded(t)
		i := slices.IndexFunc(all, func(r changeView) bool { return r.Outcome == "refused" && r.Request[tt.field] != nil })
		if i < 0 {
			t.Errorf("%s %s: no record has the field %s", tt.method, tt.path, tt.field)
			continue
		}
		short, err := json.Marshal(all[i].Request)
		value, _ := all[i].Request[tt.field].(string)
		if err != nil || len(short) > 2<<10 || !strings.HasPrefix(value, "*** (6") || !strings.HasSuffix(value, " bytes)") {
			t.Errorf("%s %s: the record has %d bytes, %v, and %s = %.100s; want at most 2 KiB, and the size", tt.method, tt.path, len(short), err, tt.field, value)
		}
	}
}

// TestAudit_largeValuesAreShort makes the largest changes. Their records have the beginnings of large
// values, and their sizes.
func TestAudit_largeValuesAreShort(t *testing.T) {
	t.Parallel()

	text := metadata(t, 50)
	b := setup(t)
	b.create(t, `{"url":"https://example.com/","uid":"crm"}`)
	if w := b.do(t, chief, "PATCH", endpoints+"/crm", fmt.Sprintf(`{"description":"short","metadata":%s}`, text)); w.Code != 200 {
		t.Fatalf("PATCH = %d %.300s", w.Code, w.Body)
	}
	all := b.recorded(t)
	i := slices.IndexFunc(all, func(r changeView) bool { return r.Action == "endpoint.change" })
	if i < 0 {
		t.Fatal("no record")
	}
	now := all[i].Changes["metadata"]["new"]
	for name, value := range map[string]any{"request": all[i].Request["metadata"], "change": now} {
		short, ok := value.(string)
		if !ok || len(short) > 2<<10 || !strings.HasPrefix(short, `{"0":"mmm`) || !strings.HasSuffix(short, " bytes)") {
			t.Errorf("the %s has %.100v of %d bytes; want at most 2 KiB of it, and the size", name, value, len(short))
		}
	}
	if all[i].Request["description"] != "short" {
		t.Errorf("the short value is %v", all[i].Request["description"])
	}
}

// TestAudit_everyRoute calls every route with another method than GET. Each call must
// leave one record, except for the routes of noChanges.
func TestAudit_everyRoute(t *testing.T) {
	t.Parallel()

	known := make(map[string]operation)
	for _, o := range operations() {
		known[o.name] = o
	}
	actions := make(map[string]string)
	for _, r := range httpapi.Routes() {
		name := r.Method + " " + r.Path
		if r.Method == http.MethodGet || noChanges()[name] != "" {
			if r.Change != "" {
				t.Errorf("%s has the change %s; want none", name, r.Change)
			}
			continue
		}
		if other := actions[r.Change]; other != "" || r.Change == "" {
			t.Errorf("%s has the change %q, and so has %q; want a change of its own", name, r.Change, other)
		}
		actions[r.Change] = name
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			e := furnish(t)
			o := known[name]
			if w := e.do(t, chief, r.Method, e.path(r.Path), o.body); w.Code != o.status {
				t.Fatalf("%s = %d %s; want %d", name, w.Code, w.Body, o.status)
			}
			got := e.recordedOne(t)
			if !strings.HasPrefix(got.ID, "aud_") || got.Target == "" {
				t.Errorf("record = %+v; want an id and a target", got)
			}
			if o.body != "" && got.Request == nil {
				t.Errorf("record = %+v; want the request %s", got, o.body)
			}
			want := changeView{
				At: "2026-11-21T09:30:00.000Z", Actor: "key", Key: string(actor(r.Change).Key), KeyName: actor(r.Change).Name, From: "192.0.2.1", Action: r.Change, Outcome: "done",
				ID: got.ID, Target: got.Target, Request: got.Request, Changes: got.Changes,
			}
			if o.status == http.StatusConflict {
				want.Outcome, want.Code = "refused", "conflict"
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("record (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAudit_noChangeWithoutARecord calls every route with a change while no record can
// be stored. Nothing may change.
func TestAudit_noChangeWithoutARecord(t *testing.T) {
	t.Parallel()

	for _, o := range operations() {
		method, route, _ := strings.Cut(o.name, " ")
		if method == http.MethodGet || noChanges()[o.name] != "" {
			continue
		}
		t.Run(o.name, func(t *testing.T) {
			t.Parallel()

			e := furnish(t)
			before := e.everything(t)
			e.changes.fail = func(int) bool { return true }
			if w := e.do(t, chief, method, e.path(route), o.body); w.Code != 503 {
				t.Errorf("%s without a store of records = %d %s; want 503", o.name, w.Code, w.Body)
			}
			if diff := cmp.Diff(before, e.everything(t)); diff != "" {
				t.Errorf("%s without a record changed (-before +after):\n%s", o.name, diff)
			}
		})
	}
}

// TestAudit_lostEnd checks that a change whose end cannot be stored stays recorded as pending.
func TestAudit_lostEnd(t *testing.T) {
	t.Parallel()

	for _, o := range operations() {
		method, route, _ := strings.Cut(o.name, " ")
		if method == http.MethodGet || noChanges()[o.name] != "" {
			continue
		}
		t.Run(o.name, func(t *testing.T) {
			t.Parallel()

			e := furnish(t)
			e.changes.fail = func(put int) bool { return put > 1 }
			if w := e.do(t, chief, method, e.path(route), o.body); w.Code != o.status {
				t.Errorf("%s = %d %s; want %d: the change was made", o.name, w.Code, w.Body, o.status)
			}
			if got := e.recordedOne(t); got.Outcome != "pending" || got.Key != string(actor(got.Action).Key) || got.Changes != nil {
				t.Errorf("record = %+v; want the intention, pending", got)
			}
			if log := e.log.String(); !strings.Contains(log, "audit.end_failed") {
				t.Errorf("log = %s; want audit.end_failed", log)
			}
		})
	}
}

func TestAudit_outcomes(t *testing.T) {
	t.Parallel()

	e := furnish(t)
	tests := []struct {
		name, method, path, body string
		status                   int
		outcome, code            string // empty: no record
	}{
		{name: "not JSON", method: "PATCH", path: endpoints + "/crm", body: `{`, status: 400},
		{name: "an invalid id", method: "DELETE", path: "/v1/keys/nonsense", status: 404},
		{name: "a preview", method: "POST", path: "/v1/tenants/acme/replays", body: `{"filter":{},"dry_run":true}`, status: 200},
		{name: "an invalid URL", method: "PATCH", path: endpoints + "/crm", body: `{"url":"https://user:sesame@[::1"}`, status: 400, outcome: "refused", code: "invalid"},
		{
			name: "an invalid token URL", method: "PATCH", path: endpoints + "/crm",
			body:   `{"auth":{"type":"oauth2","token_url":"https://id:sesame@example.com/token","client_id":"c","client_secret":"sesame"}}`,
			status: 400, outcome: "refused", code: "invalid",
		},
		{name: "an unknown endpoint", method: "DELETE", path: endpoints + "/none", status: 404, outcome: "refused", code: "not_found"},
		{name: "a conflict", method: "POST", path: endpoints + "/crm/enable", status: 200, outcome: "done"},
	}
	seen := 0
	for _, tt := range tests {
		e.now = e.now.Add(time.Second)
		if w := e.do(t, chief, tt.method, tt.path, tt.body); w.Code != tt.status {
			t.Errorf("%s = %d %s; want %d", tt.name, w.Code, w.Body, tt.status)
		}
		records := e.recorded(t)
		if tt.outcome != "" {
			seen++
		}
		if len(records) != seen {
			t.Fatalf("%s: %d records; want %d", tt.name, len(records), seen)
		}
		if tt.outcome != "" && (records[0].Outcome != tt.outcome || records[0].Code != tt.code) {
			t.Errorf("%s: record = %+v; want %s %s", tt.name, records[0], tt.outcome, tt.code)
		}
	}
	if all := fmt.Sprint(e.recorded(t)); strings.Contains(all, "sesame") {
		t.Errorf("records = %s; want no password of a URL", all)
	}
}

// TestAudit_urls has user names in URLs that Go does not read as user names.
func TestAudit_urls(t *testing.T) {
	t.Parallel()

	for _, url := range []string{
		"https:user:sesame@example.com/hooks", "https:/user:sesame@example.com/hooks", "https:///user:sesame@example.com/hooks", "user:sesame@example.com/hooks",
	} {
		for _, body := range []string{
			`{"url":"` + url + `"}`,
			`{"auth":{"type":"oauth2","token_url":"` + url + `","client_id":"c","client_secret":"x"}}`,
		} {
			e := furnish(t)
			if w := e.do(t, chief, "PATCH", endpoints+"/crm", body); w.Code != 400 {
				t.Errorf("PATCH %s = %d; want 400", body, w.Code)
			}
			if all := fmt.Sprint(e.recordedOne(t).Request); strings.Contains(all, "sesame") {
				t.Errorf("PATCH %s: the record has the password: %s", body, all)
			}
		}
	}
}

// TestAudit_targets checks that the target is the id, even if the change made no difference.
func TestAudit_targets(t *testing.T) {
	t.Parallel()

	for _, c := range [][3]string{{"POST", "/pause", ""}, {"PATCH", "", `{"description":"d"}`}, {"POST", "/circuit/open", ""}, {"POST", "/circuit/reset", ""}} {
		e := furnish(t)
		for range 2 {
			if w := e.do(t, chief, c[0], endpoints+"/crm"+c[1], c[2]); w.Code != 200 {
				t.Fatalf("%v = %d %s", c, w.Code, w.Body)
			}
			e.now = e.now.Add(time.Second)
		}
		for _, r := range e.recorded(t) {
			if r.Outcome != "done" || !strings.HasPrefix(r.Target, "ep_") {
				t.Errorf("%s: target %q, outcome %s; want the id, done", r.Action, r.Target, r.Outcome)
			}
		}
	}
}

// TestAudit_aliases checks that the records of an endpoint, also those of refused changes, are
// found under its id and its uid.
func TestAudit_aliases(t *testing.T) {
	t.Parallel()

	e := furnish(t)
	id := get[struct{ ID string }](t, e.bundle, owner, 200, "GET", endpoints+"/crm", "").ID
	targets := func(target string) []string {
		var all []string
		for _, r := range get[struct{ Data []changeView }](t, e.bundle, owner, 200, "GET", "/v1/tenants/acme/audit?target="+target, "").Data {
			all = append(all, r.Outcome+" "+r.Target)
		}
		slices.Sort(all)
		return all
	}
	for _, ref := range []string{"crm", id} {
		if w := e.do(t, chief, "PATCH", endpoints+"/"+ref, `{"description":"d"}`, `If-Match: "99"`); w.Code != 412 {
			t.Fatalf("PATCH = %d %s; want 412", w.Code, w.Body)
		}
		if w := e.do(t, chief, "POST", endpoints+"/"+ref+"/pause", ""); w.Code != 200 {
			t.Fatalf("POST = %d %s; want 200", w.Code, w.Body)
		}
	}
	want := []string{"done " + id, "done " + id, "refused " + id, "refused crm"}
	slices.Sort(want)
	for _, target := range []string{"crm", id} {
		if diff := cmp.Diff(want, targets(target)); diff != "" {
			t.Errorf("the records of %s: %s", target, diff)
		}
	}
	if got := targets("other"); len(got) != 0 {
		t.Errorf("the records of other = %v; want none", got)
	}
	if w := e.do(t, owner, "DELETE", endpoints+"/crm", ""); w.Code != 204 {
		t.Fatalf("DELETE = %d; want 204", w.Code)
	}
	if got := targets(id); len(got) != 4 {
		t.Errorf("the records of the deleted endpoint's id = %v; want 4", got)
	}
	if got := targets("crm"); len(got) != 1 || got[0] != "refused crm" {
		t.Errorf("the records of the deleted endpoint's uid = %v; want the refused one", got)
	}
}

// TestAudit_replayOfAnEvent checks the outcome of a change that responds with several results.
func TestAudit_replayOfAnEvent(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct {
		name, body, outcome string
		lost                bool // the queue takes the tokens, but its response is lost
		change              bool
	}{
		{name: "every replay is refused", body: "", outcome: "refused", lost: false, change: false},
		{name: "some are replayed", body: `{"force":true}`, outcome: "done", lost: false, change: true},
		{name: "Surehook failed", body: `{"force":true}`, outcome: "failed", lost: true, change: false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			p := story(t)
			if tt.body != "" {
				p.die(t)
			}
			if tt.lost {
				now := func() time.Time { return p.now }
				log := slog.New(slog.DiscardHandler)
				p.replays = httpapi.Replay(httpapi.Jobs{
					Eraser: p.eraser, Guard: tenant.Guard{Store: p.store, Now: now}, Audit: &audit.Log{Store: p.changes, Log: log, Now: now},
					Replayer: &replay.Replayer{
						Store: p.store, Queue: lostSend{p.queue}, JobQueue: p.jobs,
						Log: log, Now: now, NewID: hook.NewJobID,
					},
				}, log)
			}
			w := p.do(t, chief, "POST", eventsURL+"/"+string(p.event.ID)+"/replay", tt.body)
			for _, got := range p.recorded(t) {
				if got.Action == "event.replay" && (got.Outcome != tt.outcome || (got.Changes["deliveries"] != nil) != tt.change) {
					t.Errorf("answer %d %s; record = %+v; want %s, with deliveries: %t", w.Code, w.Body, got, tt.outcome, tt.change)
				}
			}
		})
	}
}

// lostSend takes all tokens, but its response is lost.
type lostSend struct{ *memory.TaskQueues }

func (q lostSend) Send(ctx context.Context, queue hook.Queue, tokens []hook.Task, delay time.Duration) []error {
	q.TaskQueues.Send(ctx, queue, tokens, delay)
	errs := make([]error, len(tokens))
	for i := range errs {
		errs[i] = &hook.Error{Code: hook.CodeUnavailable, Message: "no answer"}
	}
	return errs
}

// TestAudit_erasedTwice checks that a second erasure starts nothing.
func TestAudit_erasedTwice(t *testing.T) {
	t.Parallel()

	e := furnish(t)
	for range 2 {
		if w := e.do(t, chief, "DELETE", "/v1/tenants/acme", ""); w.Code != 202 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		e.now = e.now.Add(time.Second)
	}
	if r := e.recorded(t); len(r) != 2 || r[0].Changes != nil || r[1].Changes == nil {
		t.Errorf("records = %+v; want a change in the first alone", r)
	}
}

// TestAudit_values checks old and new values, and that secrets are masked.
func TestAudit_values(t *testing.T) {
	t.Parallel()

	b := setup(t)
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="
	type pairs = map[string]map[string]any
	e := get[object](t, b, chief, 201, "POST", endpoints,
		`{"uid":"crm","url":"https://example.com/a","secret":"`+secret+`","headers":{"Authorization":"open","X-A":"sesame"}}`)
	id := fmt.Sprint(e["id"])
	tests := []struct {
		method, path, body string
		status             int
		request            map[string]any
		want               pairs // the fields that must be in the record
		only               bool  // and no others
	}{
		{
			method: "PATCH", path: endpoints + "/crm", body: `{"url":"https://example.com/b","description":"d"}`, status: 200,
			request: map[string]any{"url": "https://example.com/b", "description": "d"},
			want:    pairs{"url": {"old": "https://example.com/a", "new": "https://example.com/b"}, "description": {"old": "", "new": "d"}}, only: true,
		},
		{
			method: "PATCH", path: endpoints + "/crm", body: `{"description":"d"}`, status: 200,
			request: map[string]any{"description": "d"}, want: nil, only: true,
		},
		{
			method: "PATCH", path: endpoints + "/crm", body: `{"headers":{"X-A":"sesame2","Authorization":"","X-B":"new"}}`, status: 200,
			request: map[string]any{"headers": map[string]any{"X-A": "***", "Authorization": "", "X-B": "***"}},
			want: pairs{"headers": {
				"old": map[string]any{"Authorization": "***", "X-A": "***"}, "new": map[string]any{"X-A": "*** (new value)", "X-B": "***"},
			}}, only: true,
		},
		{
			method: "PATCH", path: endpoints + "/crm", body: `{"auth":{"type":"basic","username":"u","password":"sesame3"}}`, status: 200,
			request: map[string]any{"auth": map[string]any{"type": "basic", "username": "u", "password": "***"}},
			want: pairs{"auth": {
				"old": map[string]any{"type": "none"}, "new": map[string]any{"type": "basic", "username": "u", "password": "***"},
			}}, only: true,
		},
		{
			method: "PATCH", path: endpoints + "/crm", body: `{"auth":{"type":"basic","username":"u","password":"***sesame4"}}`, status: 200,
			request: map[string]any{"auth": map[string]any{"type": "basic", "username": "u", "password": "***"}},
			want: pairs{"auth": {
				"old": map[string]any{"type": "basic", "username": "u", "password": "***"},
				"new": map[string]any{"type": "basic", "username": "u", "password": "*** (new value)"},
			}}, only: true,
		},
		{
			method: "PATCH", path: endpoints + "/crm", body: `{"auth":{"type":"bearer","token":"sesame5"}}`, status: 200,
			request: map[string]any{"auth": map[string]any{"type": "bearer", "token": "***"}},
			want: pairs{"auth": {
				"old": map[string]any{"type": "basic", "username": "u", "password": "***"}, "new": map[string]any{"type": "bearer", "token": "***"},
			}}, only: true,
		},
		{
			method: "POST", path: endpoints + "/crm/pause", status: 200,
			want: pairs{"status": {"old": "active", "new": "paused"}, "reason": {"old": "", "new": "manual"}}, only: true,
		},
		{method: "POST", path: endpoints + "/crm/pause", status: 200, want: nil, only: true},
		{
			method: "POST", path: endpoints + "/crm/rotate-secret", body: `{"secret":"` + secret + `","overlap":"1h"}`, status: 200,
			request: map[string]any{"secret": "***", "overlap": "1h"},
			want: pairs{"secrets": {
				"old": []any{map[string]any{"scheme": "v1", "secret": "***", "created_at": "2026-11-21T09:30:00.000Z"}},
				"new": []any{
					map[string]any{"scheme": "v1", "secret": "***", "created_at": "2026-11-21T09:39:00.000Z"},
					map[string]any{"scheme": "v1", "secret": "***", "created_at": "2026-11-21T09:30:00.000Z", "expires_at": "2026-11-21T10:39:00.000Z"},
				},
			}}, only: true,
		},
		{
			method: "POST", path: endpoints + "/crm/circuit/open", status: 200,
			want: pairs{"circuit_state": {"old": "closed", "new": "open"}}, only: true,
		},
		{
			method: "PUT", path: "/v1/tenants/acme/limits", body: `{"endpoints":7}`, status: 200, request: map[string]any{"endpoints": 7.0},
			want: pairs{"endpoints": {"new": 7.0}}, only: true,
		},
		{method: "DELETE", path: "/v1/tenants/acme/limits", status: 204, want: pairs{"endpoints": {"old": 7.0}}, only: true},
		{method: "DELETE", path: endpoints + "/crm", status: 204, want: pairs{"url": {"old": "https://example.com/b"}, "uid": {"old": "crm"}}},
	}
	for _, tt := range tests {
		b.now = b.now.Add(time.Minute)
		if w := b.do(t, chief, tt.method, tt.path, tt.body); w.Code != tt.status {
			t.Fatalf("%s %s = %d %s; want %d", tt.method, tt.path, w.Code, w.Body, tt.status)
		}
		got := b.recorded(t)[0]
		if diff := cmp.Diff(tt.request, got.Request); diff != "" {
			t.Errorf("request of %s %s (-want +got):\n%s", tt.method, tt.path, diff)
		}
		if !tt.only {
			for field := range got.Changes {
				if tt.want[field] == nil {
					delete(got.Changes, field)
				}
			}
		}
		if diff := cmp.Diff(tt.want, got.Changes); diff != "" {
			t.Errorf("changes of %s %s (-want +got):\n%s", tt.method, tt.path, diff)
		}
		if target := got.Target; strings.Contains(tt.path, "/crm") && target != id && got.Changes != nil {
			t.Errorf("target of %s %s = %s; want the id %s", tt.method, tt.path, target, id)
		}
	}
	stored, _, err := b.store.AuditRecords(t.Context(), "acme", hook.AuditSpan{}, "", 100)
	if err != nil || len(stored) != len(tests)+1 {
		t.Fatalf("AuditRecords() = %d, %v; want %d", len(stored), err, len(tests)+1)
	}
	for _, r := range stored {
		for _, word := range []string{"sesame", secret, "open\""} {
			if r.Action != "circuit.open" && strings.Contains(string(r.Request)+string(r.Changes), word) {
				t.Errorf("the record of %s holds %s: %s %s", r.Action, word, r.Request, r.Changes)
			}
		}
	}
}

// TestAudit_tls replaces the authorities of an endpoint. The responses before and after are the
// same, but the record must show the change.
func TestAudit_tls(t *testing.T) {
	t.Parallel()

	b := setup(t)
	set := func(method, path, ca string, status int) {
		t.Helper()
		body, err := json.Marshal(map[string]any{"url": "https://example.com/a", "tls": map[string]string{"ca": ca}})
		if err != nil {
			t.Fatal(err)
		}
		b.now = b.now.Add(time.Minute)
		if w := b.do(t, chief, method, path, string(body)); w.Code != status {
			t.Fatalf("%s %s = %d %s; want %d", method, path, w.Code, w.Body, status)
		}
	}
	first, _ := certificate.Authority(t, "first")
	second, _ := certificate.Authority(t, "second")
	set("POST", endpoints, first, 201)
	path := endpoints + "/" + b.recorded(t)[0].Target
	set("PATCH", path, second, 200)
	changed := b.recorded(t)[0].Changes["tls"]
	if changed == nil || cmp.Equal(changed["old"], changed["new"]) || strings.Contains(fmt.Sprint(changed), "BEGIN") {
		t.Errorf("changes of tls = %v; want another material, without its text", changed)
	}
	set("PATCH", path, "***", 200)
	if got := b.recorded(t)[0].Changes; len(got) != 0 {
		t.Errorf("changes = %v; want none for the stored settings", got)
	}
}

// TestAudit_keys checks that keys are recorded outside of the tenants, without the key.
func TestAudit_keys(t *testing.T) {
	t.Parallel()

	b := setup(t)
	k := get[object](t, b, chief, 201, "POST", "/v1/keys", `{"name":"backend","tenant":"acme","scopes":["read"]}`)
	b.now = b.now.Add(time.Minute)
	if w := b.do(t, chief, "DELETE", "/v1/keys/"+fmt.Sprint(k["id"]), ""); w.Code != 204 {
		t.Fatalf("DELETE = %d; want 204", w.Code)
	}
	list := get[struct{ Data []changeView }](t, b, chief, 200, "GET", "/v1/audit", "")
	if len(list.Data) != 2 {
		t.Fatalf("records = %+v; want two", list)
	}
	revoked, created := list.Data[0], list.Data[1]
	if created.Action != "key.create" || created.Target != k["id"] || created.Changes["name"]["new"] != "backend" ||
		revoked.Action != "key.revoke" || revoked.Target != k["id"] || revoked.Changes["tenant"]["old"] != "acme" {
		t.Errorf("records = %+v; want the key with its fields", list.Data)
	}
	if text := fmt.Sprint(list); strings.Contains(text, fmt.Sprint(k["key"])) {
		t.Errorf("records hold the key: %s", text)
	}
	if own := get[struct{ Data []changeView }](t, b, owner, 200, "GET", "/v1/tenants/acme/audit", ""); len(own.Data) != 0 {
		t.Errorf("acme's records = %+v; want none: keys are the operator's", own)
	}
}

func TestAudit_filters(t *testing.T) {
	t.Parallel()

	b := setup(t)
	for i := range 1201 {
		r := hook.AuditRecord{
			ID: hook.NewAuditID(), Tenant: "acme", At: b.now.Add(time.Duration(i) * time.Minute), Key: "key_1", Action: "endpoint.change",
			Target: "ep_1", Outcome: hook.AuditDone, ExpiresAt: b.now.Add(hook.AuditKept),
		}
		if i%500 == 0 { // 0, 500, 1000
			r.Key, r.Target, r.Action = "key_2", "ep_2", "endpoint.pause"
		}
		if err := b.store.PutAudit(t.Context(), r); err != nil {
			t.Fatalf("PutAudit = %v", err)
		}
	}
	tests := []struct {
		query string
		want  int
		pages int // at most this many pages
	}{
		{query: "limit=100", want: 1201, pages: 13},
		{query: "limit=7&until=2026-11-21T09:50:00Z", want: 20, pages: 3},
		{query: "since=2026-11-22T05:25:00.000Z&limit=100", want: 6, pages: 1},
		{query: "key=key_2&limit=2", want: 3, pages: 2},
		{query: "target=ep_2&limit=1", want: 3, pages: 3},
		{query: "action=endpoint.pause&limit=3", want: 3, pages: 2},
		{query: "action=endpoint.pause&target=ep_1", want: 0, pages: 2},
		{query: "key=key_1&limit=50&since=2026-11-22T05:25:00%2B00:00", want: 6, pages: 1},
	}
	for _, tt := range tests {
		seen, cursor := make(map[string]bool), ""
		for pages := 1; ; pages++ {
			page := get[struct {
				Data []changeView
				Next *string `json:"next_cursor"`
			}](t, b, owner, 200, "GET", "/v1/tenants/acme/audit?"+tt.query+"&cursor="+url.QueryEscape(cursor), "")
			for _, r := range page.Data {
				if seen[r.ID] {
					t.Errorf("%s: %s is listed twice", tt.query, r.ID)
				}
				seen[r.ID] = true
			}
			if page.Next == nil {
				break
			}
			if cursor = *page.Next; pages >= tt.pages {
				t.Fatalf("%s: more than %d pages", tt.query, tt.pages)
			}
		}
		if len(seen) != tt.want {
			t.Errorf("%s: %d records; want %d", tt.query, len(seen), tt.want)
		}
	}
	for _, query := range []string{"since=yesterday", "until=1", "key=", "action=", "target=", "who=1", "cursor=x", "limit=0"} {
		if w := b.do(t, owner, "GET", "/v1/tenants/acme/audit?"+query, ""); w.Code != 400 {
			t.Errorf("%s = %d %s; want 400", query, w.Code, w.Body)
		}
	}
}
