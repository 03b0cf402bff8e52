package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"surehook.example/surehook/localstack/dev"
)

// question is what a person on call asks, what the answer reads, the command that answers, and what it must say.
type question struct {
	asked, reads, command string
	want                  string // a regular expression over both outputs
}

// questions returns the questions of testdata/oncall.md, over a week of the history of `surehook dev --history`.
// dead is a dead delivery, and made is the key of an event before the outage of crm. From deployed on, a deploy
// broke two receivers for seven minutes.
func questions(dead, made string, deployed time.Time) []question {
	minutes := " --since " + deployed.Format(time.RFC3339Nano) + " --until " + deployed.Add(7*time.Minute).Format(time.RFC3339Nano)
	return []question{
		{"Is anything wrong now?", "the depth of each queue, 416 requests for the open circuits and the active endpoints, and at most seven for each of 500", "health", `(?s)at risk +\d+ waiting deliveries are lost if nothing changes.*acme +1 +failing +401 .* billing\n.*acme +1 +failing +503 .* crm\n`},
		{"Since when does the endpoint fail, and why?", "the health of one endpoint, and its newest 20 deliveries with a failed attempt", "why crm -t acme", `(?s)^crm is failing since \w{3} \d\d:\d\d \([89]h ago\): 503 unavailable\n.*\n  down for maintenance\n`},
		{"What waits, and for how long?", "one request for each shard of the endpoint and page", "deliveries list -t acme --endpoint crm --state parked --limit 3", `dlv_\S+ .* crm +parked +circuit_open`},
		{"What was sent, and what came back?", "the delivery, its event and its attempts", "deliveries get " + dead + " -t acme", `(?s)attempt 1: 401 refused after \S+.*  \{"error":"invalid token"\}.*received\n.*sent\n.*  Webhook-Id: evt_`},
		{"With which bytes?", "the delivery, the event and the endpoint", "deliveries get " + dead + " --body -t acme", `^\d+ bytes, SHA-256 [0-9a-f]{64}, without the line end\n\{"type":"invoice.created"`},
		{"Who changed the endpoint?", "at most 1,000 records", "audit list -t acme --target warehouse", `endpoint.change .* (max_age|timeout): \S+ → \S+`},
		{"What did this customer get yesterday, by type?", "one request for the list of the endpoints, one for 100 of them, and one for each, at most 500", "stats -t acme --since yesterday --until today --group type", `order.paid +\d+ +\d+ +0 `},
		{"Who is the noisiest customer?", "400 requests for the active endpoints, and one for each of at most 500", "stats --all-tenants --group tenant", `(?s)acme +\d{3}.*globex +\d{3}.*initech +\d{3}`},
		{"Why is the endpoint disabled?", "as the second question", "why reports -t initech", `(?s)^reports is disabled since \w{3} \d\d:\d\d \([67]h ago\): gone\n.*\n  this hook was removed\n`},
		{"Who paused the endpoint, and when?", "at most 1,000 records", "audit list -t initech --target archive", `endpoint.pause .* reason: - → manual, status: active → paused +support desk `},
		{"Is the queue of dead letters in step with the table?", "as the first question", "health", `dead +(\d+) deliveries at endpoints active in the last day, and \d+ messages in the queue dead-letters`},
		{"How slow was the endpoint over a week?", "the endpoint and its hours, two requests", "stats -t globex --endpoint erp --since 7d", `P99\n +1[01]\d\d .*s\n$`},
		{"Who loses events in the next 24 hours?", "as the first question", "health --at-risk", `LOSS .*\nin 1[45]h +(\d+) +\d+ +acme +crm +failing +503 .*\nin 2d +\d+ +\d+ +initech +reports +disabled +gone `},
		{"What did the deploy break, in these seven minutes?", "two requests for 100 tenants, and in each one for each shard of its endpoints", "deliveries list --all-tenants --failed-attempt true" + minutes, `^TENANT .*\nacme +dlv_\S+ .* orders .* delivered .*\nglobex +dlv_\S+ .* shop .* delivered .*\n(globex .* erp .*\n)?$`},
		{"Who still signs by an old secret?", "two requests for 100 tenants, and in each two for 100 endpoints", "endpoints list --all-tenants --signed-by both", `^TENANT .*\nglobex +ep_\S+ +shop .*\n$`},
		{"Did this customer get the event? Prove it.", "the key, its event and the deliveries", "deliveries list -t acme --idempotency-key " + made, `dlv_\S+ .* delivered .* 200 `},
		{"Send again what died since the morning, at 5 a second.", "a dry run counts, the health of at most ten endpoints, then the job and once a second its progress", "replay -t acme --endpoint billing --since 1d --rate 5 --yes", `billing +\d+\nep_\w+ still fails: 401 refused. (?s).*dead again`},
	}
}

// onCall is a command line over a week of history, and a count of what it asks.
type onCall struct {
	*dev.Server

	deployed        time.Time
	cache           string
	reads           atomic.Int64 // requests to the table
	requests, bytes int64        // of the API
}

func newOnCall(tb testing.TB) *onCall {
	tb.Helper()

	o := &onCall{cache: tb.TempDir()}
	// A deploy is 6 h 30 min before the end of a history, which is a moment after now, and its first events are posted
	// in that second.
	o.deployed = time.Now().Add(-6*time.Hour - 30*time.Minute).UTC().Truncate(time.Millisecond)
	s, err := dev.Start(tb.Context(), dev.Options{History: 7 * 24 * time.Hour, Reads: &o.reads})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = s.Stop(context.Background()) })
	o.Server = s
	return o
}

// RoundTrip implements http.RoundTripper.
func (o *onCall) RoundTrip(r *http.Request) (*http.Response, error) {
	w, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err //nolint:wrapcheck // the transport's own error
	}
	defer func() { _ = w.Body.Close() }()
	body, err := io.ReadAll(w.Body)
	w.Body = io.NopCloser(bytes.NewReader(body))
	o.requests++
	o.bytes += int64(len(body))
	return w, err //nolint:wrapcheck // as above
}

// run returns what the command prints.
func (o *onCall) run(tb testing.TB, command string) string {
	tb.Helper()

	var out bytes.Buffer
	p := &program{
		In: strings.NewReader(""), Out: &out, Err: &out, Now: time.Now, HTTP: &http.Client{Transport: o},
		Lookup: func(name string) (string, bool) {
			value, ok := map[string]string{envURL: o.URL, envKey: o.Key}[name]
			return value, ok
		},
		Home: func() (string, error) { return tb.TempDir(), nil }, Cache: func() (string, error) { return o.cache, nil },
	}
	if code := p.run(tb.Context(), strings.Fields(command)); code != exitOK && !strings.HasPrefix(command, "replay") {
		tb.Errorf("%s = %d\n%s", command, code, &out)
	}
	return out.String()
}

// questions returns the questions about this history.
func (o *onCall) questions(tb testing.TB) []question {
	tb.Helper()

	first := func(pattern, command string) string {
		answer := o.run(tb, command)
		found := regexp.MustCompile(pattern).FindString(answer)
		if found == "" {
			tb.Fatalf("no %s in %s", pattern, answer)
		}
		return found
	}
	dead := first(`dlv_\S+`, "deliveries list -t acme --endpoint billing --state dead --limit 1")
	return questions(dead, first(`acme-\d+`, "events list -t acme --event-type order.paid --until 10h"), o.deployed)
}

// TestOnCall asks each question by one command. With -args -update it writes the transcript.
func TestOnCall(t *testing.T) {
	t.Parallel()

	if testing.Short() {
		t.Skip("a week of history")
	}
	o := newOnCall(t)
	var text strings.Builder
	for _, q := range o.questions(t) {
		o.requests, o.bytes = 0, 0
		o.reads.Store(0)
		answer := o.run(t, q.command)
		if !regexp.MustCompile(q.want).MatchString(answer) {
			t.Errorf("%s surehook %s:\n%s\nwant %s", q.asked, q.command, answer, q.want)
		}
		fmt.Fprintf(&text, "## %s\n\nReads: %s. Here: requests %d, KB %.1f, reads of the table %d.\n\n```text\n$ surehook %s\n%s```\n\n",
			q.asked, q.reads, o.requests, float64(o.bytes)/1000, o.reads.Load(), q.command, shortened(answer))
	}
	if *update {
		page := "# On call\n\nWhat a person on call asks, each with the command that answers it, over `surehook dev --history 168h`. `go test ./cmd/surehook -run TestOnCall -args -update` writes this page.\n\n"
		if err := os.WriteFile(transcript, []byte(page+strings.TrimSpace(text.String())+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(transcript)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := commands(string(page)), commands(text.String()); got != want {
		t.Errorf("%s has other commands: run go test ./cmd/surehook -run TestOnCall -args -update\n%s\nwant\n%s", transcript, got, want)
	}
}

// transcript is the page with the answers.
const transcript = "testdata/oncall.md"

// commands returns the questions and commands of a page, without the ids and times of one run.
func commands(page string) string {
	lines := regexp.MustCompile(`(?m)^(## .*|\$ .*)$`).FindAllString(page, -1)
	return regexp.MustCompile(`dlv_\S+|acme-\d+|\d{4}-\S+Z`).ReplaceAllString(strings.Join(lines, "\n"), "...")
}

// shortened returns the answer as a terminal shows the end of a line that is rewritten, and at most its first 40 lines.
func shortened(answer string) string {
	lines := strings.SplitAfter(answer, "\n")
	for i, line := range lines {
		parts := strings.Split(line, "\r")
		lines[i] = parts[len(parts)-1]
	}
	return strings.Join(lines[:min(len(lines), 40)], "")
}
