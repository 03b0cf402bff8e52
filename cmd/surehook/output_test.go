package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"surehook/client/openapi"
)

func TestWriteRows_AlignsAndHidesControlCharacters(t *testing.T) {
	t.Parallel()

	rows := []json.RawMessage{
		[]byte(`{"id": "dlv_1", "last": {"status": 503, "error": "\u001b[31mred\nline"}, "types": ["a", "b"], "count": 12345678901234567890}`),
		[]byte(`{"id": "dlv_20", "last": null, "types": []}`),
	}
	var out bytes.Buffer
	if err := writeRows(&out, columns("ID=id", "STATUS=last.status", "ERROR=last.error", "TYPES=types", "N=count"), rows); err != nil {
		t.Fatal(err)
	}
	want := "ID      STATUS  ERROR           TYPES  N\n" +
		"dlv_1   503     \ufffd[31mred\\nline  a,b    12345678901234567890\n" +
		"dlv_20  -       -               -      -\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestWriteFields_NamesNestedValues(t *testing.T) {
	t.Parallel()

	var out bytes.Buffer
	if err := writeFields(&out, []byte(`{"b": 1, "a": {"x": true, "list": [{"y": 2}, {"y": 3}]}, "none": {}}`)); err != nil {
		t.Fatal(err)
	}
	want := "b           1\na.x         true\na.list.0.y  2\na.list.1.y  3\n"
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
		if got := devGreeting("http://127.0.0.1:1", "shk_x", console); !strings.Contains(got, want) || strings.Contains(got, "/console") != console {
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
		"[..............................] rpl_1 running: 0 sent, 0 delivered, 0 dead again, 0 waiting": {Id: "rpl_1", State: "running"},
		"[###############...............] rpl_1 running: 4 sent, 1 delivered, 1 dead again, 2 waiting": {Id: "rpl_1", State: "running", Selected: 9, Enqueued: 4, Delivered: 1, Dead: 1, InProgress: 2},
		"[##############################] rpl_1 finished: 4 sent, 3 delivered, 0 dead again, 0 waiting, 1 cancelled, 2 skipped": {
			Id: "rpl_1", State: "finished", Selected: 6, Enqueued: 4, Delivered: 3, Cancelled: 1, Skipped: 2,
		},
		"[..............................] rpl_1 finished: 0 sent, 0 delivered, 0 dead again, 0 waiting, 3 skipped (2 already replayed, 1 event expires)": {
			Id: "rpl_1", State: "finished", Selected: 3, Skipped: 3, SkippedByReason: &map[string]int{"event_expires": 1, "already_replayed": 2},
		},
		"[##############################] rpl_1 finished: 4 discarded": {Id: "rpl_1", State: "finished", Action: openapi.ReplayProgressActionDiscard, Enqueued: 4},
	} {
		if got := bar(j); got != want {
			t.Errorf("bar(%+v) = %s; want %s", j, got, want)
		}
	}
}
