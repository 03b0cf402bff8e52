package httpapi_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"surehook.example/surehook/internal/hook"
)

// TestPayloadBytes checks that the bytes that are stored, signed and delivered, and those in the
// response, are the posted bytes.
func TestPayloadBytes(t *testing.T) {
	t.Parallel()

	tests := []struct{ name, payload string }{
		{name: "white space inside", payload: "{ \"a\" :\t[ 1 ,\r\n 2 ] }"},
		{name: "the order of names", payload: `{"b":1,"a":2,"":3}`},
		{name: "escapes", payload: `"\u00e9\/\u003c\ud83d\ude00é<>&` + "\u2028" + `"`},
		{name: "large and odd numbers", payload: `[12345678901234567890123456789, 1.0, 1e400, -0, 1E+2]`},
		{name: "null", payload: "null"},
		{name: "a string that looks like the end", payload: `"\"}}"`},
		{name: "the largest", payload: `"` + strings.Repeat("x", hook.MaxPayload-2) + `"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			accepted := get[object](t, b, owner, 202, "POST", eventsURL, "{ \"payload\" :  "+tt.payload+" \n, \"event_type\":\"a\"}")
			id := idOf(t, accepted)
			stored, err := b.store.Event(t.Context(), hook.EventID(id))
			if err != nil || string(stored.Payload) != tt.payload {
				t.Errorf("stored payload = %.200q, %v; want %.200q", stored.Payload, err, tt.payload)
			}
			w := b.do(t, reader, "GET", eventsURL+"/"+id, "")
			if w.Code != 200 || !strings.HasSuffix(w.Body.String(), `,"payload":`+tt.payload+"}") {
				t.Errorf("GET = %d %.300s; want the payload %.200s", w.Code, w.Body, tt.payload)
			}
		})
	}
}

func TestEvents_post(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.create(t, `{"url":"https://example.com/","event_types":["order.*"]}`)
	const body = `{"event_type":"order.paid","payload":1}`
	w := b.do(t, owner, "POST", eventsURL, body, "Idempotency-Key: k", "Content-Type: application/json; charset=utf-8")
	id := hook.KeyedEventID("acme", "k")
	if want := fmt.Sprintf(`{"id":%q,"deliveries":1,"duplicate":false}`, id); w.Code != 202 || w.Body.String() != want {
		t.Errorf("POST = %d %s; want 202 %s", w.Code, w.Body, want)
	}
	again := `{"event_type":"order.paid","payload":1,"idempotency_key":"k"}`
	w = b.do(t, owner, "POST", eventsURL, again, "Idempotency-Key: k")
	if want := fmt.Sprintf(`{"id":%q,"deliveries":1,"duplicate":true}`, id); w.Code != 202 || w.Body.String() != want {
		t.Errorf("second POST = %d %s; want 202 %s", w.Code, w.Body, want)
	}
	w = b.do(t, owner, "POST", eventsURL, "\ufeff"+`{"event_type":"order.paid","payload":2}`, "Idempotency-Key: k") // with a byte order mark
	if w.Code != 409 {
		t.Errorf("POST of other content = %d %s; want 409", w.Code, w.Body)
	}

	lines := b.lines(t, "event.ingested")
	if len(lines) != 2 || lines[0]["event_id"] != string(id) || lines[0]["event_type"] != "order.paid" ||
		lines[0]["deliveries"] != 1.0 || lines[0]["duplicate"] != nil || lines[1]["duplicate"] != true {
		t.Errorf("event.ingested = %v; want one per accepted event", lines)
	}
}

// TestEvents_reusedKey posts two payloads that differ only in the order of their keys.
func TestEvents_reusedKey(t *testing.T) {
	t.Parallel()

	b := setup(t)
	for _, step := range []struct {
		payload string
		want    int
	}{{`{"a":1,"b":2}`, 202}, {`{"b":2,"a":1}`, 409}, {`{"a":1,"b":2}`, 202}} {
		w := b.do(t, owner, "POST", eventsURL, `{"event_type":"a","payload":`+step.payload+`}`, "Idempotency-Key: k")
		if w.Code != step.want {
			t.Errorf("POST of %s = %d %s; want %d", step.payload, w.Code, w.Body, step.want)
		}
	}
}

func TestEvents_traceparent(t *testing.T) {
	t.Parallel()

	const good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	tests := []struct{ name, header, want string }{
		{name: "none", header: "", want: ""},
		{name: "a valid one", header: good, want: good},
		{name: "upper case", header: strings.ToUpper(good), want: ""},
		{name: "a later version", header: "01" + good[2:], want: good},
		{name: "too short", header: good[:54], want: ""},
		{name: "too long", header: good + "-x", want: ""},
		{name: "no trace id", header: "00-00000000000000000000000000000000-00f067aa0ba902b7-01", want: ""},
		{name: "no parent id", header: "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", want: ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			accepted := get[object](t, b, owner, 202, "POST", eventsURL, `{"event_type":"a","payload":1}`, "Traceparent: "+tt.header)
			stored, err := b.store.Event(t.Context(), hook.EventID(idOf(t, accepted)))
			if err != nil || stored.TraceParent != tt.want {
				t.Errorf("stored traceparent = %q, %v; want %q", stored.TraceParent, err, tt.want)
			}
			logged, _ := b.lines(t, "event.ingested")[0]["trace_id"].(string)
			if want := stored.TraceParent[min(3, len(tt.want)):min(35, len(tt.want))]; logged != want {
				t.Errorf("event.ingested has the trace id %q; want %q", logged, want)
			}
		})
	}
}

func TestEvents_batch(t *testing.T) {
	t.Parallel()

	b := setup(t)
	large := `"` + strings.Repeat("x", hook.MaxPayload-1) + `"`
	body := `{"events":[
		{"event_type":"a","payload":1,"idempotency_key":"k1"},
		{"event_type":"webhook.x","payload":1},
		{"event_type":"a","payload":` + large + `},
		{"event_type":"a","payload":1,"idempotency_key":""},
		{"event_type":"b","payload":null,"idempotency_key":"k2"}]}`
	w := b.do(t, owner, "POST", eventsURL+"/batch", body)
	want := fmt.Sprintf(`{"data":[{"id":%q,"deliveries":0,"duplicate":false,"reason":"no endpoint subscribes, or its filter leaves the event out"},{"error":%s},{"error":%s},{"error":%s},{"id":%q,"deliveries":0,"duplicate":false,"reason":"no endpoint subscribes, or its filter leaves the event out"}]}`,
		hook.KeyedEventID("acme", "k1"),
		invalid("event_type", "types that begin with webhook. are made by Surehook only"),
		strings.TrimSuffix(plain(413, "too_large", "the event is too large"), "}")+`,"errors":[{"field":"payload","message":"must be at most 262144 bytes"}]}`,
		invalid("idempotency_key", "must not be empty"),
		hook.KeyedEventID("acme", "k2"))
	if w.Code != 207 || w.Body.String() != want {
		t.Errorf("POST = %d %s; want 207 %s", w.Code, w.Body, want)
	}
	if lines := b.lines(t, "event.ingested"); len(lines) != 2 || lines[1]["event_type"] != "b" {
		t.Errorf("event.ingested = %v; want two lines", lines)
	}
}

func TestEvents_batch_refusals(t *testing.T) {
	t.Parallel()

	const one = `{"event_type":"a","payload":1}`
	tests := []struct {
		name, body, header string
		status             int
		want               string
	}{
		{name: "no events", body: `{}`, header: "", status: 400, want: invalid("events", "is missing")},
		{name: "101 events", body: `{"events":[` + strings.Repeat(one+",", 100) + one + `]}`, header: "", status: 400, want: invalid("events", "must hold 1 to 100 events")},
		{name: "an event that is none", body: `{"events":[` + one + `,null]}`, header: "", status: 400, want: invalid("events[1]", "must not be null")},
		{name: "an unknown field in one", body: `{"events":[` + one + `,{"typ":"a"}]}`, header: "", status: 400, want: invalid("events[1].typ", "is not a known field: did you mean event_type?")},
		{
			name: "the key header", body: `{"events":[` + one + `]}`, header: "Idempotency-Key: k", status: 400,
			want: invalid("idempotency_key", "each event of a batch has its own; the header Idempotency-Key is for single events"),
		},
		{
			name: "too large a body", body: `{"events":[` + one + `]}` + strings.Repeat(" ", hook.MaxBatchBytes), header: "", status: 413,
			want: plain(413, "too_large", "the body must be at most 3080192 bytes"),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			var headers []string
			if tt.header != "" {
				headers = []string{tt.header}
			}
			w := b.do(t, owner, "POST", eventsURL+"/batch", tt.body, headers...)
			if w.Code != tt.status || w.Body.String() != tt.want {
				t.Errorf("POST = %d %s; want %d %s", w.Code, w.Body, tt.status, tt.want)
			}
			if lines := b.lines(t, "event.ingested"); len(lines) != 0 {
				t.Errorf("event.ingested = %v; want none accepted", lines)
			}
		})
	}

	t.Run("a fault of ours is logged and not shown", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		b.refuse(errors.New("the table is gone"))
		w := b.do(t, owner, http.MethodPost, eventsURL+"/batch", `{"events":[`+one+`]}`)
		want := `{"data":[{"error":` + plain(500, "internal", "something went wrong on our side") + `}]}`
		if w.Code != 207 || w.Body.String() != want {
			t.Errorf("POST = %d %s; want 207 %s", w.Code, w.Body, want)
		}
		if lines := b.lines(t, "event.refused"); len(lines) != 1 || lines[0]["error"] != "the table is gone" {
			t.Errorf("event.refused = %v; want the cause", lines)
		}
	})
}

// TestLog checks that the log line of a request contains neither its query nor its body.
func TestLog(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) { // where no post is slow
		b := setup(t)
		b.do(t, owner, "POST", eventsURL+"?token=hush", `{"event_type":"a","payload":"hush"}`, "Authorization: Bearer hush")
		b.do(t, owner, "GET", endpoints+"?cursor=hush", "")
		if strings.Contains(b.log.String(), "hush") {
			t.Errorf("log = %s; want nothing that callers send", b.log)
		}
		accepted, lines := b.lines(t, "event.ingested"), b.lines(t, "request.handled")
		if len(accepted) != 1 || len(lines) != 1 {
			t.Fatalf("log = %s; want one line per request", b.log)
		}
		want := object{"method": "GET", "route": "/v1/tenants/{tenant}/endpoints", "tenant": "acme", "key_id": "key_owner", "status": 400.0, "code": "invalid"}
		for name, value := range want {
			if lines[0][name] != value {
				t.Errorf("%s = %v; want %v", name, lines[0][name], value)
			}
		}
		if _, ok := lines[0]["duration_ms"].(float64); !ok {
			t.Errorf("line %v; want the duration", lines[0])
		}
		if _, ok := accepted[0]["duration_ms"]; ok || accepted[0]["key_id"] != "key_owner" {
			t.Errorf("line %v; want the key, and the duration of a slow post only", accepted[0])
		}
	})
}
