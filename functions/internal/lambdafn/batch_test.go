package lambdafn_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/functions/internal/lambdafn"
	"surehook.example/surehook/internal/emf"
)

// changes records the changes of visibility, and returns err.
type changes struct {
	err   error
	queue string
	after map[string]time.Duration
}

func (c *changes) Change(_ context.Context, queueARN string, after map[string]time.Duration) error {
	c.queue, c.after = queueARN, after
	return c.err
}

// measuredIn returns the metrics of the failed messages in the lines: their number, their queue,
// and the most receives of one of them. It returns "" if there are none.
func measuredIn(t *testing.T, lines string) string {
	t.Helper()

	for line := range strings.Lines(lines) {
		var got struct {
			Msg      string `json:"msg"`
			Queue    string `json:"queue"`
			PutBack  int    `json:"messages_put_back"`
			Receives int    `json:"put_back_receives"`
			AWS      struct {
				CloudWatchMetrics []struct {
					Dimensions [][]string `json:"Dimensions"`
				} `json:"CloudWatchMetrics"`
			} `json:"_aws"`
		}
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatal(err)
		}
		if got.Msg != "batch.failed" {
			continue
		}
		for _, directive := range got.AWS.CloudWatchMetrics {
			if !slices.ContainsFunc(directive.Dimensions, func(names []string) bool { return slices.Contains(names, "queue") }) {
				t.Errorf("a metric has the dimensions %v; want the queue among them", directive.Dimensions)
			}
		}
		return fmt.Sprintf("%d of %s received %d", got.PutBack, got.Queue, got.Receives)
	}
	return ""
}

// TestRespond checks that failed messages come again after a back-off by their receives, and that
// the response names all of them.
func TestRespond(t *testing.T) {
	t.Parallel()

	const queue = "arn:aws:sqs:eu-west-1:123456789012:live"
	record := func(id, receives string) events.SQSMessage {
		return events.SQSMessage{
			MessageId: id, ReceiptHandle: "receipt of " + id, EventSourceARN: queue,
			Attributes: map[string]string{"ApproximateReceiveCount": receives},
		}
	}
	records := []events.SQSMessage{record("a", "1"), record("b", "4"), record("c", "49"), record("d", "")}
	tests := []struct {
		name     string
		failed   []string
		err      error
		after    map[string]time.Duration
		logged   bool
		measured string // of measuredIn
	}{
		{name: "without failures nothing is changed", failed: nil, after: nil},
		{name: "after its first receive, a message waits a second", failed: []string{"a"}, after: map[string]time.Duration{"receipt of a": time.Second}, measured: "1 of live received 1"},
		{
			name: "each message waits by the number of its own receives", failed: []string{"a", "b", "c", "d"},
			after: map[string]time.Duration{
				"receipt of a": time.Second, "receipt of b": 8 * time.Second, "receipt of c": 5 * time.Minute, "receipt of d": time.Second,
			},
			measured: "4 of live received 49",
		},
		{
			name: "a refused change is logged, and the message fails all the same", failed: []string{"b"}, err: errors.New("no"),
			after: map[string]time.Duration{"receipt of b": 8 * time.Second}, logged: true, measured: "1 of live received 4",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			var lines strings.Builder
			visibility := &changes{err: tt.err}
			batches := lambdafn.Batches{
				Visibility: visibility, Rand: func() float64 { return 0 }, Log: slog.New(slog.NewJSONHandler(&lines, nil)),
				Metrics: emf.Set{Environment: "prod"}, Now: time.Now,
			}
			response := batches.Respond(t.Context(), records, tt.failed)
			if response.BatchItemFailures == nil {
				t.Error("Respond() has no list of failures; want an empty list, never null")
			}
			var reported []string
			for _, f := range response.BatchItemFailures {
				reported = append(reported, f.ItemIdentifier)
			}
			if diff := cmp.Diff(tt.failed, reported); diff != "" {
				t.Errorf("Respond() reports other messages (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.after, visibility.after); diff != "" {
				t.Errorf("visibility changes differ (-want +got):\n%s", diff)
			}
			if len(tt.after) > 0 && visibility.queue != queue {
				t.Errorf("changed queue %q; want %q", visibility.queue, queue)
			}
			if measured := measuredIn(t, lines.String()); measured != tt.measured {
				t.Errorf("measured %q; want %q", measured, tt.measured)
			}
			if logged := strings.Contains(lines.String(), "message.visibility_failed"); logged != tt.logged {
				t.Errorf("logged %t; want %t: %s", logged, tt.logged, lines.String())
			}
		})
	}
}
