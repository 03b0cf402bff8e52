package main

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"surehook.example/surehook/localstack/dev"
	"surehook.example/surehook/proof/port"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"surehook": main})
}

// TestScripts runs the program as a person does. Each script has a Surehook of its
// own in this process.
func TestScripts(t *testing.T) {
	t.Parallel()

	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		Setup:               startSurehook,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"eventually": eventually(t), "exits": exits, "listens": listens(t)},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// startSurehook runs Surehook, and names its address, key and two ports to the
// script.
func startSurehook(env *testscript.Env) error {
	t, ok := env.T().(testing.TB)
	if !ok {
		return errNoTest
	}
	s, err := dev.Start(t.Context(), dev.Options{})
	if err != nil {
		return err
	}
	env.Defer(func() { _ = s.Stop(t.Context()) })
	env.Setenv("SUREHOOK_URL", s.URL)
	env.Setenv("SUREHOOK_API_KEY", s.Key)
	env.Setenv("SUREHOOK_TENANT", "acme")
	env.Setenv("XDG_CONFIG_HOME", env.WorkDir)
	env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, "cache"))
	env.Setenv("PORT", port.Reserve(t))
	env.Setenv("PORT2", port.Reserve(t))
	env.Setenv("NO_PROXY", "127.0.0.1")
	return os.WriteFile(filepath.Join(env.WorkDir, "key"), []byte(s.Key+"\n"), 0o600)
}

var errNoTest = errors.New("the script is not in a test")

// patient returns whether there is still time to wait, however slow the machine is: until shortly
// before go test ends the tests, so that a script that waits for ever is named.
func patient(t *testing.T) bool {
	t.Helper()

	end, ok := t.Deadline()
	return !ok || time.Until(end) > 30*time.Second
}

// eventually repeats a command until its output matches: eventually REGEXP COMMAND...
func eventually(t *testing.T) func(ts *testscript.TestScript, neg bool, args []string) {
	t.Helper()

	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) < 2 {
			ts.Fatalf("usage: eventually REGEXP COMMAND...")
		}
		want := regexp.MustCompile(args[0])
		var out string
		for patient(t) {
			_ = ts.Exec(args[1], args[2:]...) // a list may be refused until there is a tenant
			if out = ts.ReadFile("stdout") + ts.ReadFile("stderr"); want.MatchString(out) {
				return
			}
		}
		ts.Fatalf("%s printed %s; want %s", strings.Join(args[1:], " "), out, want)
	}
}

// listens waits until a process accepts connections on a port of loopback: listens PORT.
func listens(t *testing.T) func(ts *testscript.TestScript, neg bool, args []string) {
	t.Helper()

	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) != 1 {
			ts.Fatalf("usage: listens PORT")
		}
		for patient(t) {
			if c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", args[0])); err == nil { //nolint:noctx // the loop ends with the test
				ts.Check(c.Close())
				return
			}
		}
		ts.Fatalf("nothing listens on port %s", args[0])
	}
}

// exits runs a command that ends with this code: exits CODE COMMAND...
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	code := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("run %s: %v", args[1], err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("%s exits with %d and %s; want %s", strings.Join(args[1:], " "), code, ts.ReadFile("stderr"), args[0])
	}
}
