package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"surehook.example/surehook/client"
)

// list prints a list page by page, up to --limit.
func (p *program) list(c *cobra.Command, api *client.Client, r client.Call, s settings, o operation) error {
	limit, _ := c.Flags().GetInt("limit")
	if limit < 0 {
		return usagef("--limit is %d: say 1 or more, or 0 for all", limit)
	}
	if cursor, _ := c.Flags().GetString("cursor"); cursor != "" {
		r.Query.Set("cursor", cursor)
	}
	all, err := pages(c.Context(), api, r, limit, cmp.Or(o.most, maxPage))
	if err != nil {
		return fmt.Errorf("%s: %w", strings.TrimPrefix(c.CommandPath(), "surehook "), err)
	}
	if len(all.Data) == 0 && strings.Contains(o.path, "{tenant}") {
		if err := knownTenant(c.Context(), api, s.Tenant); err != nil {
			return err
		}
	}
	if s.Output == outputJSON {
		return p.printJSON(struct {
			Data []json.RawMessage `json:"data"`
			Next *string           `json:"next_cursor"`
		}{all.Data, optional(all.NextCursor)})
	}
	if err := p.writeRows(p.Out, o.list, all.Data, p.endpointNames(c.Context(), api, s.Tenant)); err != nil {
		return err
	}
	if len(all.Data) == 0 {
		fmt.Fprintln(p.Err, o.empty(c.Flags()))
	}
	if all.NextCursor != "" {
		fmt.Fprintf(p.Err, "There are more: --limit 0, or --cursor %s%s\n", printable(all.NextCursor), sameTimes(c.Flags()))
	}
	return nil
}

// empty says what to try after a list without rows.
func (o operation) empty(flags *pflag.FlagSet) string {
	var given []string
	for _, q := range o.query {
		if flags.Changed(q.flag()) {
			given = append(given, "--"+q.flag())
		}
	}
	switch {
	case len(given) > 0:
		return "Nothing matches: try it without " + strings.Join(given, ", ") + "."
	case strings.HasPrefix(o.path, endpointsPath), o.path == "/v1/tenants/{tenant}/health":
		return "There is nothing yet. Create an endpoint: surehook endpoints create URL"
	case strings.HasPrefix(o.path, "/v1/tenants/{tenant}/"):
		return "There is nothing yet. Post an event: surehook send TYPE JSON"
	}
	return "There is nothing yet."
}

// knownTenant returns a failure if no tenant has the name. A key of one tenant may not ask, and needs
// not: it has no other.
func knownTenant(ctx context.Context, api *client.Client, tenant string) error {
	answer, err := api.Call(ctx, client.Call{Method: get, Path: "/v1/tenants", Query: query("prefix", tenant, "limit", "1")})
	if refused, ok := errors.AsType[*client.Problem](err); ok && refused.Status == http.StatusForbidden {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for the tenant: %w", err)
	}
	var found struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := decode(answer, &found); err != nil {
		return err
	}
	if len(found.Data) > 0 && found.Data[0].ID == tenant {
		return nil
	}
	return failure(fmt.Sprintf("the tenant %s has no endpoint and no event, so its name may be wrong: surehook tenants list", printable(tenant)))
}

// sameTimes returns flags that name the same times later, because a cursor is only valid with its
// times.
func sameTimes(flags *pflag.FlagSet) string {
	var text strings.Builder
	flags.Visit(func(f *pflag.Flag) {
		if _, ok := f.Value.(*moment); ok {
			fmt.Fprintf(&text, " --%s %s", f.Name, f.Value)
		}
	})
	return text.String()
}

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
