package emulator_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"surehook.example/surehook/localstack/emulator"
)

// functionScript takes the place of an emulator that has two child processes: one of a function,
// and another one.
const functionScript = `#!/bin/sh
dir="$TMPDIR/ministack-provided-code-1/abc"
mkdir -p "$dir"
cp "$(command -v sleep)" "$dir/bootstrap"
AWS_LAMBDA_FUNCTION_NAME=surehook-local-deliver "$dir/bootstrap" 600 &
echo $! > "$0.function"
AWS_LAMBDA_FUNCTION_NAME=no-function sleep 600 &
exec python3 -c '
import http.server, os
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers()
http.server.HTTPServer(("127.0.0.1", int(os.environ["GATEWAY_PORT"])), H).serve_forever()
'
`

func TestEmulator_killsItsFunctionsAndNothingElse(t *testing.T) {
	t.Parallel()

	if runtime.GOOS != "linux" {
		t.Skip("there is no /proc")
	}
	root, python := fakePython(t, functionScript)
	e, err := emulator.Start(t.Context(), emulator.MiniStack, emulator.Options{Root: root, Env: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Stop(); err != nil {
			t.Error(err)
		}
	})
	stranger := bystander(t)

	running, err := e.Functions()
	want := emulator.Function{PID: readPID(t, python+".function"), Name: "surehook-local-deliver"}
	if err != nil || len(running) != 1 || running[0] != want {
		t.Fatalf("Functions() = %+v, %v; want %+v alone", running, err, want)
	}
	for _, other := range []int{stranger, os.Getpid()} {
		if killed, err := e.Kill(emulator.Function{PID: other, Name: want.Name}); killed || err != nil {
			t.Errorf("Kill(%d, which is no function of the emulator) = %t, %v; want false", other, killed, err)
		}
	}
	if killed, err := e.Kill(want); !killed || err != nil {
		t.Fatalf("Kill(%+v) = %t, %v; want true", want, killed, err)
	}
	if !gone(t, want.PID) {
		t.Errorf("the function %d is still running", want.PID)
	}
	if killed, err := e.Kill(want); killed || err != nil {
		t.Errorf("Kill, again, = %t, %v; want false", killed, err)
	}
	if err := syscall.Kill(stranger, 0); err != nil {
		t.Errorf("the process of another emulator is gone: %v", err)
	}
}

// bystander starts a process that looks like a function of another emulator.
func bystander(t *testing.T) (pid int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ministack-provided-code-2")
	if err := os.Mkdir(path, 0o750); err != nil {
		t.Fatal(err)
	}
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(path, "bootstrap")
	if err := os.Symlink(sleep, path); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "600") //nolint:noctx // the cleanup ends the process
	cmd.Env = []string{"AWS_LAMBDA_FUNCTION_NAME=surehook-local-deliver"}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(cmd.Process.Kill(), cmd.Wait()); err == nil {
			t.Error("the bystander ended by itself")
		}
	})
	return cmd.Process.Pid
}
