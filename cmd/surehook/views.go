package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"surehook.example/surehook/client"
	"surehook.example/surehook/client/openapi"
)

// A view prints an answer for people, in place of a line for each field.
type view func(ctx context.Context, p *program, api *client.Client, s settings, args []string, answer json.RawMessage) error

// viewHealth prints how the endpoint does, and the figures of the last hour and day.
func viewHealth(_ context.Context, p *program, _ *client.Client, _ settings, args []string, answer json.RawMessage) error {
	var h openapi.EndpointHealth
	if err := decode(answer, &h); err != nil {
		return err
	}
	var of struct {
		Windows map[string]json.RawMessage `json:"windows"`
	}
	if err := decode(answer, &of); err != nil {
		return err
	}
	text := p.verdict(args[0], h) + fmt.Sprintf("\n%s, speed %s, circuit %s, timeout %s\n", h.Status, h.Speed, h.CircuitState.State, h.Timeout)
	if _, err := fmt.Fprintln(p.Out, printable(text)); err != nil {
		return fmt.Errorf("print the health: %w", err)
	}
	var rows []json.RawMessage
	for _, window := range []string{"1h", "24h"} {
		rows = append(rows, with("window", window, of.Windows[window]))
	}
	return p.writeRows(p.Out, columns("LAST=window", "ATTEMPTS=attempts", "SUCCESS=success_rate%", "FIRST TRY=?first_attempt_success_rate%", "DELIVERED=delivered", "DEAD=dead",
		"P50=latency.p50", "P95=latency.p95", "P99=latency.p99"), rows, nil)
}

// viewEvent prints the event with its payload, and how its deliveries stand.
func viewEvent(ctx context.Context, p *program, api *client.Client, s settings, args []string, answer json.RawMessage) error {
	fields, err := flatten(answer)
	if err != nil {
		return err
	}
	var of struct {
		Payload json.RawMessage `json:"payload"`
	}
	if err := decode(answer, &of); err != nil {
		return err
	}
	text := fmt.Sprintf("%s  %s\naccepted %s (%s), kept until %s", cell(fields, "id"), cell(fields, "event_type"),
		cell(fields, "accepted_at"), p.since(cell(fields, "accepted_at")), cell(fields, "expires_at"))
	for _, name := range []string{"idempotency_key", "trace_id"} {
		if value := cell(fields, name); value != none {
			text += "\n" + strings.ReplaceAll(name, "_", " ") + " " + value
		}
	}
	var payload bytes.Buffer
	if json.Indent(&payload, of.Payload, "", "  ") == nil {
		text += "\n" + payload.String()
	}
	if _, err := fmt.Fprintln(p.Out, printable(text)+"\n"); err != nil {
		return fmt.Errorf("print the event: %w", err)
	}
	path := client.Path(eventsPath+"/{event}/deliveries", map[string]string{"tenant": s.Tenant, "event": args[0]})
	list, err := pages(ctx, api, client.Call{Method: get, Path: path, Query: query()}, maxPage, maxPage)
	if err != nil {
		return fmt.Errorf("list the deliveries: %w", err)
	}
	return p.writeRows(p.Out, deliveryColumns(), list.Data, p.endpointNames(ctx, api, s.Tenant))
}

// viewDelivery prints how the delivery stands, its attempts in a table, and the last one with all that
// was sent and received.
func viewDelivery(ctx context.Context, p *program, api *client.Client, s settings, _ []string, answer json.RawMessage) error {
	var d openapi.DeliveryDetail
	if err := decode(answer, &d); err != nil {
		return err
	}
	var of struct {
		History []json.RawMessage `json:"history"`
	}
	if err := decode(answer, &of); err != nil {
		return err
	}
	named := p.endpointNames(ctx, api, s.Tenant)([]json.RawMessage{answer})
	lines := []string{
		d.EventType + "  " + d.Id,
		"event " + d.EventId + ", endpoint " + cmp.Or(named[d.EndpointId], d.EndpointId),
		string(d.State) + because(d.Reason) + " since " + p.clock(d.UpdatedAt) + ", after " + counted(d.Attempts, "attempt", "attempts") + "; created " + p.clock(d.CreatedAt),
	}
	if d.Ordering != nil {
		lines = append(lines, p.inOrder(*d.Ordering))
	}
	say := func(text string, at *openapi.Time) {
		if at != nil {
			lines = append(lines, text+p.clock(*at))
		}
	}
	say("next attempt ", d.NextAttemptAt)
	say("next probe of the endpoint ", d.NextProbeAt)
	if len(d.PlannedAt) > 1 {
		say(fmt.Sprintf("%d more are planned, the last ", len(d.PlannedAt)-1), &d.PlannedAt[len(d.PlannedAt)-1])
	}
	say("given up at the latest ", d.GivesUpAt)
	if d.ReplayedAs != nil {
		say("replayed as "+*d.ReplayedAs+" ", d.ReplayedAt)
	}
	if d.By != nil {
		lines = append(lines, "by "+*d.By)
	}
	if d.Note != nil {
		lines = append(lines, "note: "+*d.Note)
	}
	if _, err := fmt.Fprintln(p.Out, printable(strings.Join(lines, "\n"))); err != nil || len(d.History) == 0 {
		return err
	}
	fmt.Fprintln(p.Out)
	err := p.writeRows(p.Out, columns("ATTEMPT=number", "STARTED=started_at", "TRIGGER=?trigger", "CLASS=class", "STATUS=status", "DURATION=duration", "URL=?~url"), of.History, nil)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.Out, printable(exchange(d.History[len(d.History)-1])))
	return err
}

// inOrder returns where the delivery stands among those with its ordering key.
func (p *program) inOrder(o openapi.DeliveryOrdering) string {
	line := fmt.Sprintf("number %d of ordering key %s", o.Number, o.Key)
	switch w := o.WaitsFor; {
	case o.Behind != nil && *o.Behind > 0:
		line += fmt.Sprintf(", %d behind it", *o.Behind)
	case w != nil:
		line += fmt.Sprintf(" waits for number %d, which is %s since %s", w.Number, w.State, p.clock(w.Since))
		if w.DeliveryId != nil {
			line += ": surehook deliveries get " + *w.DeliveryId
		}
	}
	return line
}

func because(reason *openapi.DeliveryDetailReason) string {
	if reason == nil {
		return ""
	}
	return " (" + strings.ReplaceAll(string(*reason), "_", " ") + ")"
}

// clock returns the time for people, and in full.
func (p *program) clock(at time.Time) string {
	return relative(at, p.Now()) + " (" + at.UTC().Format("2006-01-02T15:04:05.000Z07:00") + ")"
}

// exchange returns what the attempt sent and received.
func exchange(a openapi.Attempt) string {
	text := fmt.Sprintf("\nattempt %d: %s after %s", a.Number, answered(a.Status, a.Class), a.Duration) + indented(a.Error, a.Body)
	for _, part := range []struct {
		name string
		of   *map[string]string
	}{{"received", a.ResponseHeaders}, {"sent", a.RequestHeaders}} {
		if part.of == nil {
			continue
		}
		text += "\n" + part.name
		for _, name := range slices.Sorted(maps.Keys(*part.of)) {
			text += "\n  " + name + ": " + (*part.of)[name]
		}
	}
	return text
}

// viewEndpoint prints what the endpoint is, how it stands, and the settings that say something.
func viewEndpoint(_ context.Context, p *program, _ *client.Client, _ settings, _ []string, answer json.RawMessage) error {
	fields, err := flatten(answer)
	if err != nil {
		return err
	}
	said := map[string]bool{}
	say := func(path string) string {
		said[path] = true
		return cell(fields, path)
	}
	name := say("id")
	if uid := say("uid"); uid != none {
		name = uid + " (" + name + ")"
	}
	text := name + "  " + say("url") + "\n" + say("status")
	if reason := say("reason"); reason != none {
		text += ", " + reason
	}
	text += fmt.Sprintf(" since %s; circuit %s; version %s of %s\n", p.since(say("status_since")), say("circuit_state.state"), say("version"), p.since(say("updated_at")))
	t := table{columns: make([]tableColumn, 2)}
	for _, f := range fields {
		if f.value == "" || f.value == "0" || f.value == "false" || said[f.path] {
			continue
		}
		value := f.value
		if isTime(f.path) {
			value = p.since(value)
		}
		t.columns[0].add(printable(f.path), false)
		t.columns[1].add(value, false)
	}
	if _, err := fmt.Fprintln(p.Out, printable(text)); err != nil {
		return fmt.Errorf("print the endpoint: %w", err)
	}
	return t.write(p.Out)
}

// with returns the object with one more text, first.
func with(name, value string, object json.RawMessage) json.RawMessage {
	text, err := json.Marshal(value)
	body, found := bytes.CutPrefix(object, []byte("{"))
	if err != nil || !found {
		return object
	}
	return fmt.Appendf(nil, `{%q:%s,%s`, name, text, body)
}
