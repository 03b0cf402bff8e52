package main

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"surehook.example/surehook/client"
)

// consolePath is where the API serves the console.
const consolePath = "/console"

func (p *program) open() *cobra.Command {
	var printOnly bool
	c := &cobra.Command{
		Use: "open [ID]", Short: "Open the console, at the page of an endpoint, event, delivery or replay job",
		Long: "Print the address of the console's page of an endpoint (id or uid), an event, a delivery or a replay job, and open it in the browser.\n" +
			"Without an id, the page is that of the tenant. When the output is not a terminal, the address is only printed.",
		Example: "  surehook open orders\n  surehook open --print evt_01km8e2b2wf8j9vyt4v1y6z7q8",
	}
	c.Flags().BoolVar(&printOnly, "print", false, "print the address only")
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 1 {
			return usagef("say one id: %s", c.UseLine())
		}
		s, err := p.settings()
		if err != nil {
			return err
		}
		address, err := s.address()
		if err != nil {
			return err
		}
		page, err := consolePage(s, strings.Join(args, ""))
		if err != nil {
			return err
		}
		link := address.String() + consolePath + page
		fmt.Fprintln(p.Out, link)
		if printOnly || p.terminal(p.Out) == 0 {
			return nil
		}
		if err := p.Browse(c.Context(), link); err != nil { // for example on a machine without a browser
			fmt.Fprintf(p.Err, "no browser opened: %s\n", err)
		}
		return nil
	}
	return c
}

// consolePage returns the path of a page below the console. An id without a prefix is a uid of an endpoint.
func consolePage(s settings, id string) (string, error) {
	if id == "" && s.Tenant == "" {
		return "", nil
	}
	tenant, err := s.requireTenant()
	if err != nil {
		return "", err
	}
	kind, rest, _ := strings.Cut(id, "_")
	path, query := "/t/{tenant}/endpoints/{id}", ""
	switch {
	case id == "":
		path = "/t/{tenant}"
	case kind == "evt":
		path = "/t/{tenant}/events/{id}"
	case kind == "rpl":
		path = "/t/{tenant}/replays/{id}"
	case kind == "dlv": // the id of a delivery contains that of its event
		event, _, _ := strings.Cut(rest, "_")
		path, query, id = "/t/{tenant}/events/{id}", "?delivery="+url.QueryEscape(id), "evt_"+event
	}
	return client.Path(path, map[string]string{"tenant": tenant, "id": id}) + query, nil
}
