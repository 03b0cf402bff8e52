package main

import (
	"cmp"
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

func (p *program) tail() *cobra.Command {
	var endpoint, eventType string
	var window, interval time.Duration
	var count int
	c := &cobra.Command{
		Use: "tail", Short: "Print deliveries as they end", Args: arguments,
		Long: "Print deliveries as they become delivered, dead, discarded or cancelled.\n" +
			"The command reads the list of deliveries again and again, so it sees events accepted in the last --window only.",
	}
	c.Flags().StringVar(&endpoint, "endpoint", "", "only deliveries of this endpoint, by id or uid")
	c.Flags().StringVar(&eventType, "event-type", "", "only this event type")
	c.Flags().DurationVar(&window, "window", 15*time.Minute, "age of the oldest events")
	c.Flags().DurationVar(&interval, "interval", 2*time.Second, "time between two reads")
	c.Flags().IntVar(&count, "count", 0, "end after this number of deliveries; 0 for Ctrl-C")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if interval < time.Second/10 || window < interval {
			return usagef("--interval is %s and --window is %s: say an interval of 100ms or more, and a longer window", interval, window)
		}
		s, api, err := p.ofTenant(c.Context())
		if err != nil {
			return err
		}
		t := &tailing{
			program: p, api: api, settings: s, path: s.path(deliveriesPath), query: query("endpoint", endpoint, "event_type", eventType),
			window: window, left: count,
		}
		return t.run(c.Context(), interval)
	}
	return c
}

// tailing is a run of tail.
type tailing struct {
	*program

	api      *client.Client
	settings settings
	path     string
	query    url.Values
	window   time.Duration
	left     int // deliveries to print; 0 for no end

	ended map[string]bool   // the printed deliveries, by id and time of the end
	names map[string]string // of endpoints, read with the first line
}

// run prints what ended between two reads. What ended before the command is not
// printed. Ctrl-C is the normal end.
func (t *tailing) run(ctx context.Context, interval time.Duration) error {
	began := t.Now()
	for first := true; ; first = false {
		rows, err := t.read(ctx)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // Ctrl-C
		}
		if err != nil {
			return fmt.Errorf("read the deliveries: %w", err)
		}
		if done, err := t.print(ctx, rows, began); done || err != nil {
			return err
		}
		if first {
			fmt.Fprintln(t.Err, "waiting for deliveries to end, until Ctrl-C")
		}
		if sleep(ctx, interval) != nil {
			return nil //nolint:nilerr // Ctrl-C
		}
	}
}

// read returns the deliveries of the window, oldest first.
func (t *tailing) read(ctx context.Context) ([]json.RawMessage, error) {
	t.query.Set("since", t.Now().Add(-t.window).UTC().Format(time.RFC3339))
	all, err := pages(ctx, t.api, client.Call{Method: get, Path: t.path, Query: t.query}, 0, maxPage)
	slices.Reverse(all.Data)
	return all.Data, err
}

// print prints the deliveries that ended since began and were not printed.
func (t *tailing) print(ctx context.Context, rows []json.RawMessage, began time.Time) (done bool, err error) {
	seen := make(map[string]bool, len(rows))
	for _, row := range rows {
		var d struct {
			ID      string    `json:"id"`
			State   string    `json:"state"`
			Updated time.Time `json:"updated_at"`
		}
		if err := decode(row, &d); err != nil {
			return false, err
		}
		if !slices.Contains([]string{"delivered", "dead", "discarded", "cancelled"}, d.State) || d.Updated.Before(began.Truncate(time.Millisecond)) {
			continue
		}
		key := d.ID + " " + d.State
		seen[key] = true
		if t.ended[key] {
			continue
		}
		if t.names == nil && t.settings.Output == outputTable {
			t.names = t.endpointNames(ctx, t.api, t.settings.Tenant)(rows)
		}
		if err := t.line(row); err != nil {
			return false, err
		}
		if t.left--; t.left == 0 {
			return true, nil
		}
	}
	t.ended = seen // rows beyond the window do not come back
	return false, nil
}

// line prints one delivery.
func (t *tailing) line(row json.RawMessage) error {
	if t.settings.Output == outputJSON {
		_, err := fmt.Fprintf(t.Out, "%s\n", escaped(row))
		if err != nil {
			return fmt.Errorf("print the delivery: %w", err)
		}
		return nil
	}
	fields, err := flatten(row)
	if err != nil {
		return err
	}
	cells := []string{cell(fields, "updated_at"), fmt.Sprintf("%-9s", cell(fields, "state"))}
	for _, path := range []string{"event_type", "id", "endpoint_id", "attempts", "last.class", "last.status", "reason"} {
		text := cell(fields, path)
		cells = append(cells, cmp.Or(t.names[text], text))
	}
	if _, err := fmt.Fprintln(t.Out, strings.Join(cells, "  ")); err != nil {
		return fmt.Errorf("print the delivery: %w", err)
	}
	return nil
}
