package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"time"

	"surehook.example/surehook/client"
	"surehook.example/surehook/client/openapi"
)

const (
	lineBuffer = 64 << 10
	maxBatch   = 100             // events; the API's limit
	maxBytes   = 2 << 20         // bytes of lines in a batch; the API takes 3008 KiB
	reportEach = time.Second / 2 // between two lines of progress
	laterPause = 2 * time.Second // before lines that were refused for now are sent again
)

// progress is how far a run has come. The file of --resume contains it.
type progress struct {
	Run      string `json:"run"`   // prefix of the idempotency keys of lines without a key
	Lines    int    `json:"lines"` // lines from the start of the file that are done
	Accepted int    `json:"accepted"`
	Repeated int    `json:"repeated"` // accepted by an earlier request
	Refused  int    `json:"refused"`

	file string
}

// openProgress reads the file of an earlier run, or begins a run and writes the file first,
// because the next run must know the keys of this one after a crash.
func openProgress(file string) (*progress, error) {
	g := &progress{Run: newRun(), file: file}
	if file == "" {
		return g, nil
	}
	text, err := os.ReadFile(file) //nolint:gosec // the user names the file
	if errors.Is(err, fs.ErrNotExist) {
		return g, g.save()
	}
	if err == nil {
		err = json.Unmarshal(text, g)
	}
	if err == nil && (g.Run == "" || g.Lines < 0) {
		err = errNoProgress
	}
	if err != nil {
		return nil, usagef("--resume %s: %w", file, err)
	}
	return g, nil
}

var errNoProgress = errors.New("the file does not contain the progress of an earlier run")

// save replaces the file in one step, so that a crash leaves either the old or the new progress.
func (g *progress) save() error {
	if g.file == "" {
		return nil
	}
	text, err := json.Marshal(g)
	if err != nil {
		return fmt.Errorf("write the progress: %w", err)
	}
	if err := replaceFile(g.file, append(text, '\n')); err != nil {
		return usagef("write the progress: %w", err)
	}
	return nil
}

// newRun returns a name for the keys of a run.
func newRun() string { return "cli-" + rand.Text() }

// sending sends the lines in batches.
type sending struct {
	*program

	api      *client.Client
	path     string
	progress *progress
	rate     float64
	began    time.Time
	sent     int // lines of this run
	reported time.Time
	batch    []line
	size     int
}

// line is one event of a file.
type line struct {
	number int
	event  json.RawMessage
}

// add puts a line into the batch, and sends the batch if it is full.
func (s *sending) add(ctx context.Context, number int, raw []byte) error {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		raw = []byte("{}") // the API will refuse the line, and name the missing field
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &fields); err != nil {
		if err := s.flush(ctx); err != nil { // the lines before this one are valid
			return err
		}
		return usagef("line %d is not a JSON object: %w", number, err)
	}
	if _, has := fields["idempotency_key"]; !has {
		fields["idempotency_key"] = json.RawMessage(strconv.Quote(s.progress.Run + "-" + strconv.Itoa(number)))
	}
	event, err := json.Marshal(fields)
	if err != nil {
		return usagef("line %d: %w", number, err)
	}
	if len(s.batch) == s.full() || s.size+len(event) > maxBytes {
		if err := s.flush(ctx); err != nil {
			return err
		}
	}
	s.batch = append(s.batch, line{number, event})
	s.size += len(event)
	return nil
}

// full is the size of a batch: at most as many events as are allowed in one second.
func (s *sending) full() int {
	if s.rate > 0 {
		return min(maxBatch, max(1, int(s.rate)))
	}
	return maxBatch
}

// flush sends the batch, and saves the progress when each of its lines has been accepted or
// refused for good. Lines that were refused for now are sent again.
func (s *sending) flush(ctx context.Context) error {
	lines := s.batch
	s.batch, s.size = nil, 0
	if len(lines) == 0 {
		return nil
	}
	if s.rate > 0 {
		due := s.began.Add(time.Duration(float64(s.sent) / s.rate * float64(time.Second)))
		if err := sleep(ctx, due.Sub(s.Now())); err != nil {
			return err
		}
	}
	next := *s.progress
	for waiting := lines; ; {
		var err error
		if waiting, err = s.post(ctx, waiting, &next); err != nil {
			return err
		}
		if len(waiting) == 0 {
			break
		}
		if err := sleep(ctx, laterPause); err != nil {
			return err
		}
	}
	next.Lines = lines[len(lines)-1].number
	*s.progress = next
	s.sent += len(lines)
	s.report(false)
	return s.progress.save()
}

// post sends one batch, counts the results, and returns the lines to send again.
func (s *sending) post(ctx context.Context, lines []line, count *progress) (again []line, err error) {
	events := make([]json.RawMessage, len(lines))
	for i, l := range lines {
		events[i] = l.event
	}
	body, err := json.Marshal(map[string]any{"events": events})
	if err != nil {
		return nil, usagef("write the batch: %w", err)
	}
	answer, err := s.api.Call(ctx, client.Call{Method: post, Path: s.path, Body: body})
	if err != nil {
		return nil, fmt.Errorf("send lines %d to %d: %w", lines[0].number, lines[len(lines)-1].number, err)
	}
	var results struct {
		Data []struct {
			Duplicate bool             `json:"duplicate"`
			Error     *openapi.Problem `json:"error"`
		} `json:"data"`
	}
	if err := decode(answer, &results); err != nil {
		return nil, err
	}
	if len(results.Data) != len(lines) {
		return nil, &badAnswerError{fmt.Errorf("%d results for %d events", len(results.Data), len(lines))} //nolint:err113 // for a person
	}
	for i, result := range results.Data {
		switch {
		case result.Error != nil:
			refused := client.ProblemOf(*result.Error)
			if refused.Temporary() {
				again = append(again, lines[i])
				continue
			}
			count.Refused++
			fmt.Fprintf(s.Err, "\rline %d: %s\n", lines[i].number, describe(refused))
		case result.Duplicate:
			count.Repeated++
		default:
			count.Accepted++
		}
	}
	return again, nil
}

// report prints the progress, at most twice a second.
func (s *sending) report(last bool) {
	now := s.Now()
	if !last && now.Sub(s.reported) < reportEach {
		return
	}
	s.reported = now
	g := s.progress
	perSecond := float64(s.sent) / max(now.Sub(s.began).Seconds(), 0.001)
	fmt.Fprintf(s.Err, "\rline %d: %d accepted, %d repeated, %d refused, %.0f/s ", g.Lines, g.Accepted, g.Repeated, g.Refused, perSecond)
	if last {
		fmt.Fprintln(s.Err)
	}
}
