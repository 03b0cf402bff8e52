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
					valid := tt.valid
					if valid == "" {
						valid = w.valid(len(tt.body))
					}
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

// body is a hostile body. valid is the valid body instead of the world's.
type body struct{ name, body, valid string }

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

// hostileEvents are bodies of posts. A row with a valid body of its own has as many names,
// escapes or objects as the hostile body: the decoder looks for repeated names, so many
// names take about four times as long as few in as many bytes.
func hostileEvents() []body {
	big := order(eventSize - 4<<10)
	return []body{
		{name: "20 unknown names after a payload", body: `{"event_type":"a","payload":` + big + `,` + many(`"x%d":1`, 20) + `}`},
		{name: "20 unknown names before a payload", body: `{` + many(`"x%d":1`, 20) + `,"event_type":"a","payload":` + big + `}`},
		{name: "unknown names only", body: `{` + many(`"x%d":1`, eventSize/14) + `}`},
		{name: "a long unknown name", body: `{"` + fill(eventSize, "x") + `":1}`},
		{name: "a long unknown name with escapes", body: `{"` + fill(eventSize, `\u0041`) + `":1}`, valid: event(`{"` + fill(eventSize, `\u0041`) + `":1}`)},
		{name: "an unknown name of slashes", body: `{"` + fill(eventSize, `/~`) + `":1}`},
		{name: "a long name twice", body: `{"` + fill(eventSize/2, "x") + `":1,"` + fill(eventSize/2, "x") + `":1}`},
		{name: "the last of many names twice", body: event(`{` + many(`"x%d":1`, eventSize/16) + `,"x0":2}`), valid: event(`{` + many(`"x%d":1`, eventSize/16) + `,"x":2}`)},
		{name: "nested too deep", body: event(nest("[", "", "]", eventSize/2))},
		{name: "empty objects", body: event(`[` + fill(eventSize-4, "{},") + `{}]`)},
		{name: "a number of digits", body: event(fill(eventSize-2, "1"))},
		{name: "a huge exponent", body: event(`[` + fill(eventSize-20, "1e999999,") + `1]`)},
		{name: "escapes", body: event(`"` + fill(eventSize-4, `\u00e9`) + `"`)},
		{name: "surrogates", body: event(`"` + fill(eventSize-12, `\ud83d\ude00`) + `"`)},
		{name: "half a surrogate pair at the end", body: event(`"` + fill(eventSize-12, `\ud83d\ude00`) + `\ud83d"`)},
		{name: "invalid UTF-8 at the end", body: event(`"` + fill(eventSize-12, "é") + "\xff\"")},
		{name: "a payload cut off", body: event(big)[:eventSize-10<<10]},
		{name: "white space", body: `{"event_type":"a","payload":1` + fill(eventSize, " ") + `}`},
		{name: "a long key", body: `{"event_type":"a","payload":1,"idempotency_key":"` + fill(eventSize, "k") + `"}`},
		{name: "a long type", body: `{"payload":1,"event_type":"` + fill(eventSize, "k") + `"}`},
		{name: "a long duration", body: `{"event_type":"a","payload":1,"retain_for":"` + fill(eventSize, "1h") + `"}`},
	}
}

// hostileBatches are bodies of batches.
func hostileBatches() []body {
	return []body{
		{name: "an unknown name in each event", body: batch(`{"x":1,` + event(order(batchSize/100 - 80))[1:])},
		{name: "unknown names in each event", body: batch(`{` + many(`"x%d":1`, 2500) + `}`)},
		{name: "20 unknown names after the events", body: strings.TrimSuffix(batch(event(order(batchSize/100-80))), "}") + `,` + many(`"x%d":1`, 20) + `}`},
		{name: "a wrong type in each event", body: batch(`{"event_type":1,"payload":` + order(batchSize/100-80) + `}`)},
		{name: "a name twice in the last event", body: strings.TrimSuffix(batch(event(order(batchSize/100-80))), "}]}") + `,"x":1,"x":2}]}`},
		{name: "events nested as deep as possible", body: `{"events":[` + strings.TrimSuffix(strings.Repeat(event(nest(`{"a":`, "1", "}", 9990))+",", batchSize/60_100), ",") + `]}`, valid: batch(event(`[` + fill(batchSize/100-50, `{"a":1},`) + `1]`))},
		{name: "wrong events", body: `{"events":[` + fill(batchSize-20, "1,") + `1]}`},
		{name: "empty events", body: `{"events":[` + fill(batchSize-20, "{},") + `{}]}`},
		{name: "null events", body: `{"events":[` + fill(batchSize-20, "null,") + `{}]}`},
	}
}
