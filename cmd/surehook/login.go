package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"surehook.example/surehook/client"
)

func (p *program) login() *cobra.Command {
	return &cobra.Command{
		Use: "login", Short: "Store the address and the key of a deployment as a context", Args: arguments,
		Long: "Check the address and the key of a deployment with a request, and store them as a context: a name for address, key and tenant.\n" +
			"What no flag and no variable says is asked for, or read from standard input: the address, the key, and the tenant of a key for one tenant.\n" +
			"--context names the context; without it the context has the name of the host. Commands then use this context.",
		Example: "  surehook login --api-url https://hooks.example.com --context prod\n" +
			"  surehook login --api-url https://hooks.example.com --tenant acme < key",
		RunE: func(c *cobra.Command, _ []string) error { return p.runLogin(c.Context()) },
	}
}

func (p *program) runLogin(ctx context.Context) error {
	file, err := p.readConfig()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if file.file == "" {
		return usagef("this user has no configuration folder: say --config FILE")
	}
	s := first(p.flags, settings{URL: p.env(envURL), Tenant: p.env(envTenant), key: p.env(envKey)})
	if s.URL == "" {
		if s.URL, err = p.ask(ctx, "Address of the API: ", false); err != nil {
			return err
		}
	}
	address, err := s.address()
	if err != nil {
		return err
	}
	name := cmp.Or(p.flags.context, p.env(envContext), address.Hostname())
	if !contextName.MatchString(name) {
		return usagef("the name of the context is %q: say --context with at most 64 letters, digits and . _ -", name)
	}
	if s.key == "" && s.KeyFile == "" {
		if s.key, err = p.ask(ctx, "API key: ", true); err != nil {
			return err
		}
	}
	key, err := s.apiKey(ctx)
	if err != nil {
		return err
	}
	api, err := p.api(ctx, s)
	if err != nil {
		return err
	}
	if s.Tenant, err = p.checkKey(ctx, api, s.Tenant); err != nil {
		return err
	}
	if err := file.store(name, s, key); err != nil {
		return err
	}
	fmt.Fprintf(p.Err, "The context %s is in use: %s\n", name, s.URL)
	if p.env(envURL) != "" || p.env(envKey) != "" {
		fmt.Fprintf(p.Err, "%s and %s of the environment come before the context.\n", envURL, envKey)
	}
	return nil
}

// checkKey makes one request with the key. A key for one tenant needs the tenant's name, and may
// lack the scope of the request, for example if it may only send events.
func (p *program) checkKey(ctx context.Context, api *client.Client, tenant string) (string, error) {
	call := client.Call{Method: get, Path: "/v1/tenants", Query: url.Values{"limit": {"1"}}}
	if tenant != "" {
		call = client.Call{Method: get, Path: client.Path(limitsPath, map[string]string{"tenant": tenant})}
	}
	_, err := api.Call(ctx, call)
	refused, ok := errors.AsType[*client.Problem](err)
	switch forbidden := ok && refused.Status == http.StatusForbidden && refused.Code != ""; {
	case err == nil:
		return tenant, nil
	case forbidden && tenant == "":
		if tenant, err = p.ask(ctx, "Tenant of the key: ", false); err != nil {
			return "", err
		}
		return p.checkKey(ctx, api, tenant)
	case forbidden:
		fmt.Fprintf(p.Err, "The key may not read tenant %s: check the tenant, unless the key is for sending only.\n", printable(tenant))
		return tenant, nil
	}
	return "", fmt.Errorf("check the key: %w", err)
}

func (p *program) logout() *cobra.Command {
	return &cobra.Command{
		Use: "logout", Short: "Remove the context in use with its stored key", Args: arguments,
		RunE: func(*cobra.Command, []string) error {
			file, err := p.readConfig()
			if err != nil {
				return err
			}
			name := p.contextInUse(file)
			if name == "" {
				return usagef("no context is in use: surehook context list")
			}
			return p.removeContext(file, name)
		},
	}
}

func (p *program) removeContext(file configuration, name string) error {
	if err := file.remove(name); err != nil {
		return err
	}
	fmt.Fprintf(p.Err, "removed the context %s\n", printable(name))
	return nil
}

func (p *program) contexts() *cobra.Command {
	group := p.group("context", "Contexts: names for address, key and tenant of a deployment", nil)
	list := &cobra.Command{
		Use: "list", Short: "List the contexts; no key is shown", Args: arguments,
		RunE: func(*cobra.Command, []string) error { return p.listContexts() },
	}
	use := &cobra.Command{
		Use: "use CONTEXT", Short: "Take a context into use", Args: arguments,
		RunE: func(_ *cobra.Command, args []string) error {
			file, err := p.readConfig()
			if err != nil {
				return err
			}
			if _, err := file.find(args[0]); err != nil {
				return err
			}
			file.Context = args[0]
			return file.save()
		},
	}
	drop := &cobra.Command{
		Use: "remove CONTEXT", Short: "Remove a context with its stored key", Args: arguments,
		RunE: func(_ *cobra.Command, args []string) error {
			file, err := p.readConfig()
			if err != nil {
				return err
			}
			return p.removeContext(file, args[0])
		},
	}
	group.AddCommand(list, use, drop)
	return group
}

// contextView is a context without its key.
type contextView struct {
	Name   string `json:"name"`
	URL    string `json:"url"`
	Tenant string `json:"tenant"`
	InUse  bool   `json:"in_use"`
}

func (p *program) listContexts() error {
	file, err := p.readConfig()
	if err != nil {
		return err
	}
	form, err := p.output(file.Output)
	if err != nil {
		return err
	}
	views, rows := []contextView{}, []json.RawMessage{}
	for _, name := range file.names() {
		v := contextView{name, file.Contexts[name].URL, file.Contexts[name].Tenant, name == p.contextInUse(file)}
		row, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("write the context %s: %w", name, err)
		}
		views, rows = append(views, v), append(rows, row)
	}
	if form == outputJSON {
		return p.printJSON(map[string]any{"data": views})
	}
	return p.writeRows(p.Out, columns("CONTEXT=name", "URL=~url", "TENANT=tenant", "IN USE=in_use"), rows, nil)
}

// ask reads a line from standard input. A terminal does not show the secret.
func (p *program) ask(ctx context.Context, question string, secret bool) (string, error) {
	fmt.Fprint(p.Err, question)
	read := p.line
	if secret && p.Secret != nil {
		read = p.Secret
	}
	text, err := read(ctx)
	if errors.Is(err, errInterrupted) {
		return "", err
	}
	if text = strings.TrimSpace(text); text == "" {
		return "", usagef("no answer on standard input to: %s", strings.TrimSuffix(question, ": "))
	}
	return text, nil
}
