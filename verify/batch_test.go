package verify_test

import (
	"errors"
	"testing"
	"time"

	"surehook.example/surehook/verify"
)

func TestEvents_KeepsThePayloads(t *testing.T) {
	t.Parallel()

	const payload = `{ "total":  1.0 , "html":"<&>" }`
	events, err := verify.Events([]byte(`{"type":"webhook.batch","id":"bat_1","events":[` +
		`{"id":"evt_1","type":"order.paid","accepted_at":"2026-11-21T09:30:00.000Z","delivery_id":"dlv_1","attempt":2,"payload":` + payload + `},` +
		`{"id":"evt_2","type":"order.paid","accepted_at":"2026-11-21T09:30:01.000Z","delivery_id":"dlv_2","attempt":1,"payload":null}]}`))
	if err != nil || len(events) != 2 {
		t.Fatalf("Events() = %v, %v", events, err)
	}
	first := events[0]
	if first.ID != "evt_1" || first.Type != "order.paid" || first.DeliveryID != "dlv_1" || first.Attempt != 2 || string(first.Payload) != payload {
		t.Errorf("the first event = %+v", first)
	}
	if at := time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC); !first.AcceptedAt.Equal(at) || string(events[1].Payload) != "null" {
		t.Errorf("the events = %+v", events)
	}
}

func TestEvents_OtherBodies(t *testing.T) {
	t.Parallel()

	for _, body := range []string{``, `[]`, `{}`, `{"type":"webhook.batch","events":[]}`, `{"type":"order.paid","events":[{"id":"evt_1"}]}`} {
		if events, err := verify.Events([]byte(body)); !errors.Is(err, verify.ErrBatch) {
			t.Errorf("Events(%s) = %v, %v; want ErrBatch", body, events, err)
		}
	}
}
