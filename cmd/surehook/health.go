package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

func (p *program) health() *cobra.Command {
	return &cobra.Command{
		Use: "health", Short: "Show what waits, what is dead, and what needs attention, in all tenants", Args: arguments,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.report(c.Context(), "/v1/health", url.Values{}, p.writeHealth)
		},
	}
}

// writeHealth prints the health of the pipeline: first the figures, and then the endpoints that
// need attention, worst first.
func (p *program) writeHealth(answer json.RawMessage, _ namer) error {
	fields, err := flatten(answer)
	if err != nil {
		return err
	}
	var found struct {
		Complete  bool              `json:"complete"`
		Attention []json.RawMessage `json:"attention"`
	}
	if err := json.Unmarshal(answer, &found); err != nil {
		return &badAnswerError{err}
	}
	text := func(path string) string { return cell(fields, path) }
	lines := tabwriter.NewWriter(p.Out, 0, 0, columnGap, ' ', 0)
	mean := ""
	if took := text("last_hour.mean_delivery_time"); took != none {
		mean = ", " + took + " from event to delivery"
	}
	fmt.Fprintf(lines, "since %s\t%s delivered, %s failed attempts, %s dead%s\n", p.since(text("last_hour.since")),
		text("last_hour.delivered"), text("last_hour.failed"), text("last_hour.dead"), mean)
	fmt.Fprintf(lines, "waiting\t%s queued, %s in flight, %s retrying, %s parked%s\n", text("queued"), text("in_flight"), text("retrying"), text("parked"), reasons(fields))
	if oldest := text("oldest_pending.delivery_id"); oldest != none {
		fmt.Fprintf(lines, "oldest\t%s of %s, %s, %s old\n", oldest, text("oldest_pending.tenant"), text("oldest_pending.state"), text("oldest_pending.age"))
	}
	fmt.Fprintf(lines, "dead\t%s deliveries, and %s messages in the queue dead-letters\n", text("dead"), text("queues.dead_letters.visible"))
	fmt.Fprintf(lines, "undeliverable\t%s messages: more than 0 is a fault of Surehook\n", text("queues.undeliverable.visible"))
	fmt.Fprintf(lines, "circuits\t%s open\n", text("open_circuits"))
	if !found.Complete {
		fmt.Fprintln(lines, "\tthese are at least so many: not everything was counted")
	}
	if err := lines.Flush(); err != nil {
		return fmt.Errorf("print the health: %w", err)
	}
	if len(found.Attention) == 0 {
		fmt.Fprintln(p.Out, "No endpoint needs attention.")
		return nil
	}
	fmt.Fprintln(p.Out)
	return p.writeRows(p.Out, columns("CONDITION=condition.state", "SINCE=condition.since", "CLASS=condition.class", "DEAD=dead", "WAITING=waiting",
		"TENANT=tenant", "NAME=~uid|url", "ENDPOINT=endpoint_id"), found.Attention, func([]json.RawMessage) map[string]string { return nil })
}

// reasons returns why deliveries are parked, in brackets.
func reasons(fields []field) string {
	var all []string
	for _, f := range fields {
		if reason, ok := strings.CutPrefix(f.path, "parked_by_reason."); ok {
			all = append(all, f.value+" "+strings.ReplaceAll(reason, "_", " "))
		}
	}
	if len(all) == 0 {
		return ""
	}
	return " (" + strings.Join(all, ", ") + ")"
}
