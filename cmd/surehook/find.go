package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"surehook.example/surehook/client"
)

func (p *program) find() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use: "find ID", Short: "Find what an id names, and print the command that shows it",
		Long: "find takes the id of an event, a delivery or an endpoint, or a text with such an id in it, such as an\n" +
			"address. In a tenant it also takes the uid of an endpoint, an idempotency key and the id of a replay job;\n" +
			"without a tenant, and with a key for all tenants, the name of a tenant. The exit code is 1 when nothing is found.",
		Args: arguments, ValidArgsFunction: cobra.NoFileCompletions,
	}
	c.Flags().BoolVar(&all, "all-tenants", false, "in all tenants, also when the configuration names one; needs a key for all tenants")
	c.RunE = func(c *cobra.Command, args []string) error {
		s, err := p.settings()
		if err != nil {
			return err
		}
		api, err := p.api(c.Context(), s)
		if err != nil {
			return err
		}
		path, place := "/v1/search", "any tenant; a uid and an idempotency key need --tenant"
		if s.Tenant != "" && !all {
			path, place = s.path("/v1/tenants/{tenant}/search"), "the tenant "+s.Tenant
		}
		answer, err := api.Call(c.Context(), client.Call{Method: get, Path: path, Query: url.Values{"q": args}})
		if err != nil {
			return fmt.Errorf("find: %w", err)
		}
		var found struct {
			Data []foundRow `json:"data"`
		}
		if err := decode(answer, &found); err != nil {
			return err
		}
		if err := p.writeFound(s, answer, found.Data); err != nil {
			return err
		}
		if len(found.Data) == 0 {
			return failure(fmt.Sprintf("nothing has the id or name %q in %s", args[0], printable(place)))
		}
		return nil
	}
	return c
}

// foundRow is a row of the table of find.
type foundRow struct {
	Kind    string `json:"kind"`
	ID      string `json:"id"`
	Tenant  string `json:"tenant"`
	Name    string `json:"name"`
	State   string `json:"state"`
	At      string `json:"at"`
	Command string `json:"command"` // that shows the record; not in the answer
}

// showing returns the command that shows what became of a record of the kind.
func showing(kind string) string {
	switch kind {
	case "event":
		return "events deliveries"
	case "delivery":
		return "deliveries get"
	}
	return kind + "s get"
}

// writeFound prints the answer, or a table with a command for each row.
func (p *program) writeFound(s settings, answer json.RawMessage, found []foundRow) error {
	if s.Output == outputJSON {
		return writeJSON(p.Out, answer)
	}
	if len(found) == 0 {
		return nil
	}
	rows := make([]json.RawMessage, len(found))
	for i, row := range found {
		row.Command = "surehook " + showing(row.Kind) + " " + quoted(row.ID)
		if row.Kind != "tenant" {
			row.Command += " --tenant " + quoted(row.Tenant)
		}
		var err error
		if rows[i], err = json.Marshal(row); err != nil {
			return fmt.Errorf("write the row: %w", err)
		}
	}
	return p.writeRows(p.Out, columns("KIND=kind", "ID=id", "TENANT=tenant", "NAME=name", "STATE=state", "AT=at", "COMMAND=command"), rows, nil)
}

// quoted returns the text as a word of a shell. The id of a tenant may have a vertical bar.
func quoted(text string) string {
	const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:@+-"
	if text != "" && strings.Trim(text, plain) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
