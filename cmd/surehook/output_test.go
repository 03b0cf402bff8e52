package main

import (
	"bytes"
	"encoding/json"
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

func TestBar(t *testing.T) {
	t.Parallel()

	for want, j := range map[string]openapi.ReplayProgress{
		"[..............................] rpl_1 running: 0 selected, 0 sent, 0 delivered, 0 dead":  {Id: "rpl_1", State: "running"},
		"[###############...............] rpl_1 running: 9 selected, 4 sent, 1 delivered, 1 dead":  {Id: "rpl_1", State: "running", Selected: 9, Enqueued: 4, Delivered: 1, Dead: 1},
		"[##############################] rpl_1 finished: 4 selected, 4 sent, 4 delivered, 0 dead": {Id: "rpl_1", State: "finished", Selected: 4, Enqueued: 4, Delivered: 4},
	} {
		if got := bar(j); got != want {
			t.Errorf("bar(%+v) = %s; want %s", j, got, want)
		}
	}
}
