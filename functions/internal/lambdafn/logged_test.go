package lambdafn

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/lambda"
)

// TestLogged_logsFailures checks that the reason of a failed invocation is in the log: Lambda's own
// line has none, and Lambda's library writes it to the standard logger.
func TestLogged_logsFailures(t *testing.T) {
	t.Parallel()

	failure := errors.New("no table")
	tests := []struct {
		name    string
		handler any
		payload string
		answer  string
		want    string // in the only line; empty: there is none
		panics  bool
	}{
		{name: "an answer", handler: func(context.Context, int) (int, error) { return 1, nil }, payload: "1", answer: "1"},
		{name: "an error", handler: func(context.Context, int) (int, error) { return 0, failure }, payload: "1", want: `"error":"no table"`},
		{name: "an event of another form", handler: func(context.Context, int) error { return nil }, payload: "{}", want: "cannot unmarshal object"},
		{name: "a panic", handler: func(context.Context, int) error { panic("index out of range") }, payload: "1", want: "panic: index out of range", panics: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			var lines bytes.Buffer
			h := logged{lambda.NewHandler(tt.handler), slog.New(slog.NewJSONHandler(&lines, nil))}
			answer, panicked, err := invoke(t.Context(), h, tt.payload)
			if panicked != tt.panics {
				t.Errorf("Invoke() panics: %t; want %t, so that Lambda ends the process", panicked, tt.panics)
			}
			if failed := err != nil || panicked; failed != (tt.want != "") || !failed && string(answer) != tt.answer {
				t.Errorf("Invoke() = %q, %v; want the result of the handler", answer, err)
			}
			log := lines.String()
			if logged := strings.Contains(log, `"level":"ERROR","msg":"function.failed"`); logged != (tt.want != "") || !strings.Contains(log, tt.want) || strings.Count(log, "\n") > 1 {
				t.Errorf("log = %s; want one line with %q", log, tt.want)
			}
			if tt.panics && !strings.Contains(log, "logged_test.go") {
				t.Errorf("log = %s; want the stack of the panic", log)
			}
		})
	}
}

// invoke calls the handler, and reports whether it panicked.
func invoke(ctx context.Context, h lambda.Handler, payload string) (answer []byte, panicked bool, err error) {
	defer func() { panicked = recover() != nil }()
	answer, err = h.Invoke(ctx, []byte(payload))
	return answer, false, err
}
