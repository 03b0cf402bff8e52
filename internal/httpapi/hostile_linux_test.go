//go:build !race

package httpapi_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"surehook/internal/hook"
	"surehook/internal/httpapi"
)

// TestHostileBodies holds the CPU time of hostile bodies to three times that of a valid
// body of at least the same size, in the same world.
//
// A ratio within one process does not depend on the speed of the machine. The time is
// the CPU time of this thread, so other tests and other processes do not count. Both
// bodies take turns, and the shortest of several runs counts: a disturbance only makes a
// run longer. A search that grows with the square of the body is 100 times over the
// bound; what is held here is below two times.
func TestHostileBodies(t *testing.T) {
	const bound = 3.0

	for _, w := range worlds() {
		t.Run(w.name, func(t *testing.T) {
			b := setup(t)
			if w.prepare != nil {
				w.prepare(t, b)
			}
			for _, tt := range w.hostile {
				t.Run(tt.name, func(t *testing.T) {
					valid := w.valid(len(tt.body))
					if len(valid) < len(tt.body)*9/10 {
						t.Fatalf("the valid body has %d bytes, the hostile one %d", len(valid), len(tt.body))
					}
					if code := b.spend(t, w, valid, nil); code >= 400 {
						t.Fatalf("the valid body gets %d", code)
					}
					var usual, most time.Duration
					var code int
					for range 5 {
						var spent time.Duration
						b.spend(t, w, valid, &spent)
						usual = shorter(usual, spent)
						code = b.spend(t, w, tt.body, &spent)
						most = shorter(most, spent)
					}
					if code == http.StatusInternalServerError {
						t.Errorf("POST = %d", code)
					}
					ratio := float64(most) / float64(usual)
					t.Logf("%d bytes, %d: %.1f times %s", len(tt.body), code, ratio, usual)
					if ratio > bound {
						t.Errorf("the body takes %.1f times the CPU time of a valid body of %d bytes (%s); want at most %g", ratio, len(valid), usual, bound)
					}
				})
			}
		})
	}
}

func shorter(a, b time.Duration) time.Duration {
	if a == 0 {
		return b
	}
	return min(a, b)
}

// spend posts the body and sets the CPU time of the request.
func (b *bundle) spend(t *testing.T, w world, body string, spent *time.Duration) int {
	t.Helper()

	r := httptest.NewRequestWithContext(httpapi.WithPrincipal(t.Context(), admin), w.method, w.path, strings.NewReader(body))
	rec := httptest.NewRecorder()
	handler := b.handler(w.method, r.URL.Path)
	runtime.GC() // no debt of the run before
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := threadTime(t)
	handler.ServeHTTP(rec, r)
	if spent != nil {
		*spent = threadTime(t) - before
	}
	return rec.Code
}

func threadTime(t *testing.T) time.Duration {
	t.Helper()

	const thread = 3 // CLOCK_THREAD_CPUTIME_ID
	var at syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, thread, uintptr(unsafe.Pointer(&at)), 0); errno != 0 {
		t.Fatal(errno)
	}
	return time.Duration(at.Nano())
}

// world is a route with its state.
type world struct {
	name, method, path string
	prepare            func(*testing.T, *bundle)
	valid              func(size int) string
	hostile            []body
}

type body struct{ name, body string }

const (
	eventSize = hook.MaxPayload
	batchSize = hook.MaxBatchBytes - 1<<10
	smallSize = 63 << 10
)

// order is a usual payload of about the size.
func order(size int) string {
	const line = `{"sku":"a-1001","name":"Blue jar","count":3,"price":12.5,"gift":false},`
	return `{"order":{"amount":120,"country":"DE","lines":[` + strings.Repeat(line, max(size-70, 0)/len(line)) + `{"sku":"z"}]}}`
}

func event(payload string) string { return `{"event_type":"order.paid","payload":` + payload + `}` }

func usualEvent(size int) string { return event(order(size)) + strings.Repeat(" ", 100) }

func usualBatch(size int) string { return batch(event(order(size/100 - 60))) }

func batch(event string) string {
	return `{"events":[` + strings.Repeat(event+",", 99) + event + `]}`
}

func many(format string, n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(all, ",")
}

func fill(size int, s string) string { return strings.Repeat(s, size/len(s)) }

func nest(open, inner, end string, n int) string {
	return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
}

func worlds() []world {
	return []world{
		{
			name: "event", method: "POST", path: eventsURL, valid: usualEvent,
			hostile: hostileEvents(),
		},
		{
			name: "batch", method: "POST", path: eventsURL + "/batch", valid: usualBatch,
			hostile: hostileBatches(),
		},
	}
}

// hostileEvents are bodies of posts.
func hostileEvents() []body {
	big := order(eventSize - 4<<10)
	return []body{
		{"20 unknown names after a payload", `{"event_type":"a","payload":` + big + `,` + many(`"x%d":1`, 20) + `}`},
		{"20 unknown names before a payload", `{` + many(`"x%d":1`, 20) + `,"event_type":"a","payload":` + big + `}`},
		{"unknown names only", `{` + many(`"x%d":1`, eventSize/14) + `}`},
		{"a long unknown name", `{"` + fill(eventSize, "x") + `":1}`},
		{"a long unknown name with escapes", `{"` + fill(eventSize, `\u0041`) + `":1}`},
		{"an unknown name of slashes", `{"` + fill(eventSize, `/~`) + `":1}`},
		{"a long name twice", `{"` + fill(eventSize/2, "x") + `":1,"` + fill(eventSize/2, "x") + `":1}`},
		{"the last of many names twice", event(`{` + many(`"x%d":1`, eventSize/16) + `,"x0":2}`)},
		{"nested arrays", event(nest("[", "", "]", 9990))},
		{"nested too deep", event(nest("[", "", "]", eventSize/2))},
		{"nested objects", event(nest(`{"a":`, "1", "}", 9990))},
		{"empty objects", event(`[` + fill(eventSize-4, "{},") + `{}]`)},
		{"names", event(`{` + many(`"x%d":1`, eventSize/14) + `}`)},
		{"a number of digits", event(fill(eventSize-2, "1"))},
		{"a huge exponent", event(`[` + fill(eventSize-20, "1e999999,") + `1]`)},
		{"escapes", event(`"` + fill(eventSize-4, `\u00e9`) + `"`)},
		{"surrogates", event(`"` + fill(eventSize-12, `\ud83d\ude00`) + `"`)},
		{"half a surrogate pair at the end", event(`"` + fill(eventSize-12, `\ud83d\ude00`) + `\ud83d"`)},
		{"invalid UTF-8 at the end", event(`"` + fill(eventSize-12, "é") + "\xff\"")},
		{"a payload cut off", event(big)[:eventSize-10<<10]},
		{"white space", `{"event_type":"a","payload":1` + fill(eventSize, " ") + `}`},
		{"a long key", `{"event_type":"a","payload":1,"idempotency_key":"` + fill(eventSize, "k") + `"}`},
		{"a long type", `{"payload":1,"event_type":"` + fill(eventSize, "k") + `"}`},
		{"a long duration", `{"event_type":"a","payload":1,"retain_for":"` + fill(eventSize, "1h") + `"}`},
	}
}

// hostileBatches are bodies of batches.
func hostileBatches() []body {
	return []body{
		{"an unknown name in each event", batch(`{"x":1,` + event(order(batchSize/100 - 80))[1:])},
		{"unknown names in each event", batch(`{` + many(`"x%d":1`, 2500) + `}`)},
		{"20 unknown names after the events", strings.TrimSuffix(batch(event(order(batchSize/100-80))), "}") + `,` + many(`"x%d":1`, 20) + `}`},
		{"a wrong type in each event", batch(`{"event_type":1,"payload":` + order(batchSize/100-80) + `}`)},
		{"wrong events", `{"events":[` + fill(batchSize-20, "1,") + `1]}`},
		{"empty events", `{"events":[` + fill(batchSize-20, "{},") + `{}]}`},
		{"null events", `{"events":[` + fill(batchSize-20, "null,") + `{}]}`},
	}
}
