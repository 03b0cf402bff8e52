package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"surehook.example/surehook/client"
)

// operation is a command that makes one call of the API.
type operation struct {
	use, short   string // as cobra takes them; the arguments of use fill the path's parameters in order
	method, path string // of the contract
	wide         string // the path for all tenants, if the command also works without a tenant
	query        []option
	body         []option // flags that become fields of the body
	raw          bool     // the command takes --data, the whole body
	match        bool     // the command takes --version, for If-Match
	list         []column // of a list; nil for one object
	most         int      // how many rows one call returns at most, for a list without pages; 0 for a list with pages
	done         string   // printed after an answer without a body, with the arguments
	ask          string   // the question before a call with serious effects, with %s for the first argument; --yes answers it
	mild         bool     // the question is for people alone: without a terminal, the call is made
	sends        bool     // the answer is a delivery, whose request --body and --curl show
	view         view     // of the answer, for people; nil: a line for each field
	effect       *effect  // what the call ends or takes away, counted for the question
}

// option is a flag, with the field or the query parameter that it sets.
type option struct {
	name  string // of the field or parameter, "a.b" for b inside the object a; the flag has "-" for "_" and ".", and drops the "s" of a list
	usage string
	kind  kind
	arg   bool // set by an argument of the command instead of a flag
}

// kind is the type of a field.
type kind int

const (
	text kind = iota + 1
	list
	number
	numbers
	object
	yes
	file    // a text that must not be visible on the command line: the flag names a file
	instant // a time, only in a query
)

func (o option) flag() string {
	name := o.name
	if o.kind == list {
		name = strings.TrimSuffix(name, "s")
	}
	if o.kind == file {
		name += "_file"
	}
	return strings.NewReplacer("_", "-", ".", "-").Replace(name)
}

// The flags for times of many commands.
const (
	sinceUsage = "not before this time: 1h, 2d, today, yesterday, 10:00, or 2026-11-01T00:00:00Z"
	untilUsage = "before this time, as of --since"
)

// The parameters of many lists.
func filters(names ...string) []option {
	usage := map[string]string{
		"event_type":      "event type",
		"endpoint":        "endpoint, by id or uid",
		"state":           "retrying, parked, delivered, dead, discarded or cancelled",
		"status_class":    "class of the last status: none, 2xx, 3xx, 4xx or 5xx",
		"failed_attempt":  "true: only those with a failed attempt, also if they arrived later; those parked without one are in --state parked",
		"blocking":        "true: only those that block their ordering key",
		"idempotency_key": "your own id of the event",
		"since":           sinceUsage,
		"until":           untilUsage,
	}
	all := make([]option, 0, len(names))
	for _, name := range names {
		o := option{name: name, usage: usage[name], kind: text}
		if name == "since" || name == "until" {
			o.kind = instant
		}
		all = append(all, o)
	}
	return all
}

// command returns the command of the operation.
func (p *program) command(o operation) *cobra.Command {
	c := &cobra.Command{Use: o.use, Short: o.short, Args: arguments}
	for _, q := range o.query {
		if q.kind == instant {
			p.moment(c.Flags(), q.flag(), q.usage, time.Second)
		} else {
			c.Flags().String(q.flag(), "", q.usage)
		}
	}
	for _, b := range o.body {
		b.declare(c.Flags())
	}
	if o.raw {
		c.Flags().String("data", "", "JSON of the body, @FILE, or - for standard input; flags replace its fields")
	}
	if o.match {
		c.Flags().String("if-version", "", "change only this version")
	}
	if o.ask != "" {
		c.Flags().BoolP("yes", "y", false, "do it without a question")
	}
	if o.list != nil {
		c.Flags().Int("limit", 50, "most rows; 0 for all")
		if o.most == 0 {
			c.Flags().String("cursor", "", "continue after this cursor of a list")
		}
		if o.everywhere() {
			c.Flags().Bool("all-tenants", false, "in all tenants; needs a key for all tenants")
		}
	}
	if o.sends {
		c.Flags().Bool("body", false, "print the body of the request")
		c.Flags().Bool("curl", false, "print the request as a curl command")
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		s, err := p.settings()
		if err != nil {
			return err
		}
		all, _ := c.Flags().GetBool("all-tenants")
		if err := excludes(c, "all-tenants", "cursor", "tenant"); err != nil {
			return err
		}
		if all {
			s.Tenant = "-" // each in turn
		}
		r, err := p.request(c, o, s, args)
		if err != nil {
			return err
		}
		api, err := p.api(c.Context(), s)
		if err != nil {
			return err
		}
		if all {
			return p.across(c, api, r, s, o)
		}
		if o.list != nil {
			return p.list(c, api, r, s, o)
		}
		if yes, _ := c.Flags().GetBool("yes"); o.ask != "" && !yes {
			if err := p.askBefore(c.Context(), api, s, o, args[0]); err != nil {
				return err
			}
		}
		answer, err := api.Call(c.Context(), r)
		if err != nil {
			return fmt.Errorf("%s: %w", strings.TrimPrefix(c.CommandPath(), "surehook "), err)
		}
		if len(answer) == 0 {
			fmt.Fprintln(p.Err, strings.TrimSpace(o.done+" "+strings.Join(args, " ")))
			return nil
		}
		if o.path == limitsPath && string(answer) == "{}" {
			if err := knownTenant(c.Context(), api, args[0]); err != nil {
				return err
			}
		}
		body, _ := c.Flags().GetBool("body")
		if curl, _ := c.Flags().GetBool("curl"); body || curl {
			return p.sent(c.Context(), api, s, answer, curl)
		}
		if o.view != nil && s.Output != outputJSON {
			return o.view(c.Context(), p, api, s, args, answer)
		}
		return p.show(s, answer)
	}
	return c
}

// show prints one object.
func (p *program) show(s settings, object json.RawMessage) error {
	if s.Output == outputJSON {
		return writeJSON(p.Out, object)
	}
	return p.writeFields(p.Out, object)
}

// declare adds the flag of a field.
func (o option) declare(flags *pflag.FlagSet) {
	if o.arg {
		return
	}
	switch o.kind {
	case text:
		flags.String(o.flag(), "", o.usage)
	case list:
		flags.StringSlice(o.flag(), nil, o.usage+"; repeatable")
	case number:
		flags.Float64(o.flag(), 0, o.usage)
	case numbers:
		flags.IntSlice(o.flag(), nil, o.usage+"; repeatable")
	case object:
		flags.String(o.flag(), "", o.usage+"; or @FILE, or - for standard input")
	case yes:
		flags.Bool(o.flag(), false, o.usage)
	case file:
		flags.String(o.flag(), "", o.usage+"; FILE, or - for standard input")
	case instant: // only in a query
	}
}

// request returns the call that the command line describes.
func (p *program) request(c *cobra.Command, o operation, s settings, args []string) (client.Call, error) {
	r := client.Call{Method: o.method, Query: url.Values{}}
	values := map[string]string{}
	rest := args
	for _, word := range strings.Fields(o.use)[1:] {
		name := strings.ToLower(word)
		if strings.Contains(o.path, "{"+name+"}") {
			if rest[0] == "" {
				return r, usagef("%s is empty", word)
			}
			values[name], rest = rest[0], rest[1:]
		}
	}
	path := o.path
	if _, given := values["tenant"]; !given && strings.Contains(path, "{tenant}") {
		tenant, err := s.requireTenant()
		if err != nil && o.wide == "" {
			return r, err
		}
		if values["tenant"] = tenant; tenant == "" {
			path = o.wide
		}
	}
	r.Path = client.Path(path, values)
	for _, q := range o.query {
		if value := c.Flags().Lookup(q.flag()).Value.String(); value != "" {
			r.Query.Set(q.name, value)
		}
	}
	if o.match {
		if version, _ := c.Flags().GetString("if-version"); version != "" {
			if _, err := strconv.ParseUint(version, 10, 63); err != nil {
				return r, usagef("--if-version is %q: say a number, as `endpoints get` shows it", version)
			}
			r.Header = http.Header{"If-Match": {`"` + version + `"`}}
		}
	}
	var err error
	r.Body, err = p.body(c, o, rest)
	return r, err
}

// printJSON prints a value as indented JSON.
func (p *program) printJSON(value any) error {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return writeJSON(p.Out, b.Bytes())
}
