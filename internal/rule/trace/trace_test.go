package trace_test

import (
	"strings"
	"testing"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/trace"
)

const (
	given = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	// The UUID of the id is 01936a00-0000-7000-8000-000000000001.
	event = hook.EventID("evt_01jdn000000e000000000000v1")
)

func TestParse(t *testing.T) {
	t.Parallel()

	tests := []struct{ name, header, want string }{
		{name: "a valid header", header: given, want: given},
		{name: "not sampled", header: given[:53] + "00", want: given[:53] + "00"},
		{name: "a random id", header: given[:53] + "03", want: given[:53] + "03"},
		{name: "unknown flags are cleared", header: given[:53] + "fd", want: given},
		{name: "a later version", header: "01" + given[2:], want: given},
		{name: "a later version with more fields", header: "cc" + given[2:] + "-what-the-future-holds", want: given},
		{name: "an empty header", header: ""},
		{name: "the forbidden version", header: "ff" + given[2:]},
		{name: "version 00 with more fields", header: given + "-x"},
		{name: "a later version with longer flags", header: "01" + given[2:] + "0"},
		{name: "upper case", header: strings.ToUpper(given)},
		{name: "upper case in the version", header: "CC" + given[2:]},
		{name: "too short", header: given[:54]},
		{name: "a trace id of zeros", header: "00-00000000000000000000000000000000-00f067aa0ba902b7-01"},
		{name: "a parent id of zeros", header: "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01"},
		{name: "a digit that is not hexadecimal", header: strings.Replace(given, "4b", "4g", 1)},
		{name: "other separators", header: strings.ReplaceAll(given, "-", "_")},
		{name: "two headers in one", header: given + "," + given},
		{name: "a line end in the flags", header: given[:54] + "\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got, ok := trace.Parse(tt.header)
			if again := got.Under(got.Parent); ok != (tt.want != "") || again != tt.want {
				t.Errorf("Parse(%q) = %q, %t; want %q", tt.header, again, ok, tt.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{given, "01" + given[2:] + "-x", "ff" + given[2:], given[:54], strings.ToUpper(given), ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		got, ok := trace.Parse(header)
		if !ok {
			if got != (trace.Trace{}) {
				t.Fatalf("Parse(%q) = %v, false; want the zero Trace", header, got)
			}
			return
		}
		again, ok := trace.Parse(got.Under(got.Parent))
		if !ok || again != got || !got.Given() {
			t.Errorf("Parse(%q) = %v, and its header is read as %v", header, got, again)
		}
	})
}

func TestOf_prefersTheGivenTrace(t *testing.T) {
	t.Parallel()

	if got := trace.Of(&hook.Event{ID: event, TraceParent: given}); got.String() != "4bf92f3577b34da6a3ce929d0e0e4736" || !got.Given() {
		t.Errorf("Of(event with a trace) = %s, given %t; want the given trace", got, got.Given())
	}
	id, ok := event.UUID()
	begun := trace.Of(&hook.Event{ID: event})
	if !ok || begun.ID != id || begun.Given() || begun.Flags != trace.Random {
		t.Errorf("Of(event) = %+v; want a begun trace with the UUID of the event, %x", begun, id)
	}
	if got := trace.Of(&hook.Event{ID: event, TraceParent: "forged"}); got != begun {
		t.Errorf("Of(event with an invalid trace) = %+v; want the begun trace", got)
	}
	none := trace.Of(&hook.Event{ID: "evt_1"})
	if none.String() != "" || none.Under(trace.Acceptance("evt_1")) != "" {
		t.Errorf("Of(event without a valid id) = %s; want none", none)
	}
}

func TestSpans_areEqualForEqualWorkOnly(t *testing.T) {
	t.Parallel()

	first := hook.DeliveryID{Event: event, Endpoint: "ep_0123456789abcdef", Generation: 1}
	second := first
	second.Generation = 2
	seen := map[trace.Span]string{}
	for name, span := range map[string]trace.Span{
		"the acceptance": trace.Acceptance(event), "attempt 1": trace.Attempt(first, 1), "attempt 2": trace.Attempt(first, 2),
		"attempt 11": trace.Attempt(first, 11), "attempt 1 of generation 2": trace.Attempt(second, 1),
	} {
		if other, ok := seen[span]; ok {
			t.Errorf("%s and %s have the span %s; want two", name, other, span)
		}
		seen[span] = name
	}
	if a, b := trace.Attempt(first, 1), trace.Attempt(first, 1); a != b {
		t.Errorf("Attempt(%s, 1) = %s and %s; want equal spans", first, a, b)
	}
}

func BenchmarkTrace_Under(b *testing.B) {
	d := hook.DeliveryID{Event: event, Endpoint: "ep_0123456789abcdef", Generation: 1}
	for b.Loop() {
		if trace.Of(&hook.Event{ID: event}).Under(trace.Attempt(d, 1)) == "" {
			b.Fatal("no header")
		}
	}
}
