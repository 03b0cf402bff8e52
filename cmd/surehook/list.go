package main

import (
	"cmp"
	"encoding/json"
	"fmt"
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
	if s.Output == outputJSON {
		return p.printJSON(struct {
			Data []json.RawMessage `json:"data"`
			Next *string           `json:"next_cursor"`
		}{all.Data, optional(all.NextCursor)})
	}
	if err := p.writeRows(p.Out, o.list, all.Data, p.endpointNames(c.Context(), api, s.Tenant)); err != nil {
		return err
	}
	if all.NextCursor != "" {
		fmt.Fprintf(p.Err, "There are more: --limit 0, or --cursor %s%s\n", printable(all.NextCursor), sameTimes(c.Flags()))
	}
	return nil
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
