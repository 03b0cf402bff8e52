package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"surehook.example/surehook/client"
)

func (p *program) deadLetters() *cobra.Command {
	var period string
	c := &cobra.Command{
		Use: "dead-letters", Short: "Group the dead deliveries by cause, with a suggestion for each", Args: arguments,
	}
	c.Flags().StringVar(&period, "period", "", "length of the period before now, 1h to 336h, default 24h")
	c.RunE = func(c *cobra.Command, _ []string) error {
		return p.report(c.Context(), deadPath+"/analysis", query("period", period), p.writeAnalysis)
	}
	c.AddCommand(p.command(operation{
		use: "list", short: "List the dead deliveries of the tenant", method: get, path: deadPath,
		query: filters("endpoint", "blocking", "event_type", "status_class", "failed_attempt", "idempotency_key", "since", "until"), list: deliveryColumns(),
	}))
	return c
}

// writeAnalysis prints the groups, largest first.
func (p *program) writeAnalysis(answer json.RawMessage, names namer) error {
	var found struct {
		Period   string            `json:"period"`
		Total    int               `json:"total"`
		Complete bool              `json:"complete"`
		Groups   []json.RawMessage `json:"groups"`
	}
	if err := decode(answer, &found); err != nil {
		return err
	}
	if err := p.writeRows(p.Out, columns("COUNT=count", "ENDPOINT=endpoint_id", "REASON=reason", "CLASS=class", "STATUS=status",
		"PATTERN=pattern", "FIRST=first_at", "LAST=last_at", "SUGGESTION=~suggestion"), found.Groups, names); err != nil {
		return err
	}
	more := ""
	if !found.Complete {
		more = ", and more: the analysis stopped counting"
	}
	fmt.Fprintf(p.Err, "%d dead deliveries in %s%s\n", found.Total, found.Period, more)
	return nil
}

func (p *program) stats() *cobra.Command {
	var endpoint, by, group string
	var all bool
	c := &cobra.Command{
		Use: "stats", Short: "Show rates, retries and latency of the tenant or of an endpoint", Args: arguments,
	}
	c.Flags().StringVar(&endpoint, "endpoint", "", "only this endpoint, by id or uid")
	since := p.moment(c.Flags(), "since", "from this whole hour, default 24 h ago: 2d, today, yesterday, 10:00, or 2026-11-01T00:00:00Z", time.Hour)
	until := p.moment(c.Flags(), "until", "before this whole hour, as of --since", time.Hour)
	c.Flags().StringVar(&by, "by", "", "hour or total")
	c.Flags().StringVar(&group, "group", "", "a row for each endpoint or type; with --all-tenants for each tenant")
	c.Flags().BoolVar(&all, "all-tenants", false, "all tenants, last 24 h; needs a key for all tenants")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := excludes(c, "all-tenants", "endpoint", "since", "until"); err != nil {
			return err
		}
		path := "/v1/tenants/{tenant}/stats"
		if endpoint != "" {
			path = client.Path(endpointsPath+"/{endpoint}/stats", map[string]string{"endpoint": endpoint})
		}
		if all {
			path = "/v1/stats"
		}
		return p.report(c.Context(), path, query("since", since.String(), "until", until.String(), "by", by, "group", group), func(answer json.RawMessage, names namer) error {
			var found page
			if err := decode(answer, &found); err != nil {
				return err
			}
			return p.writeRows(p.Out, slices.Concat(groups(found.Data), columns("ATTEMPTS=attempts", "DELIVERED=delivered", "DEAD=dead",
				"SUCCESS=success_rate%", "FIRST TRY=first_attempt_success_rate%", "P50=latency.p50", "P95=latency.p95", "P99=latency.p99")), found.Data, names)
		})
	}
	return c
}

// groups returns the columns that tell the rows apart: those with a value in the first row.
func groups(rows []json.RawMessage) []column {
	all := columns("HOUR=hour", "TENANT=tenant", "ENDPOINT=endpoint_id", "EVENT TYPE=event_type")
	if len(rows) == 0 {
		return all
	}
	fields, err := flatten(rows[0])
	if err != nil {
		return all // the table reports the error
	}
	return slices.DeleteFunc(all, func(c column) bool { return find(fields, c.path).value == "" })
}

// report reads one document, and prints the JSON or the table.
func (p *program) report(ctx context.Context, path string, query url.Values, table func(answer json.RawMessage, names namer) error) error {
	s, err := p.settings()
	if err != nil {
		return err
	}
	ofTenant := strings.Contains(path, "{tenant}")
	if ofTenant {
		if _, err := s.requireTenant(); err != nil {
			return err
		}
		path = s.path(path)
	}
	api, err := p.api(ctx, s)
	if err != nil {
		return err
	}
	answer, err := api.Call(ctx, client.Call{Method: get, Path: path, Query: query})
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	if ofTenant && bare(answer) {
		if err := knownTenant(ctx, api, s.Tenant); err != nil {
			return err
		}
	}
	if s.Output == outputJSON {
		return writeJSON(p.Out, answer)
	}
	return table(answer, p.endpointNames(ctx, api, s.Tenant))
}

// bare reports whether a document has no rows.
func bare(answer json.RawMessage) bool {
	var rows struct {
		Data   []json.RawMessage `json:"data"`
		Groups []json.RawMessage `json:"groups"`
	}
	return json.Unmarshal(answer, &rows) == nil && len(rows.Data)+len(rows.Groups) == 0
}
