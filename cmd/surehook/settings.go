package main

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"time"
)

// The variables of the environment.
const (
	envURL     = "SUREHOOK_URL"
	envKey     = "SUREHOOK_API_KEY"
	envTenant  = "SUREHOOK_TENANT"
	envOutput  = "SUREHOOK_OUTPUT"
	envConfig  = "SUREHOOK_CONFIG"
	envContext = "SUREHOOK_CONTEXT"
)

// The forms of output.
const (
	outputJSON  = "json"
	outputTable = "table"
)

// keyCommandTimeout bounds a key command: a password manager may ask a person.
const keyCommandTimeout = time.Minute

// settings are the settings of one source: flags, environment or configuration
// file. A key is a reference in a file; no setting but the environment holds a key.
type settings struct {
	URL        string   `json:"url,omitempty"`
	KeyFile    string   `json:"key_file,omitempty"`
	KeyCommand []string `json:"key_command,omitempty"` // a program and its arguments; no shell
	Tenant     string   `json:"tenant,omitempty"`
	Output     string   `json:"output,omitempty"`

	key     string // of the environment, or asked for
	config  string // of the flags
	context string // of the flags
}

// env returns a variable of the environment, empty if absent.
func (p *program) env(name string) string {
	value, _ := p.Lookup(name)
	return value
}

// settings returns the settings in effect: flags before the environment before the
// configuration file. A context that a flag names comes before the environment.
func (p *program) settings() (settings, error) {
	file, err := p.readConfig()
	if err != nil {
		return settings{}, err
	}
	named := p.contextInUse(file)
	stored, err := file.stored(named)
	if err != nil {
		return settings{}, err
	}
	env := settings{URL: p.env(envURL), Tenant: p.env(envTenant), key: p.env(envKey)}
	s := first(p.flags, env, stored)
	if p.flags.context != "" {
		s = first(p.flags, stored, env)
	}
	if named != "" && s.URL != first(stored).URL { // the key of a context is for its own address
		s = first(p.flags, env)
	}
	s.Output, err = p.output(stored.Output, file.Output)
	return s, err
}

// first returns each setting of the first source that has it. The key has one source, so that
// a reference of another source is not read.
func first(sources ...settings) settings {
	var s settings
	for _, source := range sources {
		s.URL = cmp.Or(s.URL, strings.TrimRight(source.URL, "/"))
		s.Tenant = cmp.Or(s.Tenant, source.Tenant)
		if s.key == "" && s.KeyFile == "" && s.KeyCommand == nil {
			s.key, s.KeyFile, s.KeyCommand = source.key, source.KeyFile, source.KeyCommand
		}
	}
	return s
}

// output returns the form of output in effect: a flag before the environment before the
// configuration, which may have some or none.
func (p *program) output(configured ...string) (string, error) {
	form := cmp.Or(p.flags.Output, p.env(envOutput), cmp.Or(configured...), outputTable)
	if form != outputJSON && form != outputTable {
		return "", usagef("output is %q: say --output json or --output table", form)
	}
	return form, nil
}

// address returns the API's address. A key must not cross a network in the open.
func (s settings) address() (*url.URL, error) {
	if s.URL == "" {
		return nil, usagef("the address of the API is missing: say --api-url or %s, or `surehook login`; `surehook dev` prints an address", envURL)
	}
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, usagef("the address of the API is %q: say an address such as https://abc.execute-api.eu-west-1.amazonaws.com", s.URL)
	}
	if u.User != nil { // perhaps with a password, which no text may show
		return nil, usagef("the address of the API has a user name: say it without")
	}
	if u.Scheme == "http" && !loopback(u.Hostname()) {
		return nil, usagef("the address of the API is %q: say https, because the key would cross the network unencrypted", s.URL)
	}
	return u, nil
}

func loopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || (err == nil && address.IsLoopback())
}

// apiKey returns the key, read from its reference.
func (s settings) apiKey(ctx context.Context) (string, error) {
	switch {
	case s.key != "":
		return strings.TrimSpace(s.key), nil
	case s.KeyFile != "":
		return readSecret("key", s.KeyFile)
	case len(s.KeyCommand) > 0:
		ctx, cancel := context.WithTimeout(ctx, keyCommandTimeout)
		defer cancel()
		command := exec.CommandContext(ctx, s.KeyCommand[0], s.KeyCommand[1:]...) //nolint:gosec // the user's own configuration names the program
		command.Stdin, command.Stderr = os.Stdin, os.Stderr                       // a password manager asks
		out, err := command.Output()
		if err != nil {
			return "", usagef("run key_command %s: %w", s.KeyCommand[0], err)
		}
		if key := strings.TrimSpace(string(out)); key != "" {
			return key, nil
		}
		return "", usagef("key_command %s printed no key", s.KeyCommand[0])
	default:
		return "", usagef("the API key is missing: say --key-file or %s, or `surehook login`", envKey)
	}
}

// readSecret reads a file with one secret. The error never contains the secret.
func readSecret(what, name string) (string, error) {
	text, err := os.ReadFile(name) //nolint:gosec // the user names the file
	if err != nil {
		return "", usagef("read the %s: %w", what, err)
	}
	secret := strings.TrimSpace(string(unmarked(text)))
	if secret == "" || strings.ContainsAny(secret, "\r\n\t ") {
		return "", usagef("%s: want one line with the %s", name, what)
	}
	return secret, nil
}

// requireTenant returns the tenant.
func (s settings) requireTenant() (string, error) {
	if s.Tenant == "" {
		return "", usagef("the tenant is missing: say --tenant, %s, or tenant in the configuration file", envTenant)
	}
	return s.Tenant, nil
}

var _ fmt.Stringer = settings{} // printing settings must not print the key

// String returns the settings without the key.
func (s settings) String() string {
	return fmt.Sprintf("%s tenant %s output %s", s.URL, s.Tenant, s.Output)
}
