package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

func (p *program) health() *cobra.Command {
	atRisk := false
	c := &cobra.Command{
		Use: "health", Short: "Show what waits, what is dead, and what needs attention, in all tenants", Args: arguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("tenant") {
				return usagef("health is of all tenants: for one, surehook endpoints attention -t %s", c.Flag("tenant").Value)
			}
			write := p.writeHealth
			if atRisk {
				write = p.writeAtRisk
			}
			return p.report(c.Context(), "/v1/health", url.Values{}, write)
		},
	}
	c.Flags().BoolVar(&atRisk, "at-risk", false, "list the endpoints that lose waiting deliveries if nothing changes, the first loss first")
	return c
}

// causeColumn says why endpoints fail: by the status of the last answer, or without one by the class.
const causeColumn = "CAUSE=condition.status|condition.class|condition.reason"

// writeAtRisk prints the endpoints with deliveries at risk, the first loss first.
func (p *program) writeAtRisk(answer json.RawMessage, _ namer) error {
	var found struct {
		Complete  bool `json:"complete"`
		Attention []struct {
			Tenant    string           `json:"tenant"`
			Endpoints int              `json:"endpoints"`
			AtRisk    int              `json:"at_risk"`
			Cursor    string           `json:"cursor"`
			Worst     []map[string]any `json:"worst"`
		} `json:"attention"`
	}
	if err := decode(answer, &found); err != nil {
		return err
	}
	var losing []map[string]any
	for _, group := range found.Attention {
		for _, e := range group.Worst {
			if e["first_loss_at"] != nil {
				e["tenant"] = group.Tenant
				losing = append(losing, e)
			}
		}
		if more := group.Endpoints - len(group.Worst); more > 0 && group.AtRisk > 0 {
			fmt.Fprintf(p.Err, "%s has %d more for the same cause: surehook endpoints attention -t %[1]s --cursor %[3]s --limit 0\n", printable(group.Tenant), more, printable(group.Cursor))
		}
	}
	if len(losing) == 0 {
		fmt.Fprintln(p.Out, "No waiting delivery is lost if nothing changes.")
		return p.atLeast(found.Complete)
	}
	slices.SortFunc(losing, func(a, b map[string]any) int {
		return strings.Compare(fmt.Sprint(a["first_loss_at"]), fmt.Sprint(b["first_loss_at"]))
	})
	rows := make([]json.RawMessage, len(losing))
	for i, e := range losing {
		var err error
		if rows[i], err = json.Marshal(e); err != nil {
			return &badAnswerError{err}
		}
	}
	if err := p.atLeast(found.Complete); err != nil {
		return err
	}
	return p.writeRows(p.Out, columns("LOSS=first_loss_at", "AT RISK=at_risk", "WAITING=waiting", "TENANT=~tenant", "NAME=~uid|endpoint_id", "CONDITION=condition.state", causeColumn, "SINCE=condition.since"), rows, func([]json.RawMessage) map[string]string { return nil })
}

// writeHealth prints the health of the pipeline: first the figures, and then the tenants with
// endpoints that need attention, a row for each cause, worst first.
func (p *program) writeHealth(answer json.RawMessage, _ namer) error {
	fields, err := flatten(answer)
	if err != nil {
		return err
	}
	var found struct {
		Complete  bool              `json:"complete"`
		Attention []json.RawMessage `json:"attention"`
	}
	if err := decode(answer, &found); err != nil {
		return err
	}
	text := func(path string) string { return cell(fields, path) }
	lines := tabwriter.NewWriter(p.Out, 0, 0, columnGap, ' ', 0)
	mean := ""
	if took := text("last_hour.mean_delivery_time"); took != none {
		mean = ", " + brief(took) + " from event to delivery"
	}
	fmt.Fprintf(lines, "since %s\t%s delivered, %s failed attempts, %s dead%s\n", p.since(text("last_hour.since")),
		text("last_hour.delivered"), text("last_hour.failed"), text("last_hour.dead"), mean)
	fmt.Fprintf(lines, "waiting\t%s queued, %s in flight, %s retrying, %s parked%s\n", text("queued"), text("in_flight"), text("retrying"), text("parked"), reasons(fields))
	if oldest := text("oldest_pending.delivery_id"); oldest != none {
		fmt.Fprintf(lines, "oldest\t%s of %s, %s, created %s\n", oldest, text("oldest_pending.tenant"), text("oldest_pending.state"), p.since(text("oldest_pending.created_at")))
	}
	if first := text("first_loss_at"); first != none {
		fmt.Fprintf(lines, "at risk\t%s lost if nothing changes, the first %s\n", plural(text("at_risk"), "waiting delivery is", "waiting deliveries are"), p.since(first))
	}
	fmt.Fprintf(lines, "dead\t%s at endpoints active in the last day, and %s in the queue dead-letters\n",
		plural(text("dead"), "delivery", "deliveries"), plural(text("queues.dead_letters.visible"), "message", "messages"))
	fmt.Fprintf(lines, "undeliverable\t%s messages: more than 0 is a fault of Surehook\n", text("queues.undeliverable.visible"))
	fmt.Fprintf(lines, "circuits\t%s open\n", text("open_circuits"))
	if at := text("as_of"); at != none {
		fmt.Fprintf(lines, "counted\tof endpoints with more than 100, %s\n", p.since(at))
	}
	if !found.Complete {
		fmt.Fprintln(lines, "\tat least so many: of an endpoint with more than 100, the next review counts all, and of more than 500 endpoints those in trouble or active last are counted")
	}
	if err := lines.Flush(); err != nil {
		return fmt.Errorf("print the health: %w", err)
	}
	if len(found.Attention) == 0 {
		fmt.Fprintln(p.Out, "No endpoint needs attention.")
		return nil
	}
	fmt.Fprintln(p.Out)
	return p.writeRows(p.Out, columns("TENANT=~tenant", "ENDPOINTS=endpoints", "CONDITION=condition.state", causeColumn, "SINCE=condition.since",
		"DEAD=dead", "WAITING=waiting", "LOSS=first_loss_at", "WORST=~worst.0.uid|worst.0.endpoint_id"), found.Attention,
		func([]json.RawMessage) map[string]string { return nil })
}

// atLeast says so if not everything was counted.
func (p *program) atLeast(complete bool) error {
	if complete {
		return nil
	}
	_, err := fmt.Fprintln(p.Err, "There may be more: not everything was counted.")
	return err
}

// plural returns the number of the API with its noun.
func plural(number, one, many string) string {
	if number == "1" {
		return "1 " + one
	}
	return number + " " + many
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
