package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// batches answers posts of batches, and records their times and keys.
type batches struct {
	began  time.Time
	posts  []string                // the time since began and the keys of the events, such as "1s: k1 k2"
	answer func(key string) string // the result of one event; nil accepts all
	after  func(post int)          // called after each post; nil for nothing
}

func (b *batches) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet { // the contract, which the command asks for before it sends the key
		w := httptest.NewRecorder()
		w.Header().Set("Content-Type", "application/yaml")
		_, _ = io.WriteString(w, "openapi: 3.1.0\ninfo:\n  title: Surehook\n")
		return w.Result(), nil
	}
	var batch struct {
		Events []struct {
			Key string `json:"idempotency_key"`
		} `json:"events"`
	}
	if err := json.NewDecoder(r.Body).Decode(&batch); err != nil {
		return nil, err
	}
	var keys, results []string
	for _, e := range batch.Events {
		result := `{"id": "evt_1", "deliveries": 1, "duplicate": false}`
		if b.answer != nil {
			result = b.answer(e.Key)
		}
		keys, results = append(keys, e.Key), append(results, result)
	}
	b.posts = append(b.posts, fmt.Sprintf("%s: %s", time.Since(b.began), strings.Join(keys, " ")))
	if b.after != nil {
		b.after(len(b.posts))
	}
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"data": [`+strings.Join(results, ",")+`]}`)
	return w.Result(), nil
}

// sendFile runs send --lines with the events of newLines, inside a synctest bubble. It returns the
// exit code and the standard error.
func (b *batches) sendFile(ctx context.Context, folder string, args ...string) (code int, said string) {
	b.began = time.Now()
	var errs bytes.Buffer
	env := map[string]string{envURL: "http://127.0.0.1:1", envKey: "shk_x", envTenant: "acme"}
	p := &program{
		In: strings.NewReader(""), Out: io.Discard, Err: &errs, Now: time.Now,
		Lookup: func(name string) (string, bool) { value, ok := env[name]; return value, ok },
		Home:   func() (string, error) { return folder, nil },
		Cache:  func() (string, error) { return folder, nil },
		HTTP:   &http.Client{Transport: b},
	}
	code = p.run(ctx, append([]string{"send", "--lines", filepath.Join(folder, "events")}, args...))
	return code, errs.String()
}

// newLines writes a file of n events with the keys k1, k2 and so on, after a byte order mark, and
// returns its folder.
func newLines(t *testing.T, n int) (folder string) {
	t.Helper()

	var lines strings.Builder
	lines.WriteString("\ufeff")
	for i := range n {
		fmt.Fprintf(&lines, `{"event_type": "a", "payload": {}, "idempotency_key": "k%d"}`+"\n", i+1)
	}
	folder = t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "events"), []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestSend_KeepsToTheRate(t *testing.T) {
	t.Parallel()

	for rate, want := range map[string][]string{
		"2":   {"0s: k1 k2", "1s: k3 k4", "2s: k5"},
		"0.5": {"0s: k1", "2s: k2", "4s: k3", "6s: k4", "8s: k5"},
		"0":   {"0s: k1 k2 k3 k4 k5"},
	} {
		folder := newLines(t, 5)
		synctest.Test(t, func(t *testing.T) {
			b := &batches{}
			code, said := b.sendFile(t.Context(), folder, "--rate", rate)
			if diff := cmp.Diff(want, b.posts); code != exitOK || diff != "" {
				t.Errorf("--rate %s = %d %s\n%s", rate, code, said, diff)
			}
		})
	}
}

func TestSend_CtrlCKeepsTheProgressAndResumeContinues(t *testing.T) {
	t.Parallel()

	folder := newLines(t, 5)
	progress := filepath.Join(folder, "progress")
	synctest.Test(t, func(t *testing.T) {
		ctx, interrupt := context.WithCancel(t.Context())
		b := &batches{after: func(post int) {
			if post == 2 {
				time.AfterFunc(time.Second/2, interrupt) // during the wait for the next batch
			}
		}}
		code, said := b.sendFile(ctx, folder, "--rate", "2", "--resume", progress)
		if code != exitInterrupted || !strings.Contains(said, "The same command continues after line 4.") {
			t.Errorf("Ctrl-C = %d %s; want 130 and the last line that was sent", code, said)
		}
		rest := &batches{}
		code, said = rest.sendFile(t.Context(), folder, "--rate", "2", "--resume", progress)
		if code != exitOK || !strings.Contains(said, "continuing after line 4") || !strings.Contains(said, "line 5: 5 accepted, 0 repeated, 0 refused") {
			t.Errorf("send --resume = %d %s; want the rest of the lines", code, said)
		}
		if diff := cmp.Diff([]string{"0s: k5"}, rest.posts); diff != "" {
			t.Error(diff)
		}
	})
}

func TestSend_SendsThrottledLinesAgain(t *testing.T) {
	t.Parallel()

	folder := newLines(t, 3)
	synctest.Test(t, func(t *testing.T) {
		throttled := 0
		b := &batches{answer: func(key string) string {
			if key == "k2" && throttled < 2 {
				throttled++
				return `{"error": {"type": "about:blank", "title": "", "status": 429, "code": "throttled", "detail": "slow down"}}`
			}
			return `{"id": "evt_1", "deliveries": 1, "duplicate": false}`
		}}
		code, said := b.sendFile(t.Context(), folder)
		if diff := cmp.Diff([]string{"0s: k1 k2 k3", "2s: k2", "4s: k2"}, b.posts); code != exitOK || diff != "" || !strings.Contains(said, "3 accepted, 0 repeated, 0 refused") {
			t.Errorf("send = %d %s\n%s", code, said, diff)
		}
	})
}
