package surehook

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/names"
)

// TestQueries checks which queries prod has, which logs they ask, and the main parts of their text.
func TestQueries(t *testing.T) {
	t.Parallel()

	found, asked := map[string]string{}, map[string]string{}
	for id, r := range templateOf(t, "prod").all("AWS::Logs::QueryDefinition") {
		groups, _ := r.at("LogGroupNames").([]any)
		if len(groups) == 0 {
			t.Errorf("%s asks no log group", id)
		}
		found[show(r.at("Name"))] = show(r.at("QueryString"))
		for _, group := range groups {
			asked[show(r.at("Name"))] += show(group) + " "
		}
	}
	want := []string{
		"surehook-prod/dead-letters-by-reason", "surehook-prod/errors", "surehook-prod/failed-requests",
		"surehook-prod/failures-by-endpoint", "surehook-prod/one-event", "surehook-prod/refused-or-slow-requests", "surehook-prod/slowest-endpoints", "surehook-prod/why-not-delivered",
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(found))); diff != "" {
		t.Errorf("queries (-want +got):\n%s", diff)
	}
	for name, text := range found {
		for i, stage := range strings.Split(text, "\n| ") {
			if verb, _, _ := strings.Cut(stage, " "); !slices.Contains([]string{"fields", "filter", "parse", "stats", "sort", "limit"}, verb) {
				t.Errorf("%s, stage %d: %q is not a command", name, i, stage)
			}
		}
	}
	errors := found["surehook-prod/errors"]
	for _, want := range []string{"level = 'ERROR'", "type = 'platform.report' and record.status != 'success'", "panic"} {
		if !strings.Contains(errors, want) {
			t.Errorf("errors = %s; want %s in it", errors, want)
		}
	}
	if strings.Contains(errors, "Task timed out") {
		t.Errorf("errors = %s; want no text of the plain log format", errors)
	}
	if text := found["surehook-prod/one-event"]; !strings.Contains(text, "filter @message like 'PASTE'") || !strings.Contains(text, names.LogTrace) {
		t.Errorf("one-event = %s; want every line with an id, and the trace", text)
	}
	for name, want := range map[string]string{
		"dead-letters-by-reason": "${DeliverLogs} ${BreakerLogs} ",               // which end deliveries
		"failed-requests":        "${IngestLogs} ${ManageLogs} ${ReplayerLogs} ", // which serve the API
	} {
		if got := asked["surehook-prod/"+name]; got != want {
			t.Errorf("%s asks %s; want %s", name, got, want)
		}
	}
	const why = "filter delivery_id = 'PASTE' or event_id = 'PASTE'"
	if text := found["surehook-prod/why-not-delivered"]; !strings.Contains(text, why) {
		t.Errorf("why-not-delivered = %s; want %s in it", text, why)
	}
}

func TestQueries_notOfTheLocalStack(t *testing.T) {
	t.Parallel()

	if got := templateOf(t, "local").all("AWS::Logs::QueryDefinition"); len(got) != 0 {
		t.Errorf("the local stack has %d queries; want none, because no emulator has the type", len(got))
	}
}
