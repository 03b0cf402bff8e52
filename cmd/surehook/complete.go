package main

import (
	"context"
	"net/url"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"surehook.example/surehook/client"
)

// offer returns words that an argument or a flag may take. It asks the API once, within
// nameTimeout, and offers nothing if that fails.
type offer func(ctx context.Context, typed string) []cobra.Completion

// complete tells the shell which words the arguments and flags of all commands may take: for an
// argument by its name in the use line, and for a flag by its own name.
func (p *program) complete(c *cobra.Command) {
	byWord := map[string]offer{
		"ENDPOINT": p.offerEndpoints, "ID": p.offerEndpoints, "TENANT": p.offerTenants, "KEY-TENANT": p.offerTenants,
		"TYPE": p.offerEventTypes, "EVENT-TYPE": p.offerEventTypes, "CONTEXT": p.offerContexts,
	}
	words := strings.Fields(c.Use)[1:]
	c.ValidArgsFunction = func(c *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) >= len(words) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return offered(c.Context(), byWord[strings.Trim(words[len(args)], "[]")], typed)
	}
	byFlag := map[string]offer{
		"endpoint": p.offerEndpoints, "add-to": p.offerEndpoints, "target": p.offerEndpoints, "tenant": p.offerTenants,
		"event-type": p.offerEventTypes, "subscribe": p.offerEventTypes, "context": p.offerContexts,
	}
	fixed := fixedWords()
	register := func(f *pflag.Flag) {
		if words := fixed[f.Name]; words != nil {
			_ = c.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)) // fails for an unknown flag only
		}
		if words := byFlag[f.Name]; words != nil {
			_ = c.RegisterFlagCompletionFunc(f.Name, func(c *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) { // fails for an unknown flag only
				return offered(c.Context(), words, typed)
			})
		}
	}
	c.Flags().VisitAll(register)
	c.PersistentFlags().VisitAll(register)
	for _, child := range c.Commands() {
		p.complete(child)
	}
}

// offered returns those words of the offer that begin with the text typed so far.
func offered(ctx context.Context, words offer, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var fitting []cobra.Completion
	if words != nil {
		ctx, cancel := context.WithTimeout(ctx, nameTimeout)
		defer cancel()
		for _, word := range words(ctx, typed) {
			if strings.HasPrefix(word, typed) {
				fitting = append(fitting, word)
			}
		}
	}
	return fitting, cobra.ShellCompDirectiveNoFileComp
}

// quiet returns the settings and a client; false if there are none. It does not run the command
// that prints the key: a password manager would bother a person who only pressed the tab key.
func (p *program) quiet(ctx context.Context) (*client.Client, settings, bool) {
	s, err := p.settings()
	if err != nil || s.KeyCommand != nil {
		return nil, s, false
	}
	api, err := p.api(ctx, s)
	return api, s, err == nil
}

// offerEndpoints offers uids, and the ids of endpoints without a uid, or all ids if the typed
// text begins like one.
func (p *program) offerEndpoints(ctx context.Context, typed string) []cobra.Completion {
	api, s, ok := p.quiet(ctx)
	if !ok || s.Tenant == "" {
		return nil
	}
	var words []cobra.Completion
	for _, e := range endpointsOf(ctx, api, s.Tenant) {
		word := e.UID
		if word == "" || strings.HasPrefix(typed, "ep_") {
			word = e.ID
		}
		words = append(words, cobra.CompletionWithDesc(printable(word), printable(e.URL)))
	}
	return words
}

func (p *program) offerTenants(ctx context.Context, typed string) []cobra.Completion {
	type tenant struct {
		ID string `json:"id"`
	}
	return offerPage(ctx, p, "/v1/tenants", url.Values{"prefix": {typed}}, func(t tenant) cobra.Completion { return printable(t.ID) })
}

func (p *program) offerEventTypes(ctx context.Context, _ string) []cobra.Completion {
	type eventType struct {
		Name        string `json:"event_type"`
		Description string `json:"description"`
	}
	return offerPage(ctx, p, "/v1/event-types", nil, func(t eventType) cobra.Completion {
		return cobra.CompletionWithDesc(printable(t.Name), strings.ReplaceAll(printable(t.Description), "\n", " "))
	})
}

// offerPage offers a word for each item on the first page of a list.
func offerPage[T any](ctx context.Context, p *program, path string, query url.Values, word func(T) cobra.Completion) []cobra.Completion {
	api, _, ok := p.quiet(ctx)
	if !ok {
		return nil
	}
	var words []cobra.Completion
	for _, item := range firstPage[T](ctx, api, path, query) {
		words = append(words, word(item))
	}
	return words
}

func (p *program) offerContexts(context.Context, string) []cobra.Completion {
	file, err := p.readConfig()
	if err != nil {
		return nil
	}
	return file.names()
}

// fixedWords returns the words that a flag may take, by its name.
func fixedWords() map[string][]cobra.Completion {
	return map[string][]cobra.Completion{
		"state":          {"retrying", "parked", "delivered", "dead", "discarded", "cancelled"},
		"status-class":   {"none", "2xx", "3xx", "4xx", "5xx"},
		"class":          strings.Fields("none delivered unavailable throttled timeout dns connect reset tls blocked gone refused redirect token transformation"),
		"failed-attempt": {"true", "false"}, "slow": {"true", "false"},
		"signed-by": {"new", "both", "old"}, "envelope": {"raw", "standard", "thin"}, "egress": {"shared", "fixed", "private"}, "on-failure": {"block", "skip"},
		"auth-type": {"none", "basic", "bearer", "oauth2"}, "auth-client-auth": {"basic", "body"}, "signature-scheme": {"v1", "v1a"},
		"destination-type": strings.Fields("http sqs sqs_fifo sns eventbridge kinesis"), "validation": {"off", "warn", "reject"},
		"scope": strings.Fields("events:write endpoints:write transformations private read replay audit portal:write tenants:read admin"),
		"by":    {"hour", "total"}, "group": {"endpoint", "type", "tenant"},
	}
}
