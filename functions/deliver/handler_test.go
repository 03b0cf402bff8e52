package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"surehook/functions/internal/lambdafn"
	"surehook/internal/delivery/deliver"
)

var update = flag.Bool("update", false, "rewrite the golden files")

type fails []string

func (f fails) ProcessBatch(_ context.Context, messages []deliver.Message) (failed []string) {
	for _, m := range messages {
		for _, part := range f {
			if strings.Contains(m.Body, part) {
				failed = append(failed, m.ID)
			}
		}
	}
	return failed
}

// TestHandle_AnswersSQS decodes an event of SQS and compares the JSON of the response with the golden file.
func TestHandle_AnswersSQS(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name   string
		golden string
		fails  fails
	}{
		{name: "no message failed", golden: "all-well.golden.json", fails: nil},
		{name: "one failed message is reported", golden: "one-failed.golden.json", fails: fails{`"attempt":2`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			raw, err := os.ReadFile(filepath.Join("testdata", "batch.event.json"))
			if err != nil {
				t.Fatal(err)
			}
			var e events.SQSEvent
			if err := json.Unmarshal(raw, &e); err != nil {
				t.Fatal(err)
			}
			response, err := (&handler{deliverer: tt.fails, batches: lambdafn.Batches{Visibility: unchanged{}, Rand: rand.Float64, Log: slog.New(slog.DiscardHandler), Now: time.Now}}).Handle(t.Context(), e)
			if err != nil {
				t.Fatalf("Handle() = %v", err)
			}
			got, err := json.MarshalIndent(response, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", tt.golden)
			if *update {
				if err := os.WriteFile(golden, append(got, '\n'), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(bytes.TrimSpace(want)), string(got)); diff != "" {
				t.Errorf("Handle() differs (-want +got):\n%s", diff)
			}
		})
	}
}

// unchanged leaves the visibility of messages to the queue.
type unchanged struct{}

func (unchanged) Change(context.Context, string, map[string]time.Duration) error { return nil }
