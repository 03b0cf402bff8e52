package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"surehook.example/surehook/client"
)

// everywhere reports whether the list of one tenant may be read in all tenants.
func (o operation) everywhere() bool {
	return o.list != nil && o.wide == "" && o.most == 0 && strings.Contains(o.path, "{tenant}") && len(strings.Fields(o.use)) == 1
}

// across prints the list in all tenants, up to --limit rows: one request for 100 tenants, and then those
// of the list in each tenant, of which it reads no further pages than it prints.
func (p *program) across(c *cobra.Command, api *client.Client, r client.Call, s settings, o operation) error {
	limit, _ := c.Flags().GetInt("limit")
	if limit < 0 {
		return usagef("--limit is %d: say 1 or more, or 0 for all", limit)
	}
	tenants, err := pages(c.Context(), api, client.Call{Method: get, Path: "/v1/tenants", Query: query()}, 0, maxPage)
	if err != nil {
		return fmt.Errorf("list the tenants: %w", err)
	}
	rows, names := []json.RawMessage{}, map[string]string{}
	more := false
	for _, row := range tenants.Data {
		var of struct {
			ID string `json:"id"`
		}
		if err := decode(row, &of); err != nil {
			return err
		}
		if more = limit > 0 && len(rows) >= limit; more {
			break
		}
		found, err := pages(c.Context(), api, client.Call{Method: get, Path: client.Path(o.path, map[string]string{"tenant": of.ID}), Query: maps.Clone(r.Query)}, max(limit-len(rows), 0), maxPage)
		if err != nil {
			return fmt.Errorf("%s of the tenant %s: %w", strings.TrimPrefix(c.CommandPath(), "surehook "), of.ID, err)
		}
		more = found.NextCursor != ""
		maps.Copy(names, p.endpointNames(c.Context(), api, of.ID)(found.Data))
		for _, row := range found.Data {
			rows = append(rows, with("tenant", of.ID, row))
		}
	}
	return p.writeAcross(s, o, rows, names, more, c)
}

func (p *program) writeAcross(s settings, o operation, rows []json.RawMessage, names map[string]string, more bool, c *cobra.Command) error {
	if s.Output == outputJSON {
		return p.printJSON(struct {
			Data []json.RawMessage `json:"data"`
			More bool              `json:"more"`
		}{rows, more})
	}
	if err := p.writeRows(p.Out, append(columns("TENANT=~tenant"), o.list...), rows, func([]json.RawMessage) map[string]string { return names }); err != nil {
		return err
	}
	if len(rows) == 0 {
		fmt.Fprintln(p.Err, o.empty(c.Flags()))
	}
	if more {
		fmt.Fprintln(p.Err, "There are more: --limit 0")
	}
	return nil
}

// sent prints the body of the delivery's request, or a curl command that makes it. The preview of the
// event's request has them: the endpoint as it is now, and a secret in place of its own.
func (p *program) sent(ctx context.Context, api *client.Client, s settings, delivery json.RawMessage, curl bool) error {
	var of struct {
		Event    string `json:"event_id"`
		Endpoint string `json:"endpoint_id"`
	}
	if err := decode(delivery, &of); err != nil {
		return err
	}
	body, err := json.Marshal(map[string]string{"event_id": of.Event})
	if err != nil {
		return fmt.Errorf("write the request: %w", err)
	}
	path := client.Path(endpointsPath+"/{endpoint}/preview", map[string]string{"tenant": s.Tenant, "endpoint": of.Endpoint})
	answer, err := api.Call(ctx, client.Call{Method: post, Path: path, Body: body})
	if err != nil {
		return fmt.Errorf("preview the request: %w", err)
	}
	var preview struct {
		Request struct {
			URL     string            `json:"url"`
			Headers map[string]string `json:"headers"`
			Body    string            `json:"body"`
		} `json:"request"`
	}
	if err := decode(answer, &preview); err != nil {
		return err
	}
	text := preview.Request.Body
	if curl {
		text = curlOf(preview.Request.URL, preview.Request.Headers, text)
		fmt.Fprintln(p.Err, "The signature is made with a placeholder, and hidden values are ***.")
	} else {
		fmt.Fprintf(p.Err, "%d bytes, SHA-256 %x, without the line end\n", len(text), sha256.Sum256([]byte(text)))
	}
	_, err = fmt.Fprintln(p.Out, cmp.Or(printable(text), none))
	return err
}

// curlOf returns the command that makes the request.
func curlOf(url string, headers map[string]string, body string) string {
	lines := []string{"curl -X POST " + quoted(url)}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		lines = append(lines, "-H "+quoted(name+": "+headers[name]))
	}
	return strings.Join(append(lines, "--data-raw "+quoted(body)), " \\\n  ")
}
