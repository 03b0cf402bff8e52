package smoke_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/smoke"
)

// runOne runs checks with the errors.
func runOne(t *testing.T, errs ...error) []smoke.Result {
	t.Helper()
	var checks []smoke.Check
	for _, err := range errs {
		checks = append(checks, smoke.Check{Name: "a check", Limit: time.Minute, Run: func(context.Context) (string, error) { return "a note", err }})
	}
	return smoke.RunChecks(t.Context(), checks, time.Now, func(smoke.Result) {})
}

func TestRun_verdicts(t *testing.T) {
	t.Parallel()

	results := runOne(t, nil, errors.New("it is broken"), smoke.Skipped("not here"))
	var table strings.Builder
	if err := smoke.WriteTable(&table, results); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"PASS    0.0      a note", "FAIL    0.0      it is broken", "SKIP    0.0      not here"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("table =\n%s\nwant a line with %q", table.String(), want)
		}
	}
	if !smoke.Failed(results) || smoke.Failed(results[:1]) || smoke.Failed(results[2:]) {
		t.Error("Failed is wrong: want true with a FAIL, and false with PASS or SKIP")
	}
	if got := smoke.Summary(results); got != "FAIL: 1 passed, 1 failed, 1 skipped" {
		t.Errorf("Summary = %q", got)
	}
}

// TestRun_ends checks that a check ends at its limit, and with the run.
func TestRun_ends(t *testing.T) {
	t.Parallel()

	hang := func(ctx context.Context) (string, error) {
		<-ctx.Done()
		return "", context.Cause(ctx)
	}
	late := smoke.RunChecks(t.Context(), []smoke.Check{{Limit: time.Millisecond, Run: hang}}, time.Now, func(smoke.Result) {})
	if late[0].Verdict != smoke.Fail || !strings.Contains(late[0].Note, "time limit") {
		t.Errorf("result at the limit = %+v; want FAIL", late[0])
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("Ctrl-C"))
	ended := smoke.RunChecks(ctx, []smoke.Check{{Limit: time.Hour, Run: hang}}, time.Now, func(smoke.Result) {})
	if ended[0].Verdict != smoke.Fail || ended[0].Note != "Ctrl-C" {
		t.Errorf("result after the end = %+v; want FAIL with the cause", ended[0])
	}
}
