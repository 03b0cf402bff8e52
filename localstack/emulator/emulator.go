// Package emulator starts and stops AWS emulators on this machine.
//
// The package knows each emulator's command, readiness check and addresses. All
// peculiarities of emulators are in this package, so the product and its tests
// do not depend on an emulator. The package ends only its own processes.
package emulator

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"surehook.example/surehook/localstack/tools/strict"
)

// Kind names an emulator.
type Kind string

// The kinds.
const (
	MiniStack  Kind = "ministack"  // a Python package; runs functions as processes of this machine
	Moto       Kind = "moto"       // a Python package; runs no functions
	LocalStack Kind = "localstack" // a container; runs functions in containers
	// LocalStackPackage is LocalStack TokenlessTag as a Python package. The package
	// runs no functions.
	LocalStackPackage Kind = "localstack-" + TokenlessTag
)

// ParseKind returns the kind with the name; empty means MiniStack.
func ParseKind(name string) (Kind, error) {
	known := []Kind{MiniStack, Moto, LocalStack, LocalStackPackage} // a LocalEmu runs already, see URLVariable
	if name == "" {
		return MiniStack, nil
	}
	if kind := Kind(name); slices.Contains(known, kind) {
		return kind, nil
	}
	return "", fmt.Errorf("EMULATOR is %q, not one of %q", name, known)
}

// Region and Account are the region and the account of all resources in an
// emulator.
const (
	Region  = "us-east-1"
	Account = "000000000000"
)

// DefaultPort is the usual port of emulators.
const DefaultPort = 4566

// Options configures Start.
type Options struct {
	Root string   // the repository's folder, with .venv and localstack
	Name string   // the log's folder in bin/local; two concurrent emulators need two names
	Port int      // used if free, otherwise any free port; 0 for any
	Env  []string // the caller's environment, "name=value"
	// Stack refuses an emulator that cannot run the whole stack, before its start.
	Stack bool
	// Strict puts the strict front between clients and the emulator, and has
	// MiniStack enforce the policies of the functions' roles; Stop then fails if
	// requests broke AWS's rules. LocalStack's functions run in
	// containers and cannot reach the front, so Strict has no effect there.
	Strict bool
}

// Emulator is a running emulator.
type Emulator struct {
	Kind Kind
	Port int
	URL  string // address of every AWS service
	// Attached marks a server that ran before and runs on: see URLVariable. Its log is not
	// known, and its functions cannot be killed.
	Attached bool
	Front    *strict.Front // nil without Options.Strict
	Dir      string        // files of this run; a new run overwrites the files of earlier runs
	LogPath  string        // the emulator's output, on MiniStack with the functions' output
	opts     Options
	pid      int // of the process, if the emulator is a process
	stop     func() error
	closers  []func() error // of the strict front, after stop
}

// ErrNotInstalled marks errors with an installation as the remedy.
var ErrNotInstalled = errors.New("not installed")

// startTimeout bounds the wait for an emulator's first answer. An image
// download has a longer bound.
const startTimeout = 60 * time.Second

// Start starts an emulator and returns at the emulator's first answer. The
// caller must call Stop. The end of ctx ends the wait, not a running emulator.
func Start(ctx context.Context, kind Kind, opts Options) (*Emulator, error) {
	if opts.Stack {
		if err := CanRunStack(kind, opts.Env); err != nil {
			return nil, err
		}
	}
	port, err := choosePort(ctx, opts.Port)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", kind, err)
	}
	dir := filepath.Join(opts.Root, "bin", "local", opts.Name)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("start %s: make the folder: %w", kind, err)
	}
	e := &Emulator{
		Kind:    kind,
		Port:    port,
		URL:     "http://127.0.0.1:" + strconv.Itoa(port),
		Dir:     dir,
		LogPath: filepath.Join(dir, string(kind)+".log"),
		opts:    opts,
	}
	if opts.Strict && kind != LocalStack {
		if err := e.startFront(ctx); err != nil {
			return nil, fmt.Errorf("start %s: %w", kind, err)
		}
	}
	switch kind {
	case MiniStack:
		err = e.startMiniStack(ctx)
	case Moto:
		err = e.startMoto(ctx)
	case LocalStack:
		err = e.startLocalStack(ctx)
	case LocalStackPackage:
		err = e.startLocalStackPackage(ctx)
	case LocalEmu:
		err = fmt.Errorf("%s is %w by make: start it, and say %s", kind, ErrNotInstalled, URLVariable)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", kind, err), e.Stop())
	}
	return e, nil
}

// startFront puts the strict front before the emulator: URL is the address of
// the front, for clients and for functions.
func (e *Emulator) startFront(ctx context.Context) error {
	packages, err := filepath.Glob(filepath.Join(e.opts.Root, ".venv", "lib", "python*", "site-packages"))
	if err != nil || len(packages) == 0 {
		return fmt.Errorf("the service models for the strict front are %w: run `make local`", ErrNotInstalled)
	}
	rules, err := strict.Load(os.DirFS(packages[0]))
	if err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(e.Dir, string(e.Kind)+".strict.log"))
	if err != nil {
		return fmt.Errorf("open the log of the strict front: %w", err)
	}
	options := strict.Options{Upstream: e.URL, Rules: rules, Log: log, Now: time.Now}
	if e.Kind == MiniStack {
		options.Role = newRoles(e.Port).of
	}
	front, err := strict.Start(ctx, options)
	if err != nil {
		return errors.Join(err, log.Close())
	}
	e.Front, e.URL = front, front.URL
	e.closers = []func() error{front.Stop, log.Close}
	return nil
}

// Stop ends the emulator and all its processes. The error includes the
// violations of the strict front. A second call is safe.
func (e *Emulator) Stop() error {
	var err error
	if e.stop != nil {
		err = e.stop()
	}
	for _, closer := range e.closers {
		err = errors.Join(err, closer())
	}
	e.stop, e.closers = nil, nil
	if err != nil {
		return fmt.Errorf("stop %s: %w", e.Kind, err)
	}
	return nil
}

// APIHost returns the Host header for the HTTP API with the given URL from the
// stack's output. The host name need not resolve: requests go to URL.
//
// On AWS the host is <api id>.execute-api.<region>.amazonaws.com. MiniStack
// recognizes <api id>.execute-api.localhost, and LocalStack <api
// id>.execute-api.localhost.localstack.cloud.
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
	switch e.Kind {
	case LocalStack, LocalStackPackage:
		domain = "localhost.localstack.cloud"
	case LocalEmu:
		domain = "localhost.localemu.cloud"
	case MiniStack, Moto:
	}
	return fmt.Sprintf("%s.execute-api.%s:%d", id, domain, e.Port), nil
}

// FunctionURL returns the address, for functions and for this machine, of the
// function URL from a stack's output. On AWS the host is <id>.lambda-url.<region>.on.aws.
// MiniStack serves the URL below a path too, and needs no name to resolve.
func (e *Emulator) FunctionURL(functionURL string) (string, error) {
	u, err := url.Parse(functionURL)
	if err != nil {
		return "", fmt.Errorf("read the function's URL: %w", err)
	}
	id, rest, found := strings.Cut(u.Hostname(), ".")
	if !found || !strings.HasPrefix(rest, "lambda-url.") {
		return "", fmt.Errorf("read the function's URL: %q is not of the form <id>.lambda-url.<...>", functionURL)
	}
	if e.Kind == LocalStack { // the name resolves on this machine and in the functions' containers
		return strings.TrimRight(functionURL, "/"), nil
	}
	if e.Kind != MiniStack {
		return "", fmt.Errorf("reach the function's URL: %s has no address for functions", e.Kind)
	}
	return fmt.Sprintf("http://127.0.0.1:%d/_aws/lambda-url/%s", e.Port, id), nil
}

// Name is the emulator's name in EmulatorsVariable of package porttest: the kind.
// A LocalStack without a token has the name of LocalStackPackage, because both are
// the same program.
func (e *Emulator) Name() string {
	if e.Kind == LocalStack && tokenless(lookup(e.opts.Env, "LOCALSTACK_TAG")) {
		return string(LocalStackPackage)
	}
	return string(e.Kind)
}

// HostName returns the functions' host name for a server on this machine, and
// bind, the server's listen address.
func (e *Emulator) HostName() (name, bind string) {
	if e.Kind == LocalStack || e.Kind == LocalEmu { // in containers
		return "host.docker.internal", "0.0.0.0"
	}
	return "127.0.0.1", "127.0.0.1"
}

// FunctionOS is the functions' operating system, as in GOOS. MiniStack runs the
// functions as processes of this machine, on any operating system.
func (e *Emulator) FunctionOS(machine string) string {
	if e.Kind == MiniStack {
		return machine
	}
	return "linux"
}

// answers reports whether a GET of the URL succeeds.
func answers(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return false
	}
	// Emulators are on this machine. Ignore the environment's proxies.
	direct := &http.Transport{DisableKeepAlives: true}
	resp, err := direct.RoundTrip(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close() //nolint:errcheck // the body is not read
	return resp.StatusCode == http.StatusOK
}
