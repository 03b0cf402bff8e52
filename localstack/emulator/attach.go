package emulator

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// URLVariable is the environment variable with the address of a server that is running already.
const URLVariable = "EMULATOR_URL"

// LocalEmu is a Python package that works like LocalStack, and runs functions in containers. Open
// only attaches to it, and never starts it.
const LocalEmu Kind = "localemu"

// Open attaches to the server that URLVariable names in the environment, or starts an emulator of
// the kind in EMULATOR. It refuses the address of an AWS service.
func Open(ctx context.Context, opts Options) (*Emulator, error) {
	if address := lookup(opts.Env, URLVariable); address != "" {
		return attach(ctx, address, opts)
	}
	kind, err := ParseKind(lookup(opts.Env, "EMULATOR"))
	if err != nil {
		return nil, err
	}
	return Start(ctx, kind, opts)
}

// Farewell returns a sentence for people: what happens to the emulator at the end of the program.
func (e *Emulator) Farewell() string {
	if e.Attached {
		return fmt.Sprintf("The stack stays on %s at %s; the next run replaces it.", e.Kind, e.URL)
	}
	return fmt.Sprintf("Stopping %s ...", e.Kind)
}

// attach returns the server at the address. Stop leaves it running. There is no strict front
// before it, because its functions would not use one.
func attach(ctx context.Context, address string, opts Options) (*Emulator, error) {
	u, err := url.Parse(strings.TrimRight(address, "/"))
	if err != nil || u.Host == "" || u.Path != "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("%s is %q, not an address such as http://127.0.0.1:%d", URLVariable, address, DefaultPort)
	}
	if strings.HasSuffix(u.Hostname(), ".amazonaws.com") {
		return nil, fmt.Errorf("%s is %q, but must not be AWS: `make deploy` deploys to AWS", URLVariable, address)
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		port = map[string]int{"http": 80, "https": 443}[u.Scheme]
	}
	dir := filepath.Join(opts.Root, "bin", "local", opts.Name)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("attach to %s: make the folder: %w", address, err)
	}
	e := &Emulator{Port: port, URL: u.String(), Dir: dir, Attached: true, opts: opts}
	for _, known := range []struct {
		kind Kind
		path string
	}{{MiniStack, "/_ministack/health"}, {LocalEmu, "/_localemu/health"}, {LocalStack, "/_localstack/health"}, {Moto, "/moto-api/data.json"}} {
		if answers(ctx, e.URL+known.path) {
			e.Kind = known.kind
			return e, nil
		}
	}
	return nil, fmt.Errorf("attach to %s: no MiniStack, LocalStack, LocalEmu or Moto answers there", address)
}
