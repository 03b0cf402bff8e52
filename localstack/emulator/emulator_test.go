package emulator_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"surehook.example/surehook/localstack/emulator"
)

// serverScript replaces an emulator: it starts a child, records the child's
// process id, and answers every request with 200.
const serverScript = `#!/bin/sh
env > "$0.env"
sleep 600 &
echo $! > "$0.child"
exec python3 -c '
import http.server, os
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers()
http.server.HTTPServer(("127.0.0.1", int(os.environ["GATEWAY_PORT"])), H).serve_forever()
'
`

func TestStart_endsAllThatItStarted(t *testing.T) {
	t.Parallel()

	root, python := fakePython(t, serverScript)
	e, err := emulator.Start(t.Context(), emulator.MiniStack, emulator.Options{Root: root, Env: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	child := readPID(t, python+".child")
	if err := syscall.Kill(child, 0); err != nil {
		t.Fatalf("the emulator's child %d is not running: %v", child, err)
	}
	if err := errors.Join(e.Stop(), e.Stop()); err != nil {
		t.Fatalf("Stop = %v; want nil, twice", err)
	}
	if _, err := listen(t, e.Port); err != nil {
		t.Errorf("port %d is still taken after Stop: %v", e.Port, err)
	}
	if !gone(t, child) {
		t.Errorf("the emulator's child %d is still running after Stop", child)
	}
}

func TestStart_keepsTheShellsSettingsFromTheEmulator(t *testing.T) {
	t.Parallel()

	root, python := fakePython(t, serverScript)
	env := append(os.Environ(), "AWS_CA_BUNDLE=/nowhere", "AWS_PROFILE=production", "AWS_REGION=eu-west-1", "AUTH=true", "EDGE_PORT=1")
	e, err := emulator.Start(t.Context(), emulator.MiniStack, emulator.Options{Root: root, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Stop(); err != nil {
			t.Error(err)
		}
	})
	raw, err := os.ReadFile(python + ".env")
	if err != nil {
		t.Fatal(err)
	}
	for what, got := range map[string][]string{"server": strings.Split(string(raw), "\n"), "client": e.ClientEnv()} {
		for _, name := range []string{"AWS_CA_BUNDLE", "AWS_PROFILE"} {
			if value, ok := last(got, name); ok {
				t.Errorf("the %s's %s = %q; want it unset", what, name, value)
			}
		}
		for name, want := range map[string]string{"AWS_REGION": emulator.Region, "AWS_ENDPOINT_URL": e.URL, "AWS_CONFIG_FILE": os.DevNull} {
			if value, _ := last(got, name); value != want {
				t.Errorf("the %s's %s = %q; want %q", what, name, value, want)
			}
		}
	}
	if value, ok := last(strings.Split(string(raw), "\n"), "AUTH"); ok {
		t.Errorf("the server's AUTH = %q; want it unset", value)
	}
}

func TestStart_saysWhatIsWrong(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name   string
		kind   emulator.Kind
		script string
		env    []string
		want   string
		is     error
	}{
		{name: "no virtual environment", kind: emulator.MiniStack, want: "make local", is: emulator.ErrNotInstalled},
		{name: "no virtual environment for Moto", kind: emulator.Moto, want: "make local", is: emulator.ErrNotInstalled},
		{name: "an emulator that ends at once shows its log", kind: emulator.MiniStack, script: "#!/bin/sh\necho no such module\n", want: "no such module"},
		{name: "LocalStack without a token", kind: emulator.LocalStack, want: "LOCALSTACK_AUTH_TOKEN"},
		{name: "LocalStack without a token names the tokenless image", kind: emulator.LocalStack, want: emulator.TokenlessTag},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			root := t.TempDir()
			if tt.script != "" {
				root, _ = fakePython(t, tt.script)
			}
			_, err := emulator.Start(t.Context(), tt.kind, emulator.Options{Root: root, Env: tt.env})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Start = %v; want an error with %q", err, tt.want)
			}
			if tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("Start = %v; want %v in its tree", err, tt.is)
			}
		})
	}
}

func TestStart_takesAnotherPortIfTheAskedOneIsTaken(t *testing.T) {
	t.Parallel()

	taken, err := listen(t, 0)
	if err != nil {
		t.Fatal(err)
	}

	root, _ := fakePython(t, serverScript)
	e, err := emulator.Start(t.Context(), emulator.MiniStack, emulator.Options{Root: root, Port: taken, Env: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Stop(); err != nil {
			t.Error(err)
		}
	})
	if e.Port == taken {
		t.Errorf("Port = %d; want another, it is taken", e.Port)
	}
}

func TestEmulator_APIHost(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name    string
		kind    emulator.Kind
		url     string
		want    string
		wantErr bool
	}{
		{name: "MiniStack", kind: emulator.MiniStack, url: "https://abcd1234.execute-api.us-east-1.amazonaws.com/", want: "abcd1234.execute-api.localhost:4604"},
		{name: "LocalStack", kind: emulator.LocalStack, url: "https://abcd1234.execute-api.us-east-1.amazonaws.com", want: "abcd1234.execute-api.localhost.localstack.cloud:4604"},
		{name: "an address that is already local", kind: emulator.MiniStack, url: "http://abcd1234.execute-api.localhost:4566", want: "abcd1234.execute-api.localhost:4604"},
		{name: "not an API", kind: emulator.MiniStack, url: "https://example.com/", wantErr: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			e := &emulator.Emulator{Kind: tt.kind, Port: 4604}
			got, err := e.APIHost(tt.url)
			if got != tt.want || (err != nil) != tt.wantErr {
				t.Errorf("APIHost(%s) = %q, %v; want %q, error %t", tt.url, got, err, tt.want, tt.wantErr)
			}
		})
	}
}

// fakePython makes a repository with the script as the virtual environment's
// Python.
func fakePython(t *testing.T, script string) (root, python string) {
	t.Helper()
	root = t.TempDir()
	python = filepath.Join(root, ".venv", "bin", "python")
	if err := os.MkdirAll(filepath.Dir(python), 0o750); err != nil {
		t.Fatal(err)
	}
	// No other test may fork while the script is open for writing. A child
	// would keep the file open, and the system does not run a file open for
	// writing.
	syscall.ForkLock.RLock()
	err := os.WriteFile(python, []byte(script), 0o700)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	return root, python
}

func readPID(t *testing.T, path string) int {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// listen takes a port, 0 for any, until the test ends.
func listen(t *testing.T, port int) (int, error) {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return 0, err
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	_, taken, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(taken)
}

// gone waits until the orphan's new parent reaps the orphan.
func gone(t *testing.T, pid int) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for ctx.Err() == nil {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || zombie(pid) {
			return true
		}
		<-tick.C
	}
	return false
}

// zombie reports whether the process has ended without a wait by its parent.
// Only Linux has this information.
func zombie(pid int) bool {
	raw, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err == nil && strings.Contains(string(raw), ") Z ")
}

func last(env []string, name string) (string, bool) {
	for _, kv := range slices.Backward(env) {
		if value, found := strings.CutPrefix(kv, name+"="); found {
			return value, true
		}
	}
	return "", false
}
