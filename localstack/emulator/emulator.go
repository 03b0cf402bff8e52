// Package emulator starts and stops AWS emulators on this machine.
//
// It knows how each one is run, when it is ready and how its addresses look;
// everything that is peculiar to an emulator is in here, so that neither the
// product nor its tests need to know. It ends only what it started itself.
package emulator

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Kind names an emulator.
type Kind string

// The kinds.
const (
	MiniStack  Kind = "ministack"  // a Python package; runs functions as processes of this machine
	Moto       Kind = "moto"       // a Python package; runs no functions
	LocalStack Kind = "localstack" // a container; runs functions in containers
)

// ParseKind returns the kind of the name; empty is MiniStack.
func ParseKind(name string) (Kind, error) {
	switch kind := Kind(name); kind {
	case "":
		return MiniStack, nil
	case MiniStack, Moto, LocalStack:
		return kind, nil
	}
	return "", fmt.Errorf("EMULATOR is %q; it can be ministack or localstack", name)
}

// Region and Account are where everything lives in an emulator.
const (
	Region  = "us-east-1"
	Account = "000000000000"
)

// DefaultPort is where emulators are customarily found.
const DefaultPort = 4566

// Options says where an emulator runs.
type Options struct {
	Root string   // the repository's folder, which has .venv and localstack
	Name string   // of the folder in bin/local that gets its log; two that run at once need two names
	Port int      // taken if it is free, otherwise any free one; 0: any
	Env  []string // the caller's environment, "name=value"
}

// Emulator is a running emulator.
type Emulator struct {
	Kind    Kind
	Port    int
	URL     string // where every AWS service answers
	Dir     string // folder of files about this run; what earlier ones left is overwritten
	LogPath string // what it writes, and for MiniStack what the functions write
	opts    Options
	pid     int // of the process, if it runs as one
	stop    func() error
}

// ErrNotInstalled is in the tree of errors that installing something resolves.
var ErrNotInstalled = errors.New("not installed")

// startTimeout bounds the wait for an emulator to answer. An image that must
// first be pulled has its own, longer bound.
const startTimeout = 60 * time.Second

// Start starts an emulator and returns when it answers. The caller must Stop
// it. When ctx ends, the wait ends; a running emulator runs on.
func Start(ctx context.Context, kind Kind, opts Options) (*Emulator, error) {
	port, err := choosePort(ctx, opts.Port)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", kind, err)
	}
	dir := filepath.Join(opts.Root, "bin", "local", opts.Name)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("start %s: make its folder: %w", kind, err)
	}
	e := &Emulator{
		Kind:    kind,
		Port:    port,
		URL:     "http://127.0.0.1:" + strconv.Itoa(port),
		Dir:     dir,
		LogPath: filepath.Join(dir, string(kind)+".log"),
		opts:    opts,
	}
	switch kind {
	case MiniStack:
		err = e.startMiniStack(ctx)
	case Moto:
		err = e.startMoto(ctx)
	case LocalStack:
		err = e.startLocalStack(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", kind, err), e.Stop())
	}
	return e, nil
}

// Stop ends the emulator and everything it started. It can be called twice.
func (e *Emulator) Stop() error {
	if e.stop == nil {
		return nil
	}
	stop := e.stop
	e.stop = nil
	if err := stop(); err != nil {
		return fmt.Errorf("stop %s: %w", e.Kind, err)
	}
	return nil
}

// APIHost returns the Host header that reaches the HTTP API whose URL, as the
// stack's output has it, is given. The name need not resolve: the request goes
// to URL.
//
// On AWS the host is <api id>.execute-api.<region>.amazonaws.com. MiniStack
// tells APIs by <api id>.execute-api.localhost, LocalStack by
// <api id>.execute-api.localhost.localstack.cloud.
func (e *Emulator) APIHost(apiURL string) (string, error) {
	u, err := url.Parse(apiURL)
	if err != nil {
		return "", fmt.Errorf("read the API's URL: %w", err)
	}
	id, rest, found := strings.Cut(u.Hostname(), ".")
	if !found || !strings.HasPrefix(rest, "execute-api.") {
		return "", fmt.Errorf("read the API's URL: %q is not of the form <api id>.execute-api.<...>", apiURL)
	}
	domain := "localhost"
	if e.Kind == LocalStack {
		domain = "localhost.localstack.cloud"
	}
	return fmt.Sprintf("%s.execute-api.%s:%d", id, domain, e.Port), nil
}

// HostName is the name under which the functions reach a server of this
// machine, and bind is the address that server must listen on to be reached.
func (e *Emulator) HostName() (name, bind string) {
	if e.Kind == LocalStack {
		return "host.docker.internal", "0.0.0.0"
	}
	return "127.0.0.1", "127.0.0.1"
}

// FunctionOS is the operating system, as in GOOS, that functions are built for.
// MiniStack runs them as processes of this machine, whatever it is.
func (e *Emulator) FunctionOS(machine string) string {
	if e.Kind == MiniStack {
		return machine
	}
	return "linux"
}

// answers reports whether a GET of the URL is a success.
func answers(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return false
	}
	// Emulators are on this machine: no proxy of the environment is between.
	direct := &http.Transport{DisableKeepAlives: true}
	resp, err := direct.RoundTrip(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close() //nolint:errcheck // nothing is read from it
	return resp.StatusCode == http.StatusOK
}
