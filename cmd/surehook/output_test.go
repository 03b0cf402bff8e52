package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/client/openapi"
)

func TestWriteRows_AlignsAndHidesControlCharacters(t *testing.T) {
	t.Parallel()

	rows := []json.RawMessage{
		[]byte(`{"id": "dlv_1", "last": {"status": 503, "error": "\u001b[31mred\nline"}, "types": ["a", "b"], "count": 12345678901234567890}`),
		[]byte(`{"id": "dlv_20", "last": null, "types": []}`),
	}
	var out bytes.Buffer
	if err := (&program{}).writeRows(&out, columns("ID=id", "STATUS=last.status", "ERROR=last.error", "TYPES=types", "N=count"), rows, nil); err != nil {
		t.Fatal(err)
	}
	want := "ID      STATUS  ERROR           TYPES                     N\n" +
		"dlv_1      503  \ufffd[31mred\\nline  a,b    12345678901234567890\n" +
		"dlv_20       -  -               -                         -\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

// atTen is the clock of a program in these tests.
func atTen() time.Time { return time.Date(2026, 11, 26, 10, 0, 0, 0, time.UTC) }

func TestWriteRows_TellsTimesAndEndpointsInWords(t *testing.T) {
	t.Parallel()

	rows := []json.RawMessage{
		[]byte(`{"at": "2026-11-26T09:57:00.000Z", "endpoint_id": "ep_1", "planned": {"at": "2026-11-26T12:00:00.000Z"}, "key": "2026-11-26T09:57:00Z"}`),
		[]byte(`{"at": null, "endpoint_id": "ep_2", "key": "ep_1"}`),
	}
	names := func([]json.RawMessage) map[string]string { return map[string]string{"ep_1": "orders"} }
	var out bytes.Buffer
	p := &program{Now: atTen}
	if err := p.writeRows(&out, columns("AT=at", "ENDPOINT=endpoint_id", "NEXT=planned.at", "KEY=key"), rows, names); err != nil {
		t.Fatal(err)
	}
	want := "AT      ENDPOINT  NEXT   KEY\n" +
		"3m ago  orders    in 2h  2026-11-26T09:57:00Z\n" +
		"-       ep_2      -      ep_1\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

// A delivery has its next attempt or, parked by a circuit, the next probe of its endpoint.
func TestDeliveryColumns_Next(t *testing.T) {
	t.Parallel()

	rows := []json.RawMessage{
		[]byte(`{"id": "dlv_1", "state": "retrying", "next_attempt_at": "2026-11-26T10:05:00.000Z"}`),
		[]byte(`{"id": "dlv_2", "state": "parked", "next_probe_at": "2026-11-26T12:00:00.000Z"}`),
		[]byte(`{"id": "dlv_3", "state": "delivered"}`),
	}
	shown := slices.DeleteFunc(deliveryColumns(), func(c column) bool { return c.heading != "DELIVERY" && c.heading != "NEXT" })
	var out bytes.Buffer
	if err := (&program{Now: atTen}).writeRows(&out, shown, rows, nil); err != nil {
		t.Fatal(err)
	}
	want := "DELIVERY  NEXT\n" +
		"dlv_1     in 5m\n" +
		"dlv_2     in 2h\n" +
		"dlv_3     -\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestWriteRows_FitsTheTerminal(t *testing.T) {
	t.Parallel()

	row := `{"id": "ep_0123456789", "url": "https://example.com/a/b/c/d", "types": "order.paid,user.*", "n": 7}`
	header := columns("ENDPOINT=id", "URL=~url", "EVENT TYPES=~types", "N=n")
	tests := []struct {
		name  string
		width int
		other bool // the output is not standard output
		want  string
	}{
		{name: "no terminal", want: "ep_0123456789  https://example.com/a/b/c/d  order.paid,user.*  7"},
		{name: "wide enough", width: 64, want: "ep_0123456789  https://example.com/a/b/c/d  order.paid,user.*  7"},
		{name: "one too narrow", width: 63, want: "ep_0123456789  https://example.com/a/b/c…  order.paid,user.*  7"},
		{name: "both free columns", width: 50, want: "ep_0123456789  https://exampl…  order.paid,use…  7"},
		{name: "too narrow: ids stay whole", width: 10, want: "ep_0123456789  https://exa…  order.paid,…  7"},
		{name: "another output", width: 10, other: true, want: "ep_0123456789  https://example.com/a/b/c/d  order.paid,user.*  7"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			var out bytes.Buffer
			p := &program{Out: &out, Width: func() int { return tt.width }}
			if tt.other {
				p.Out = io.Discard
			}
			if err := p.writeRows(&out, header, []json.RawMessage{[]byte(row)}, nil); err != nil {
				t.Fatal(err)
			}
			if _, got, _ := strings.Cut(strings.TrimSuffix(out.String(), "\n"), "\n"); got != tt.want {
				t.Errorf("width %d = %q; want %q", tt.width, got, tt.want)
			}
		})
	}
}

// On a narrow terminal spare columns go, the last one first. Words for states have colours there alone.
func TestWriteRows_leavesOutAndColours(t *testing.T) {
	t.Parallel()

	rows := []json.RawMessage{[]byte(`{"id": "dlv_0123456789", "state": "dead", "reason": "rejected", "attempts": 3}`)}
	header := columns("DELIVERY=id", "STATE=state", "REASON=?reason", "ATTEMPTS=?attempts")
	for width, want := range map[int]string{
		0:  "dlv_0123456789  dead   rejected         3",
		80: "dlv_0123456789  \x1b[31mdead\x1b[0m   rejected         3",
		35: "dlv_0123456789  \x1b[31mdead\x1b[0m   rejected",
		10: "dlv_0123456789  \x1b[31mdead\x1b[0m",
	} {
		var out bytes.Buffer
		p := &program{Out: &out, Colour: true, Width: func() int { return width }}
		if err := p.writeRows(&out, header, rows, nil); err != nil {
			t.Fatal(err)
		}
		if _, got, _ := strings.Cut(strings.TrimSuffix(out.String(), "\n"), "\n"); strings.TrimRight(got, " ") != want {
			t.Errorf("width %d = %q; want %q", width, got, want)
		}
	}
}

func TestWriteRows_CutsTheHostAndNotTheID(t *testing.T) {
	t.Parallel()

	rows := []json.RawMessage{[]byte(`{"endpoint_id": "ep_1", "endpoints": ["ep_1", "ep_2"]}`)}
	names := func([]json.RawMessage) map[string]string {
		return map[string]string{"ep_1": "ep_1 (hooks.example.com)", "ep_2": "orders"}
	}
	for width, want := range map[int]string{
		0:  "ep_1 (hooks.example.com)  ep_1 (hooks.example.com), orders",
		30: "ep_1 (hooks.e…  ep_1 (hooks.e…",
		1:  "ep_1 (h…  ep_1 (ho…", // as wide as the headings
	} {
		var out bytes.Buffer
		p := &program{Out: &out, Width: func() int { return width }}
		if err := p.writeRows(&out, columns("ENDPOINT=endpoint_id", "ENDPOINTS=endpoints"), rows, names); err != nil {
			t.Fatal(err)
		}
		if _, got, _ := strings.Cut(strings.TrimSuffix(out.String(), "\n"), "\n"); got != want {
			t.Errorf("width %d = %q; want %q", width, got, want)
		}
	}
}

func TestChanged(t *testing.T) {
	t.Parallel()

	long := strings.Repeat("x", 50)
	for record, want := range map[string]string{
		`{}`: "-",
		`{"changes": {"url": {"new": "https://example.com"}, "headers": {"new": {}}}}`:              "new",
		`{"changes": {"url": {"old": "https://example.com"}}}`:                                      "removed",
		`{"changes": {"timeout": {"old": "10s", "new": "5s"}}}`:                                     "timeout: 10s → 5s",
		`{"changes": {"reason": {"old": null, "new": "manual"}}}`:                                   "reason: - → manual",
		`{"changes": {"retry_on": {"old": [], "new": [404, 409]}, "auth": {"old": {}, "new": {}}}}`: "auth, retry_on: - → 404,409",
		`{"changes": {"tls": {"new": {"ca": "***"}}, "auto_disable": {"old": false, "new": true}}}`: "auto_disable: false → true, tls",
		`{"changes": {"url": {"old": "` + long + `", "new": "b\u001b[0m"}}}`:                        "url: " + long[:39] + "… → b\ufffd[0m",
	} {
		if got := changed([]byte(record)); got != want {
			t.Errorf("changed(%s) = %q; want %q", record, got, want)
		}
	}
}

func TestWriteRows_TakesTheFirstValueAndPercents(t *testing.T) {
	t.Parallel()

	rows := []json.RawMessage{
		[]byte(`{"uid": "crm", "url": "https://example.com/", "rate": 0.99951}`),
		[]byte(`{"uid": "", "url": "https://example.com/", "rate": 0}`),
		[]byte(`{"url": "", "rate": 1}`),
		[]byte(`{"uid": "x"}`),
	}
	var out bytes.Buffer
	if err := (&program{}).writeRows(&out, columns("RATE=rate%", "NAME=uid|url"), rows, nil); err != nil {
		t.Fatal(err)
	}
	want := "  RATE  NAME\n" +
		"99.9 %  crm\n" +
		"   0 %  https://example.com/\n" +
		" 100 %  -\n" +
		"     -  x\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestWriteFields_NamesNestedValues(t *testing.T) {
	t.Parallel()

	var out bytes.Buffer
	p := &program{Now: atTen}
	if err := p.writeFields(&out, []byte(`{"b": 1, "a": {"x": true, "list": [{"y": 2}, {"y": 3}]}, "none": {}, "created_at": "2026-11-26T09:00:00.000Z"}`)); err != nil {
		t.Fatal(err)
	}
	want := "b           1\na.x         true\na.list.0.y  2\na.list.1.y  3\ncreated_at  2026-11-26T09:00:00.000Z (1h ago)\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestWriteJSON_EscapesWhatATerminalObeys(t *testing.T) {
	t.Parallel()

	const sent = "{\"a\":\"caf\u00e9 \u65e5 \U0001f600\",\"b\":\"\u009b31m \u202etxt\u2066 \x7f \U000e0041 \u2028\",\"c\":\"\\u001b[0m\",\"d\":\"\x9b\"}"
	const want = "{\n" +
		"  \"a\": \"caf\u00e9 \u65e5 \U0001f600\",\n" +
		`  "b": "\u009b31m \u202etxt\u2066 \u007f \udb40\udc41 \u2028",` + "\n" +
		`  "c": "\u001b[0m",` + "\n" +
		"  \"d\": \"\ufffd\"\n}\n"
	var out bytes.Buffer
	if err := writeJSON(&out, []byte(sent)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
	var before, after map[string]string
	if err := errors.Join(json.Unmarshal([]byte(sent), &before), json.Unmarshal(out.Bytes(), &after)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("the escapes changed the values: %s", diff)
	}
}

func TestDevGreeting_NamesNoConsoleWithoutTheBuild(t *testing.T) {
	t.Parallel()

	for console, want := range map[bool]string{true: "The console is at http://127.0.0.1:1/console", false: "This build has no console and no portal"} {
		if got := devGreeting("http://127.0.0.1:1", "shk_x", 4711, console); !strings.Contains(got, want) || !strings.Contains(got, "the last 4711 deliveries") || strings.Contains(got, "/console") != console {
			t.Errorf("devGreeting(console %t) = %s; want %q", console, got, want)
		}
	}
}

func TestReplaying_question(t *testing.T) {
	t.Parallel()

	for want, r := range map[string]replaying{
		"Replay 12 deliveries?":                  {},
		"Replay the oldest 10 of 12 deliveries?": {limit: 10},
		"Discard 12 deliveries?":                 {limit: 12, discard: true},
	} {
		if got := r.question(12); got != want {
			t.Errorf("question(12) of %+v = %q; want %q", r, got, want)
		}
	}
}

func TestVerdict(t *testing.T) {
	t.Parallel()

	for want, j := range map[string]openapi.ReplayProgress{
		"":                  {Enqueued: 2, Delivered: 1, InProgress: 1, Skipped: 3},
		"1 of 2 deliveries": {Enqueued: 2, Delivered: 1, Dead: 1},
		"2 of 2 deliveries": {Enqueued: 2, Dead: 1, Cancelled: 1},
	} {
		if err := verdict(j); (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("verdict(%+v) = %v; want %q", j, err, want)
		}
	}
}

func TestBar(t *testing.T) {
	t.Parallel()

	for want, j := range map[string]openapi.ReplayProgress{
		"[..............................] rpl_1 running: 0 queued, 0 delivered, 0 dead again, 0 waiting":       {Id: "rpl_1", State: "running"},
		"[##............................] rpl_1 running: 4 of 30 queued, 1 delivered, 1 dead again, 2 waiting": {Id: "rpl_1", State: "running", Expected: new(30), Enqueued: 4, Delivered: 1, Dead: 1, InProgress: 2},
		"[#######.......................] rpl_1 running: 2 of 8 queued, 2 delivered, 0 dead again, 0 waiting":  {Id: "rpl_1", State: "running", Expected: new(30), Limit: new(8), Enqueued: 2, Delivered: 2},
		"[##############################] rpl_1 cancelled: 4 queued, 4 delivered, 0 dead again, 0 waiting":     {Id: "rpl_1", State: "cancelled", Expected: new(30), Enqueued: 4, Delivered: 4},
		"[###############...............] rpl_1 running: 4 queued, 1 delivered, 1 dead again, 2 waiting":       {Id: "rpl_1", State: "running", Selected: 9, Enqueued: 4, Delivered: 1, Dead: 1, InProgress: 2},
		"[##############################] rpl_1 finished: 4 queued, 3 delivered, 0 dead again, 0 waiting, 1 cancelled, 2 skipped": {
			Id: "rpl_1", State: "finished", Selected: 6, Enqueued: 4, Delivered: 3, Cancelled: 1, Skipped: 2,
		},
		"[##############################] rpl_1 finished: 0 queued, 0 delivered, 0 dead again, 0 waiting, 3 skipped (2 already replayed, 1 event expires)": {
			Id: "rpl_1", State: "finished", Selected: 3, Skipped: 3, SkippedByReason: &map[string]int{"event_expires": 1, "already_replayed": 2},
		},
		"[##############################] rpl_1 finished: 4 discarded": {Id: "rpl_1", State: "finished", Action: openapi.ReplayProgressActionDiscard, Enqueued: 4},
	} {
		if got := bar(j); got != want {
			t.Errorf("bar(%+v) = %s; want %s", j, got, want)
		}
	}
}
