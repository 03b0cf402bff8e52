package lambdafn_test

import (
	"bytes"
	"errors"
	"log"
	"testing"

	"surehook.example/surehook/functions/internal/lambdafn"
	"surehook.example/surehook/internal/config"
)

// net/http writes bytes that receivers send to the standard logger, for example a response
// without a request. A function must not log them.
func TestStart_discardsTheStandardLogger(t *testing.T) { //nolint:paralleltest // replaces the output of the standard logger
	before := log.Writer()
	t.Cleanup(func() { log.SetOutput(before) })
	var lines bytes.Buffer
	log.SetOutput(&lines)

	stop := errors.New("no configuration")
	read := func(config.Lookup) (struct{}, error) { return struct{}{}, stop }
	if err := lambdafn.Start(t.Context(), nil, read, nil); !errors.Is(err, stop) {
		t.Fatalf("Start() = %v; want the error of the configuration", err)
	}
	log.Print("Unsolicited response received on idle HTTP channel") // as net/http does
	if lines.Len() > 0 {
		t.Errorf("the standard logger wrote %q; want nothing", lines.String())
	}
}
