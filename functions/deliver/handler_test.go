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

	"surehook.example/surehook/functions/internal/lambdafn"
	"surehook.example/surehook/internal/delivery/deliver"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// fails holds texts: a message that contains one of them fails.
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

// received records the messages.
type received struct{ messages []deliver.Message }

func (r *received) ProcessBatch(_ context.Context, messages []deliver.Message) []string {
	r.messages = append(r.messages, messages...)
	return nil
}

// TestHandle_TellsTheQueue checks the queues of single tasks. A queue of another stack in the
// account is not a queue, even if its name ends with the same word.
func TestHandle_TellsTheQueue(t *testing.T) {
	t.Parallel()

	const account = "https://sqs.eu-west-1.amazonaws.com/123456789012/"
	tests := map[string]hook.Queue{
		"shop-slot": hook.QueueSlot, "shop-overflow": hook.QueueOverflow, "shop-coalesce": hook.QueueCoalesce, "shop-live": 0, "shop-retry": 0, "shop-replay": 0,
		"other-slot": 0, "slot": 0, "shop-slot-2": 0,
	}
	for queue, want := range tests {
		t.Run(queue, func(t *testing.T) {
			t.Parallel()

			var got received
			h := &handler{deliverer: &got, queues: queuesOf(names.Queues[string]{Slot: account + "shop-slot", Overflow: account + "shop-overflow", Coalesce: account + "shop-coalesce"})}
			_, err := h.Handle(t.Context(), events.SQSEvent{Records: []events.SQSMessage{
				{MessageId: "m1", Body: "b1", EventSourceARN: "arn:aws:sqs:eu-west-1:123456789012:" + queue},
			}})
			if diff := cmp.Diff([]deliver.Message{{ID: "m1", Body: "b1", Queue: want}}, got.messages); diff != "" || err != nil {
				t.Errorf("Handle() of a message of %s = %v; messages (-want +got):\n%s", queue, err, diff)
			}
		})
	}
}

// unchanged does not change when messages become visible again.
type unchanged struct{}

func (unchanged) Change(context.Context, string, map[string]time.Duration) error { return nil }
