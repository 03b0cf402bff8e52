package emulator

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Function is a MiniStack process with a function of the stack.
type Function struct {
	PID  int
	Name string // of the function, such as surehook-local-deliver
}

// bootstrapDir is in the path of every function process of MiniStack.
const bootstrapDir = "/ministack-provided-code-"

// Functions returns the function processes of this emulator, and of no other
// emulator. Functions reads /proc, so it works only on Linux. LocalStack's
// functions run in containers and are not among the results.
func (e *Emulator) Functions() ([]Function, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("list the functions of %s: %w", e.Kind, err)
	}
	var running []Function
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue // not a process
		}
		if name, ok := e.function(pid); ok {
			running = append(running, Function{PID: pid, Name: name})
		}
	}
	return running, nil
}

// Kill ends the process at once, as kill -9 does. If the process is no longer a
// function of this emulator, Kill does nothing and returns false.
func (e *Emulator) Kill(f Function) (killed bool, err error) {
	// On Linux, FindProcess holds a handle of the process itself. If the number
	// passes to another process after the check, the signal does not reach the
	// other process.
	process, err := os.FindProcess(f.PID)
	if err != nil {
		return false, fmt.Errorf("kill %s: %w", f.Name, err)
	}
	defer process.Release() //nolint:errcheck // a failed release has no remedy
	if name, ok := e.function(f.PID); !ok || name != f.Name {
		return false, nil
	}
	if err := process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) && !errors.Is(err, syscall.ESRCH) {
		return false, fmt.Errorf("kill %s: %w", f.Name, err)
	}
	return true, nil
}

// function returns the name of the process's function, if the process runs a
// function and descends from the emulator. A missing process runs no function.
func (e *Emulator) function(pid int) (name string, ok bool) {
	command, err := os.ReadFile(procFile(pid, "cmdline"))
	if err != nil || !strings.Contains(string(command), bootstrapDir) || !e.descendant(pid) {
		return "", false
	}
	env, err := os.ReadFile(procFile(pid, "environ"))
	if err != nil {
		return "", false
	}
	for kv := range strings.SplitSeq(string(env), "\x00") {
		if name, ok := strings.CutPrefix(kv, "AWS_LAMBDA_FUNCTION_NAME="); ok {
			return name, true
		}
	}
	return "", false
}

// descendant reports whether the emulator or a descendant of the emulator
// started the process.
func (e *Emulator) descendant(pid int) bool {
	for pid > 1 && e.pid > 0 {
		raw, err := os.ReadFile(procFile(pid, "stat"))
		if err != nil {
			return false
		}
		// The format is: pid (name) state parent ... The name may hold any
		// character, including parentheses.
		// https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
		fields := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
		if len(fields) < 2 {
			return false
		}
		if pid, err = strconv.Atoi(fields[1]); err != nil {
			return false
		}
		if pid == e.pid {
			return true
		}
	}
	return false
}

func procFile(pid int, name string) string {
	return filepath.Join("/proc", strconv.Itoa(pid), name)
}
