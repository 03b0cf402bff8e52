package lambdafn_test

import (
	"bytes"
	"errors"
	"log"
	"log/slog"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/functions/internal/lambdafn"
	"surehook.example/surehook/internal/emf"
)

// net/http writes bytes that receivers send to the standard logger, for example a response
// without a request. A function must not log them.
func TestStart_discardsTheStandardLogger(t *testing.T) { //nolint:paralleltest // replaces the output of the standard logger
	before := log.Writer()
	t.Cleanup(func() { log.SetOutput(before) })
	var lines bytes.Buffer
	log.SetOutput(&lines)

	none := func(string) (string, bool) { return "", false }
	if code := lambdafn.Start(t.Context(), "deliver", none, nil); code != 1 {
		t.Fatalf("Start() without settings = %d; want 1", code)
	}
	log.Print("Unsolicited response received on idle HTTP channel") // as net/http does
	if lines.Len() > 0 {
		t.Errorf("the standard logger wrote %q; want nothing", lines.String())
	}
}

// A wrong setting must not stop all requests: the function starts without it, and an alarm tells.
func TestFunction_Ignore(t *testing.T) {
	t.Parallel()

	var lines bytes.Buffer
	f := lambdafn.Function{Metrics: emf.Set{Environment: "shop"}, Log: slog.New(slog.NewJSONHandler(&lines, nil)), Now: time.Now}
	f.Ignore(t.Context(), errors.New("no client id"), errors.New("no roles"))
	for _, part := range []string{`"function.settings_ignored"`, `no client id\nno roles`, `"environment":"shop"`, `"settings_ignored":2`} {
		if !strings.Contains(lines.String(), part) {
			t.Errorf("Ignore() wrote %s; want %s in it", lines.String(), part)
		}
	}
	lines.Reset()
	f.Ignore(t.Context())
	if lines.Len() > 0 {
		t.Errorf("Ignore() without faults wrote %s; want nothing", lines.String())
	}
}
