package httpapi_test

import (
	"strings"
	"testing"

	"surehook.example/surehook/internal/hook"
)

func TestErasePayload(t *testing.T) {
	t.Parallel()

	e := furnish(t)
	const posted = `{"event_type":"a","payload":{"name":"Zoe"},"idempotency_key":"k1"}`
	event := eventsURL + "/" + get[struct{ ID string }](t, e.bundle, owner, 202, "POST", eventsURL, posted).ID
	if w := e.do(t, owner, "DELETE", event+"/payload", ""); w.Code != 204 {
		t.Fatalf("DELETE = %d %s; want 204", w.Code, w.Body)
	}
	got := get[object](t, e.bundle, owner, 200, "GET", event, "")
	if got["payload"] != nil || got["erased_at"] != "2026-11-21T09:30:00.000Z" || got["event_type"] != "a" || got["idempotency_key"] != "k1" {
		t.Errorf("event = %v; want all but the payload", got)
	}
	list := get[struct{ Data []object }](t, e.bundle, owner, 200, "GET", event+"/deliveries", "")
	if len(list.Data) != 1 || list.Data[0]["state"] != "cancelled" || list.Data[0]["reason"] != "erased" || list.Data[0]["by"] != string(owner.Key) {
		t.Errorf("deliveries = %v; want one, cancelled by the owner", list.Data)
	}
	if w := e.do(t, owner, "POST", event+"/replay", `{"force":true}`); w.Code != 409 || !strings.Contains(w.Body.String(), "was erased") {
		t.Errorf("replay = %d %s; want 409", w.Code, w.Body)
	}
	if w := e.do(t, owner, "POST", eventsURL, posted); w.Code != 409 || !strings.Contains(w.Body.String(), "was erased") {
		t.Errorf("repeated post = %d %s; want 409", w.Code, w.Body)
	}
	if w := e.do(t, owner, "DELETE", event+"/payload", ""); w.Code != 204 {
		t.Errorf("DELETE again = %d %s; want 204", w.Code, w.Body)
	}
	cancelled := make(map[any]int)
	for _, c := range e.recorded(t) {
		if c.Action == "event.erase" {
			cancelled[c.Changes["cancelled"]["new"]]++
		}
	}
	if cancelled[1.0] != 1 || cancelled[0.0] != 1 {
		t.Errorf("erasures by cancelled deliveries = %v; want one of one, and one of none", cancelled)
	}

	// The bodies of responses are gone, too.
	failed := eventsURL + "/" + string(e.delivery.Event)
	if attempts := e.do(t, owner, "GET", failed+"/attempts", ""); !strings.Contains(attempts.Body.String(), `"body"`) {
		t.Fatalf("attempts = %s; want a body before the erasure", attempts.Body)
	}
	if w := e.do(t, owner, "DELETE", failed+"/payload", ""); w.Code != 204 {
		t.Fatalf("DELETE = %d %s; want 204", w.Code, w.Body)
	}
	for _, path := range []string{"/attempts", "/deliveries"} {
		if w := e.do(t, owner, "GET", failed+path, ""); strings.Contains(w.Body.String(), `"body"`) {
			t.Errorf("%s = %s; want no body", path, w.Body)
		}
	}
	for _, id := range []string{"evt_nonsense", string(hook.KeyedEventID("acme", "unknown"))} {
		if w := e.do(t, owner, "DELETE", eventsURL+"/"+id+"/payload", ""); w.Code != 404 {
			t.Errorf("DELETE %s = %d; want 404", id, w.Code)
		}
	}
}
