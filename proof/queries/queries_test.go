// Package queries_test checks the saved queries of Logs Insights against the log lines of the real
// code. A query with a field that no line has finds nothing, but is not an error.
package queries_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/delivery/send"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/httpapi"
	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/proof/world"
)

// lines holds the fields of the lines, by message.
type lines map[string]map[string]bool

// every returns the fields that CloudWatch or Lambda adds: to each line, or to the line about a failed
// invocation.
func every() []string {
	return []string{"@timestamp", "@log", "@message", "message", "level", "type", "record.status"}
}

// add adds the fields of the log's lines.
func (l lines) add(t *testing.T, log string) {
	t.Helper()

	for text := range strings.Lines(log) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(text), &fields); err != nil {
			t.Fatalf("line %s: %v", text, err)
		}
		message, _ := fields["msg"].(string)
		if l[message] == nil {
			l[message] = make(map[string]bool)
		}
		for name := range fields {
			l[message][name] = true
		}
	}
}

// has reports whether a line with the message has the field; for an empty message, whether any line
// has it.
func (l lines) has(field, message string) bool {
	if slices.Contains(every(), field) {
		return true
	}
	if message != "" {
		return l[message][field]
	}
	for _, fields := range l {
		if fields[field] {
			return true
		}
	}
	return false
}

// written returns the lines of deliveries that succeed after a retry or die, of a circuit that opens,
// of a check of the breaker that fails, and of posts with and without success.
func written(t *testing.T) lines {
	t.Helper()

	all := make(lines)
	answer := func(r send.Request) hook.Outcome {
		if r.Attempt == 1 || strings.HasSuffix(r.Endpoint.URL, "dead") {
			return world.Always(503)(r)
		}
		return world.Always(200)(r)
	}
	d := world.New(t, world.Options{Function: world.Deliver, Delays: []time.Duration{time.Second}})
	d.Answer = answer
	d.Post(d.Endpoint(nil), d.Endpoint(func(e *hook.Endpoint) { e.URL += "/dead" }))
	d.Run()
	all.add(t, d.Log.String())

	b := world.New(t, world.Options{Function: world.Breaker, Delays: slices.Repeat([]time.Duration{10 * time.Second}, 20), Circuits: true})
	b.Answer = world.Always(503)
	failing := b.Endpoint(nil)
	b.PostMany(failing, 20)
	b.RunFor(10 * time.Minute)
	b.Calls.Fail = func(string, hook.EndpointID) error { return errors.New("no table") }
	if err := b.Breaker().Reconcile(b.Context(), hook.CircuitCheck{Tenant: world.Tenant, Endpoint: failing.ID}); err == nil {
		t.Error("Reconcile() = nil without a table; want an error, for its line")
	}
	all.add(t, b.Log.String())

	var log world.Log
	logger := slog.New(slog.NewJSONHandler(&log, nil))
	for _, a := range []httpapi.Acceptor{d.Acceptor(), faulty{d.Acceptor()}} {
		ctx := httpapi.WithPrincipal(t.Context(), hook.Principal{Key: "key_1", Tenant: world.Tenant, Scopes: hook.Scopes()})
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/tenants/"+string(world.Tenant)+"/events",
			strings.NewReader(`{"event_type":"order.paid","payload":1}`))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
		httpapi.Events(a, logger).ServeHTTP(httptest.NewRecorder(), r)
	}
	all.add(t, log.String())
	return all
}

// faulty fails to accept events.
type faulty struct{ *ingest.Acceptor }

func (faulty) Accept(context.Context, hook.TenantID, ingest.Request) (ingest.Result, error) {
	return ingest.Result{}, errors.New("no table")
}

// TestSavedQueries_nameFieldsOfLines compares a query that filters by a message with the lines that have
// the message, and any other query with all lines.
func TestSavedQueries_nameFieldsOfLines(t *testing.T) {
	t.Parallel()

	all := written(t)
	found := saved(t)
	for _, name := range []string{"dead-letters-by-reason", "one-event", "why-not-delivered", "failed-requests", "refused-or-slow-requests"} {
		if found[name] == "" {
			t.Errorf("the template has no query %s", name)
		}
	}
	for name, text := range found {
		message := ""
		if of := regexp.MustCompile(`message = '([a-z._]+)'`).FindStringSubmatch(text); of != nil {
			if message = of[1]; all[message] == nil {
				t.Errorf("%s filters by the message %s, which no line has", name, message)
			}
		}
		for _, field := range fieldsOf(text) {
			if !all.has(field, message) {
				t.Errorf("%s names the field %s, which no line %s has:\n%s", name, field, message, text)
			}
		}
	}
}

// TestSavedQueries_findWrongFields checks that the test above finds a misspelt field and a field of
// another message, and that it reads the fields of a query correctly.
func TestSavedQueries_findWrongFields(t *testing.T) {
	t.Parallel()

	all := written(t)
	for _, field := range []string{"durations_ms", "wave"} {
		if all.has(field, names.LineAttempted) {
			t.Errorf("a line %s has %s; want none", names.LineAttempted, field)
		}
	}
	const text = "parse @message '* *' as ip, path\n| filter message = 'a.b' and wave >= 3 or x like /y z/\n| fields a = 1 as first\n| stats sum(first) as n, pct(ms, 95) by tenant\n| sort n desc\n| limit 2"
	if got := fieldsOf(text); !slices.Equal(got, []string{"@message", "a", "message", "ms", "tenant", "wave", "x"}) {
		t.Errorf("fieldsOf() = %v; want the fields of lines, and no alias, verb or text", got)
	}
}

// TestDeadLetters_everyDeath ends deliveries by the last attempt, by max_age while queued, and by max_age
// while parked. The query of dead letters finds one line for each death, with the tenant.
func TestDeadLetters_everyDeath(t *testing.T) {
	t.Parallel()

	d := world.New(t, world.Options{Function: world.Deliver, Delays: []time.Duration{time.Second}})
	d.Answer = world.Always(503)
	d.Post(d.Endpoint(nil))
	d.Run()
	d.Post(d.Endpoint(nil))
	d.Clock.Pass(hook.DefaultMaxAge + time.Minute)
	d.Run()

	b := world.New(t, world.Options{Function: world.Breaker, Circuits: true})
	e := b.Endpoint(nil)
	parked := hook.QueuedDelivery(b.Event("order.paid", b.Clock.Now().Add(-hook.DefaultMaxAge-time.Minute), e), e.Target())
	parked.State, parked.Reason, parked.DecidedBy = hook.StateParked, hook.ReasonCircuit, hook.NewNonce()
	b.Save(parked)
	if err := b.Breaker().Reconcile(b.Context(), hook.CircuitCheck{Tenant: world.Tenant, Endpoint: e.ID}); err != nil {
		t.Fatal(err)
	}
	if state := b.States([]hook.DeliveryRef{parked.Ref()}); state != "1 dead expired" {
		t.Fatalf("the parked delivery is %s; want 1 dead expired", state)
	}

	query := saved(t)["dead-letters-by-reason"]
	deaths := make(map[string]int) // by message
	for text := range strings.Lines(d.Log.String() + b.Log.String()) {
		line := make(map[string]any)
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatal(err)
		}
		if line["message"] = line["msg"]; !selects(t, query, line) {
			continue
		}
		if line[names.LogTenant] != string(world.Tenant) {
			t.Errorf("the query finds the line %s; want the tenant in it", text)
		}
		if message, ok := line["message"].(string); ok {
			deaths[message]++
		}
	}
	if len(deaths) != 2 || deaths[names.LineAttempted] != 1 || deaths[names.LineDecided] != 2 {
		t.Errorf("the query finds the deaths %v; want 1 by an attempt and 2 without", deaths)
	}
}

// selects reports whether the query selects the line. The filter must consist of equalities joined by
// "or".
func selects(t *testing.T, query string, line map[string]any) bool {
	t.Helper()

	filter, _, _ := strings.Cut(strings.TrimPrefix(query, "filter "), "\n| ")
	for term := range strings.SplitSeq(filter, " or ") {
		equal := regexp.MustCompile(`^(\w+) = '([^']*)'$`).FindStringSubmatch(term)
		if equal == nil {
			t.Fatalf("the term %q of the filter is not an equality", term)
		}
		if line[equal[1]] == equal[2] {
			return true
		}
	}
	return false
}

// saved returns the queries of the template, by name without the prefix.
func saved(t *testing.T) map[string]string {
	t.Helper()

	raw, err := os.ReadFile("../../infra/surehook/testdata/prod.template.json")
	if err != nil {
		t.Fatal(err)
	}
	var template struct {
		Resources map[string]struct {
			Type       string `json:"Type"`
			Properties struct {
				Name        json.RawMessage `json:"Name"`
				QueryString json.RawMessage `json:"QueryString"`
			} `json:"Properties"`
		} `json:"Resources"`
	}
	if err := json.Unmarshal(raw, &template); err != nil {
		t.Fatal(err)
	}
	found := make(map[string]string)
	for id, r := range template.Resources {
		if r.Type != "AWS::Logs::QueryDefinition" {
			continue
		}
		var name, text string
		if err := errors.Join(json.Unmarshal(r.Properties.Name, &name), json.Unmarshal(r.Properties.QueryString, &text)); err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		_, name, _ = strings.Cut(name, "/")
		found[name] = text
	}
	return found
}

// fieldsOf returns the sorted fields of the log that a query names. It leaves out texts, commands,
// functions, operators, and names that the query itself defines.
func fieldsOf(query string) []string {
	query = regexp.MustCompile(`'[^']*'|/[^/]*/`).ReplaceAllString(query, " ")
	own := []string{"fields", "filter", "stats", "sort", "limit", "parse", "as", "by", "and", "or", "like", "asc", "desc"}
	for _, stage := range strings.Split(query, "\n| ") {
		if parsed, ok := strings.CutPrefix(stage, "parse "); ok {
			_, given, _ := strings.Cut(parsed, " as ")
			own = append(own, strings.Split(given, ", ")...)
		}
	}
	for _, given := range regexp.MustCompile(` as ([a-z0-9_]+)`).FindAllStringSubmatch(query, -1) {
		own = append(own, given[1])
	}
	var fields []string
	for _, at := range regexp.MustCompile(`@?[a-z][a-z0-9_.]*\(?`).FindAllString(query, -1) {
		if !strings.HasSuffix(at, "(") && !slices.Contains(own, at) {
			fields = append(fields, at)
		}
	}
	slices.Sort(fields)
	return slices.Compact(fields)
}
