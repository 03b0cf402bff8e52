package smoke

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"text/tabwriter"
	"time"
)

// Verdict is the result of a check.
type Verdict string

// The verdicts.
const (
	Pass Verdict = "PASS"
	Fail Verdict = "FAIL"
	Skip Verdict = "SKIP" // the check does not apply here; the reason says why
)

// Check is one question about the deployment.
type Check struct {
	Name  string
	Limit time.Duration // of the whole check
	// Run returns a note for the table, and nil for PASS, the result of Skipped
	// for SKIP, or the reason for FAIL.
	Run func(ctx context.Context) (note string, err error)
}

// Result is the answer to a check.
type Result struct {
	Name    string
	Verdict Verdict
	Note    string // the reason of FAIL and SKIP
	Took    time.Duration
}

// skipped is the error of a check without an answer.
type skipped string

func (s skipped) Error() string { return string(s) }

// Skipped returns the error of a check that does not apply.
func Skipped(reason string) error { return skipped(reason) }

// errTooLong is the cause of a check's end at its limit.
var errTooLong = errors.New("the check reached its time limit")

// run runs the checks at the same time and returns the results in the order of
// the checks. done gets each result as soon as the check ends, from several
// goroutines.
func run(ctx context.Context, checks []Check, now func() time.Time, done func(Result)) []Result {
	results := make([]Result, len(checks))
	var all sync.WaitGroup
	for i, c := range checks {
		all.Go(func() {
			results[i] = c.result(ctx, now)
			done(results[i])
		})
	}
	all.Wait()
	return results
}

// result runs the check.
func (c Check) result(ctx context.Context, now func() time.Time) Result {
	ctx, cancel := context.WithTimeoutCause(ctx, c.Limit, errTooLong)
	defer cancel()
	began := now()
	r := Result{Name: c.Name, Verdict: Pass}
	var err error
	if r.Note, err = c.Run(ctx); err != nil {
		r.Verdict, r.Note = Fail, err.Error()
	}
	if _, ok := errors.AsType[skipped](err); ok {
		r.Verdict = Skip
	}
	r.Took = now().Sub(began)
	return r
}

// Failed reports whether a result is FAIL.
func Failed(results []Result) bool {
	for _, r := range results {
		if r.Verdict == Fail {
			return true
		}
	}
	return false
}

// WriteTable writes the results as a table of text.
func WriteTable(out io.Writer, results []Result) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "check\tresult\tseconds\tnote") //nolint:errcheck // Flush reports the error
	for _, r := range results {
		fmt.Fprintf(w, "%s\t%s\t%.1f\t%s\n", r.Name, r.Verdict, r.Took.Seconds(), r.Note) //nolint:errcheck // Flush reports the error
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	return nil
}
