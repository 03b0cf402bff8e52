package httpapi_test

import (
	"strings"
	"testing"
	"time"
)

// TestEraseTenant erases a tenant while it is in use, and then uses its name again.
func TestEraseTenant(t *testing.T) {
	t.Parallel()

	e := furnish(t)
	started := get[object](t, e.bundle, admin, 202, "DELETE", "/v1/tenants/acme", "")
	job := "/v1/tenants/acme/erasures/" + idOf(t, started)
	if started["state"] != "running" || started["by"] != string(admin.Key) {
		t.Errorf("DELETE = %v; want a running job", started)
	}
	if again := get[object](t, e.bundle, admin, 202, "DELETE", "/v1/tenants/acme", ""); again["id"] != started["id"] {
		t.Errorf("DELETE again = %v; want the job %v", again, started["id"])
	}
	const posted = `{"event_type":"a","payload":1}`
	for _, change := range []struct{ method, path, body string }{
		{"POST", eventsURL, posted},
		{"POST", "/v1/tenants/acme/endpoints", `{"url":"https://example.com/"}`},
		{"POST", "/v1/tenants/acme/endpoints/crm/test", ""},
		{"POST", "/v1/tenants/acme/deliveries/" + e.dead.String() + "/replay", ""},
		{"POST", "/v1/tenants/acme/replays", `{"filter":{}}`},
		{"PUT", "/v1/tenants/acme/limits", `{"endpoints":5}`},
		{"POST", "/v1/keys", `{"name":"a","tenant":"acme","scopes":["read"]}`},
	} {
		w := e.do(t, admin, change.method, change.path, change.body)
		if w.Code != 409 || !strings.Contains(w.Body.String(), "tenant_closing") || !strings.Contains(w.Body.String(), "tenant acme") {
			t.Errorf("%s %s = %d %s; want 409 tenant_closing", change.method, change.path, w.Code, w.Body)
		}
	}
	batch := e.do(t, admin, "POST", eventsURL+"/batch", `{"events":[`+posted+`]}`)
	if !strings.Contains(batch.Body.String(), "tenant_closing") {
		t.Errorf("batch = %d %s; want tenant_closing", batch.Code, batch.Body)
	}

	for at, ok := e.jobs.Next(); ok; at, ok = e.jobs.Next() {
		if at.After(e.now) {
			e.now = at
		}
		for _, m := range e.jobs.Receive(1) {
			if m.Job.Erasure == "" { // the replay job of the estate
				e.jobs.Delete(m.ID)
				continue
			}
			if err := e.eraser.Work(t.Context(), m.Job); err != nil {
				t.Fatal(err)
			}
			e.jobs.Delete(m.ID)
		}
	}
	done := get[object](t, e.bundle, admin, 200, "GET", job, "")
	removed, _ := done["removed"].(object)
	if done["state"] != "finished" || removed["endpoints"] != 1.0 || removed["keys"] != 4.0 || removed["events"] != 2.0 {
		t.Errorf("GET = %v; want a finished job", done)
	}
	if took := e.now.Sub(time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)); took > 10*time.Minute {
		t.Errorf("the job took %v; want the time of the pauses", took)
	}
	if left := e.store.Remains("acme"); len(left) > 0 {
		t.Errorf("left of acme: %v", left)
	}
	changes := get[struct{ Data []object }](t, e.bundle, admin, 200, "GET", "/v1/tenants/acme/audit?action=tenant.erase", "")
	if len(changes.Data) != 2 || changes.Data[0]["outcome"] != "done" || changes.Data[0]["target"] != "acme" {
		t.Errorf("changes = %v; want the two requests", changes.Data)
	}
	if w := e.do(t, admin, "POST", eventsURL, posted); w.Code != 202 {
		t.Errorf("POST(erased) = %d %s; want a new tenant", w.Code, w.Body)
	}
	if w := e.do(t, admin, "GET", "/v1/tenants/globex/erasures/"+idOf(t, started), ""); w.Code != 404 {
		t.Errorf("GET(of another tenant) = %d; want 404", w.Code)
	}
}
