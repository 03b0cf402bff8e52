package httpapi_test

import (
	"strings"
	"testing"

	"surehook.example/surehook/internal/hook"
)

// TestDeadLetters_blocking: of two ordered deliveries the first is dead. The dead letters that block name
// it, and the other says for which number it waits.
func TestDeadLetters_blocking(t *testing.T) {
	t.Parallel()

	b := setup(t)
	get[object](t, b, owner, 201, "POST", endpoints, `{"url":"https://example.com/","uid":"carts","ordered":true}`)
	post := func(key string) object {
		return get[object](t, b, owner, 202, "POST", "/v1/tenants/acme/events", `{"event_type":"cart.changed","payload":1,"ordering_key":"cart-7","idempotency_key":"`+key+`"}`)
	}
	of := func(event object) object {
		return get[struct{ Data []object }](t, b, owner, 200, "GET", "/v1/tenants/acme/events/"+idOf(t, event)+"/deliveries", "").Data[0]
	}
	first, second := of(post("1")), of(post("2"))
	e, err := b.store.Event(t.Context(), hook.KeyedEventID("acme", "1"))
	if err != nil {
		t.Fatal(err)
	}
	d := hook.QueuedDelivery(e, e.Targets[0])
	d.State, d.Reason, d.UpdatedAt = hook.StateDead, hook.ReasonExhausted, b.now
	if err := b.store.SaveDelivery(t.Context(), d, nil); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"/dead-letters?blocking=true&endpoint=carts": `"ordering":{"key":"cart-7","number":1,"behind":1}`,
		"/dead-letters?blocking=false":               `"ordering":{"key":"cart-7","number":1}`,
		"/deliveries/" + idOf(t, first):              `"ordering":{"key":"cart-7","number":1,"behind":1}`,
		"/deliveries/" + idOf(t, second):             `"ordering":{"key":"cart-7","number":2,"waits_for":{"number":1,"delivery_id":"` + idOf(t, first) + `","state":"dead","reason":"exhausted","since":"2026-11-21T09:30:00.000Z"}}`,
	}
	for path, text := range want {
		if w := b.do(t, owner, "GET", "/v1/tenants/acme"+path, ""); w.Code != 200 || !strings.Contains(w.Body.String(), text) {
			t.Errorf("GET %s = %d %s; want %s", path, w.Code, w.Body, text)
		}
	}
	if w := b.do(t, owner, "GET", "/v1/tenants/acme/dead-letters?blocking=perhaps", ""); w.Code != 400 || !strings.Contains(w.Body.String(), `"field":"blocking"`) {
		t.Errorf("GET blocking=perhaps = %d %s; want 400 with the field", w.Code, w.Body)
	}
}
