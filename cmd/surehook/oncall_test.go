package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/localstack/dev"
)

// question is what a person on call asks, what the answer reads, the command that answers, and what it must say.
type question struct {
	asked, reads, command string
	want                  string // a regular expression over both outputs
}

// questions returns the questions of testdata/oncall.md, over the history of `surehook dev --history 30h`.
// dead is a dead delivery; from and until are around the beginning of an outage, and made is the key of
// an event before it.
func questions(dead, from, until, made string) []question {
	return []question{
		{"Is anything wrong now?", "the depth of each queue, 25 requests for the active endpoints, and at most eight for each of 500", "health", `(?s)at risk +\d+ waiting deliveries are lost if nothing changes.*acme +1 +failing +401 .* billing\n.*acme +1 +failing +503 .* crm\n`},
		{"Since when does the endpoint fail, and why?", "the health of one endpoint, and its newest 20 deliveries", "why billing -t acme", `(?s)^billing is failing since \w{3} \d\d:\d\d \(2h ago\): 401 refused\n.*\n  \{"error":"invalid token"\}\n`},
		{"What waits, and for how long?", "one request for each shard of the endpoint and page", "deliveries list -t acme --endpoint crm --state parked --limit 3", `dlv_\S+ .* crm +parked +circuit_open`},
		{"What was sent, and what came back?", "the delivery, its event and its attempts", "deliveries get " + dead + " -t acme", `(?s)attempt 1: 401 refused after \S+.*  \{"error":"invalid token"\}.*received\n.*sent\n.*  Webhook-Id: evt_`},
		{"With which bytes?", "the delivery, the event and the endpoint", "deliveries get " + dead + " --body -t acme", `^\{"type":"invoice.created"`},
		{"Who changed the endpoint?", "at most 1,000 records", "audit list -t acme --target warehouse", `endpoint.change .* (max_age|timeout): \S+ → \S+`},
		{"What did this customer get yesterday, by type?", "one request for the list of the endpoints, one for 100 of them, and one for each, at most 500", "stats -t acme --since yesterday --until today --group type", `order.paid +\d+ +\d+ +0 `},
		{"Who is the noisiest customer?", "25 requests for the active endpoints, and one for each of at most 500", "stats --all-tenants --group tenant", `(?s)acme +\d{3}.*globex +\d{3}.*initech +\d{3}`},
		{"Why is the endpoint paused or disabled?", "at most 1,000 records", "audit list -t initech --target archive", `endpoint.pause`},
		{"Is the queue of dead letters in step with the table?", "as the first question", "health", `dead +(\d+) deliveries at endpoints active in the last day, and \d+ messages in the queue dead-letters`},
		{"How slow was the endpoint over a week?", "the endpoint and its hours, two requests", "stats -t globex --endpoint erp --since 7d", `P99\n.*s\n$`},
		{"Who loses events, and when?", "as the first question", "health --at-risk", `in 2d +\d+ +\d+ +acme +crm +failing +503`},
		{"What did the deploy break, in these minutes?", "two requests for 100 tenants, and in each one for each shard of its endpoints", "deliveries list --all-tenants --failed-attempt true --since " + from + " --until " + until, `acme +dlv_\S+ .* crm .* 503 `},
		{"Who still signs by an old secret?", "two requests for 100 tenants, and in each two for 100 endpoints", "endpoints list --all-tenants --signed-by both", `globex +ep_\S+ +shop `},
		{"Did this customer get the event? Prove it.", "the key, its event and the deliveries", "deliveries list -t acme --idempotency-key " + made, `dlv_\S+ .* delivered .* 200 `},
		{"Send again what died since the morning, at 5 a second.", "a dry run counts, the health of at most ten endpoints, then the job and once a second its progress", "replay -t acme --endpoint billing --since 1d --rate 5 --yes", `billing +\d+\nep_\w+ still fails: 401 refused. (?s).*dead again`},
	}
}

// TestOnCall asks each question by one command. With -args -update it writes the transcript.
func TestOnCall(t *testing.T) {
	t.Parallel()

	if testing.Short() {
		t.Skip("30 hours of history")
	}
	s, err := dev.Start(t.Context(), dev.Options{History: 30 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Stop(t.Context()) }()
	run := func(command string) string {
		var out bytes.Buffer
		p := &program{
			In: strings.NewReader(""), Out: &out, Err: &out, Now: time.Now, HTTP: http.DefaultClient,
			Lookup: func(name string) (string, bool) {
				value, ok := map[string]string{envURL: s.URL, envKey: s.Key}[name]
				return value, ok
			},
			Home: func() (string, error) { return t.TempDir(), nil }, Cache: func() (string, error) { return t.TempDir(), nil },
		}
		if code := p.run(t.Context(), strings.Fields(command)); code != exitOK && !strings.HasPrefix(command, "replay") {
			t.Errorf("%s = %d\n%s", command, code, &out)
		}
		return out.String()
	}
	first := func(pattern, text string) string {
		found := regexp.MustCompile(pattern).FindStringSubmatch(text)
		if found == nil {
			t.Fatalf("no %s in %s", pattern, text)
		}
		return found[len(found)-1]
	}
	run("endpoints rotate-secret shop --overlap 24h -t globex")
	dead := first(`dlv_\S+`, run("deliveries list -t acme --endpoint billing --state dead --limit 1"))
	began, err := time.Parse(time.RFC3339, first(`"opened_at": "(\S+)"`, run("endpoints health crm -t acme -o json")))
	if err != nil {
		t.Fatal(err)
	}
	stamp := func(ago time.Duration) string { return began.Add(ago).UTC().Format(time.RFC3339) }
	made := first(`acme-\d+`, run("events list -t acme --event-type order.paid --until "+stamp(-time.Hour)))

	var text strings.Builder
	for _, q := range questions(dead, stamp(-time.Hour), stamp(time.Minute), made) {
		answer := run(q.command)
		if !regexp.MustCompile(q.want).MatchString(answer) {
			t.Errorf("%s surehook %s:\n%s\nwant %s", q.asked, q.command, answer, q.want)
		}
		fmt.Fprintf(&text, "## %s\n\nReads: %s.\n\n```text\n$ surehook %s\n%s```\n\n", q.asked, q.reads, q.command, shortened(answer))
	}
	if *update {
		page := "# On call\n\nFifteen questions of a person on call and one more, each with the command that answers it, over `surehook dev --history 30h`. `go test ./cmd/surehook -run TestOnCall -args -update` writes this page.\n\n"
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
