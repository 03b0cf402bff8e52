package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// The variables of the environment.
const (
	envURL    = "SUREHOOK_URL"
	envKey    = "SUREHOOK_API_KEY"
	envTenant = "SUREHOOK_TENANT"
	envOutput = "SUREHOOK_OUTPUT"
	envConfig = "SUREHOOK_CONFIG"
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

	key    string // of the environment
	config string // of the flags
}

// settings returns the settings in effect: flags before the environment before
// the configuration file.
func (p *program) settings() (settings, error) {
	env := func(name string) string { value, _ := p.Lookup(name); return value }
	file, err := p.readConfig(cmp.Or(p.flags.config, env(envConfig)))
	if err != nil {
		return settings{}, err
	}
	s := settings{
		URL:    strings.TrimRight(cmp.Or(p.flags.URL, env(envURL), file.URL), "/"),
		Tenant: cmp.Or(p.flags.Tenant, env(envTenant), file.Tenant),
		Output: cmp.Or(p.flags.Output, env(envOutput), file.Output, outputTable),
	}
	switch { // one source of the key, so that a reference of another source is not read
	case p.flags.KeyFile != "":
		s.KeyFile = p.flags.KeyFile
	case env(envKey) != "":
		s.key = env(envKey)
	default:
		s.KeyFile, s.KeyCommand = file.KeyFile, file.KeyCommand
	}
	if s.Output != outputJSON && s.Output != outputTable {
		return s, usagef("output is %q: say --output json or --output table", s.Output)
	}
	return s, nil
}

// readConfig reads the configuration file. Without a name, the file of the
// user's folder is read if the file exists.
func (p *program) readConfig(name string) (settings, error) {
	var s settings
	given := name != ""
	if !given {
		folder, err := p.Home()
		if err != nil {
			return s, nil //nolint:nilerr // without a home there is no default file
		}
		name = filepath.Join(folder, "surehook", "config.json")
	}
	text, err := os.ReadFile(name) //nolint:gosec // the user names the file
	if errors.Is(err, fs.ErrNotExist) && !given {
		return s, nil
	}
	if err != nil {
		return s, usagef("read the configuration: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&s); err != nil {
		if strings.Contains(err.Error(), `unknown field "key"`) {
			return s, usagef("%s: the file must not contain a key: say key_file or key_command", name)
		}
		return s, usagef("%s: %s; the fields are url, key_file, key_command, tenant and output", name, strings.TrimPrefix(plainly(err, err.Error()), "json: "))
	}
	if s.KeyFile != "" && s.KeyCommand != nil {
		return s, usagef("%s: say key_file or key_command, not both", name)
	}
	if s.KeyFile != "" && !filepath.IsAbs(s.KeyFile) { // as seen from the configuration
		s.KeyFile = filepath.Join(filepath.Dir(name), s.KeyFile)
	}
	return s, nil
}

// address returns the API's address. A key must not cross a network in the open.
func (s settings) address() (*url.URL, error) {
	if s.URL == "" {
		return nil, usagef("the address of the API is missing: say --api-url, %s, or url in the configuration file; `surehook dev` prints an address", envURL)
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
		return "", usagef("the API key is missing: say --key-file, %s, or key_file or key_command in the configuration file", envKey)
	}
}

// readSecret reads a file with one secret. The error never contains the secret.
func readSecret(what, name string) (string, error) {
	text, err := os.ReadFile(name) //nolint:gosec // the user names the file
	if err != nil {
		return "", usagef("read the %s: %w", what, err)
	}
	secret := strings.TrimSpace(string(text))
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
