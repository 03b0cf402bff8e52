package deliver_test

import (
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/trace"
	"surehook.example/surehook/proof/world"
)

// The trace of an event reaches every attempt. If a caller gave it, every log line about an
// attempt names it; otherwise the event's id contains it.
func TestProcessBatch_CarriesTheTrace(t *testing.T) {
	t.Parallel()

	const given = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	tests := []struct {
		name, header string
		lines        int // with a trace id
	}{
		{name: "given", header: given, lines: 2},
		{name: "begun"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w := setup(t)
			w.Endpoint(nil)
			w.Answer = world.Always(500)
			accepted, err := w.Acceptor().Accept(t.Context(), world.Tenant, ingest.Request{Type: "order.paid", Payload: []byte(`1`), TraceParent: tt.header})
			if err != nil || accepted.Deliveries != 1 {
				t.Fatalf("Accept() = %+v, %v; want one delivery", accepted, err)
			}
			w.Invoke(hook.QueueLive)
			w.Clock.Pass(10 * time.Second)
			w.Invoke(hook.QueueRetry)
			if len(w.Posts) != 2 {
				t.Fatalf("%d requests; want 2", len(w.Posts))
			}
			want := trace.Of(&hook.Event{ID: accepted.ID, TraceParent: tt.header})
			for i, post := range w.Posts {
				if got := trace.Of(post.Event); got != want || got != accepted.Trace || post.Event.TraceParent != tt.header {
					t.Errorf("request %d has the trace %+v of %q; want %+v of %q", i+1, got, post.Event.TraceParent, want, tt.header)
				}
			}
			if n := strings.Count(w.Log.String(), `"trace_id":"`+want.String()+`"`); n != tt.lines {
				t.Errorf("%d lines have the trace id; want %d:\n%s", n, tt.lines, w.Log)
			}
		})
	}
}
