package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/functions/internal/lambdafn"
	"surehook.example/surehook/internal/aws/apigateway"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/httpapi"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var errNo = errors.New("no")

// recorder records the messages.
type recorder struct {
	fails hook.JobID // its messages fail; empty: none do

	mu       sync.Mutex
	messages []replay.Message
}

func (w *recorder) Work(_ context.Context, m replay.Message) error {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.messages = append(w.messages, m)
	if w.fails != "" && m.Job == w.fails {
		return errNo
	}
	return nil
}

// echo responds with method, path, caller and body of the request.
func echo(w http.ResponseWriter, r *http.Request) {
	p, _ := httpapi.PrincipalFrom(r.Context())
	body, _ := io.ReadAll(r.Body)
	w.WriteHeader(http.StatusAccepted)
	_, _ = io.WriteString(w, r.Method+" "+r.URL.Path+" by "+string(p.Key)+": "+string(body))
}

// TestHandle_Answers decodes events of SQS and API Gateway, and compares the JSON of the response
// with the golden file.
func TestHandle_Answers(t *testing.T) {
	t.Parallel()

	first := replay.Message{Tenant: "acme", Job: "rpl_01jb2z8v9kfq6t3m5n7p9r1s2w"}
	second := replay.Message{Tenant: "globex", Job: "rpl_01jb2z8v9kfq6t3m5n7p9r1s2x"}
	tests := []struct {
		name     string
		event    string
		worker   *recorder
		golden   string // empty: an error
		messages []replay.Message
	}{
		{name: "a batch without failures", event: "batch", worker: &recorder{}, golden: "all-well", messages: []replay.Message{first, second}},
		{name: "one failed job is reported", event: "batch", worker: &recorder{fails: second.Job}, golden: "one-failed", messages: []replay.Message{first, second}},
		{name: "an invalid message does not affect others", event: "poisoned", worker: &recorder{}, golden: "poisoned", messages: []replay.Message{second}},
		{name: "a request of the API", event: "request", worker: &recorder{}, golden: "request", messages: nil},
		{name: "anything else is an error", event: "unknown", worker: &recorder{}, golden: "", messages: nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			raw, err := os.ReadFile(filepath.Join("testdata", tt.event+".event.json"))
			if err != nil {
				t.Fatal(err)
			}
			var in lambdafn.Input
			if err := json.Unmarshal(raw, &in); err != nil {
				t.Fatal(err)
			}
			h := &handler{api: apigateway.Handle(http.HandlerFunc(echo)), replays: tt.worker, batches: lambdafn.Batches{Visibility: unchanged{}, Rand: rand.Float64, Log: slog.New(slog.DiscardHandler), Now: time.Now}}
			response, err := h.Handle(t.Context(), in)
			if (err != nil) != (tt.golden == "") {
				t.Errorf("Handle(%s) = %v; want an error: %t", tt.event, err, tt.golden == "")
			}
			slices.SortFunc(tt.worker.messages, func(a, b replay.Message) int { return strings.Compare(string(a.Job), string(b.Job)) })
			if diff := cmp.Diff(tt.messages, tt.worker.messages); diff != "" {
				t.Errorf("Handle(%s): messages differ (-want +got):\n%s", tt.event, diff)
			}
			if tt.golden != "" {
				compare(t, filepath.Join("testdata", tt.golden+".golden.json"), response)
			}
		})
	}
}

// TestHandle_tellsErasuresFromReplays checks that the message of an erasure goes to the eraser.
func TestHandle_tellsErasuresFromReplays(t *testing.T) {
	t.Parallel()

	replays, erasures := &recorder{}, &recorder{}
	h := &handler{replays: replays, erasures: erasures, batches: lambdafn.Batches{Visibility: unchanged{}, Rand: rand.Float64, Log: slog.New(slog.DiscardHandler), Now: time.Now}}
	want := replay.Message{Tenant: "acme", Erasure: hook.NewErasureID()}
	body, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	in := lambdafn.Input{SQSEvent: events.SQSEvent{Records: []events.SQSMessage{{MessageId: "m1", Body: body}}}}
	if _, err := h.Handle(t.Context(), in); err != nil || len(replays.messages) != 0 {
		t.Errorf("Handle() = %v, and the replayer got %v; want nothing for it", err, replays.messages)
	}
	if diff := cmp.Diff([]replay.Message{want}, erasures.messages); diff != "" {
		t.Errorf("messages of the eraser (-want +got):\n%s", diff)
	}
}

func compare(t *testing.T, golden string, response any) {
	t.Helper()

	got, err := json.MarshalIndent(response, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
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
}

// unchanged does not change when messages become visible again.
type unchanged struct{}

func (unchanged) Change(context.Context, string, map[string]time.Duration) error { return nil }
