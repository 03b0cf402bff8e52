package formats_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/admin/apikey"
	"surehook.example/surehook/internal/admin/audit"
	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/admin/eventtype"
	"surehook.example/surehook/internal/admin/status"
	adminTenant "surehook.example/surehook/internal/admin/tenant"
	"surehook.example/surehook/internal/delivery/egress"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/httpapi"
	"surehook.example/surehook/internal/memory"
)

// listPaths returns the lists of the contract with a cursor, with filters where they lead to
// another cursor; by the name of the list.
func listPaths() map[string]string {
	of := strings.NewReplacer("{tenant}", string(tenant), "{endpoint}", string(first), "{event}", string(event(0).ID))
	paths := make(map[string]string)
	for _, path := range []string{
		"/v1/audit", "/v1/event-types?archived=true", "/v1/keys", "/v1/tenants", "/v1/tenants?prefix=erased-",
		"/v1/tenants/{tenant}/attention", "/v1/tenants/{tenant}/audit", "/v1/tenants/{tenant}/dead-letters", "/v1/tenants/{tenant}/deliveries", "/v1/tenants/{tenant}/deliveries?state=dead",
		"/v1/tenants/{tenant}/endpoints", "/v1/tenants/{tenant}/endpoints?slow=false", "/v1/tenants/{tenant}/endpoints/{endpoint}/decisions",
		"/v1/tenants/{tenant}/endpoints/{endpoint}/deliveries", "/v1/tenants/{tenant}/events", "/v1/tenants/{tenant}/events/{event}/attempts",
		"/v1/tenants/{tenant}/events/{event}/deliveries", "/v1/tenants/{tenant}/replays",
	} {
		paths[path] = of.Replace(path)
	}
	return paths
}

// api returns the API over the store. Only replays need a queue.
func api(s *memory.Store, queue *memory.TaskQueues) http.Handler {
	log := slog.New(slog.DiscardHandler)
	endpoints := &endpoint.Admin{Store: s, Vault: memory.Vault{}, Policy: egress.Policy{}, Now: now}
	record, guard := &audit.Log{Store: s, Log: log, Now: now}, adminTenant.Guard{Store: s, Now: now}
	admin := httpapi.Admin{
		Endpoints: endpoints, Keys: &apikey.Issuer{Store: s, Now: now}, Links: &apikey.Links{Store: s, Now: now},
		Status:  &status.Reader{Endpoints: endpoints, Store: s, Now: now},
		Tenants: &adminTenant.Admin{Store: s, Retention: 90 * 24 * time.Hour}, Types: &eventtype.Admin{Store: s, Now: now}, Guard: guard, Audit: record,
	}
	jobs := httpapi.Jobs{Replayer: &replay.Replayer{Store: s, Queue: queue, Now: now, Log: log}, Guard: guard, Audit: record}
	return httpapi.All(nil, jobs, admin, log)
}

// page is a page of a list, with what its items are.
type page struct {
	Data []map[string]any `json:"data"`
	Next *string          `json:"next_cursor"`
}

// get reads a page.
func get(t *testing.T, h http.Handler, path string) (page, string) {
	t.Helper()

	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	caller := hook.Principal{Key: caller, Tenant: hook.AllTenants, Scopes: []hook.Scope{hook.ScopeAdmin}}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r.WithContext(httpapi.WithPrincipal(r.Context(), caller)))
	body, _ := io.ReadAll(w.Body)
	var p page
	if w.Code != http.StatusOK {
		return p, string(body)
	}
	if err := json.Unmarshal(body, &p); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return p, ""
}

func with(path, name, value string) string {
	sign := "?"
	if strings.Contains(path, "?") {
		sign = "&"
	}
	return path + sign + name + "=" + url.QueryEscape(value)
}

// cursors returns the cursor after the first item of each list, of the contract and inside.
func cursors(t *testing.T, s *memory.Store) map[string]string {
	t.Helper()

	s.Table.Now = now
	all := make(map[string]string)
	for name, path := range listPaths() {
		p, problem := get(t, api(s, nil), with(path, "limit", "1"))
		if problem != "" || p.Next == nil {
			t.Fatalf("%s: %+v %s; want a page with a cursor", path, p, problem)
		}
		all[name] = *p.Next
	}
	widest := hook.Target{Endpoint: first, Shards: hook.MaxShards}
	_, next, err := s.Select(t.Context(), replay.Selection{Target: widest, State: hook.StateDead, Limit: 1})
	if all["replay of dead deliveries"] = next; err != nil || next == "" {
		t.Fatalf("Select() = %q, %v; want a cursor", next, err)
	}
	_, next, err = s.SelectEvents(t.Context(), tenant, replay.Selection{Target: widest, Limit: 1})
	if all["replay of events"] = next; err != nil || next == "" {
		t.Fatalf("SelectEvents() = %q, %v; want a cursor", next, err)
	}
	return all
}

// lists reads the rest of each list.
func (r *reader) lists(cursors map[string]string) map[string]any {
	shown := make(map[string]any)
	h, paths := api(r.Store, nil), listPaths()
	widest := hook.Target{Endpoint: first, Shards: hook.MaxShards}
	for name, cursor := range cursors {
		switch {
		case name == "replay of dead deliveries":
			selected, _, err := r.Select(r.ctx, replay.Selection{Target: widest, State: hook.StateDead, After: cursor, Limit: 100})
			shown[name] = r.show(ids(selected, refOf), err)
		case name == "replay of events":
			events, _, err := r.SelectEvents(r.ctx, tenant, replay.Selection{Target: widest, After: cursor, Limit: 100})
			places := make([]any, len(events))
			for i, e := range events {
				places[i] = map[string]any{"ID": e.ID, "AcceptedAt": e.AcceptedAt.UnixMilli()}
			}
			shown[name] = r.show(places, err)
		case paths[name] == "":
			shown[name] = "no list has this name now"
		default:
			p, problem := get(r.t, h, with(paths[name], "cursor", cursor))
			var rest []any
			for _, item := range p.Data {
				for _, id := range []string{"id", "event_type", "at"} {
					if item[id] != nil {
						rest = append(rest, item[id])
						break
					}
				}
			}
			if shown[name] = rest; problem != "" {
				shown[name] = problem
			}
		}
	}
	return shown
}
