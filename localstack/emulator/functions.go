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

// Function is a process in which MiniStack runs a function of the stack.
type Function struct {
	PID  int
	Name string // of the function, such as surehook-local-deliver
}

// bootstrapDir is in the path of every program that MiniStack runs as a function.
const bootstrapDir = "/ministack-provided-code-"

// Functions returns the processes of functions that this emulator runs, and no
// others of the machine. It reads /proc, which only Linux has; LocalStack's
// functions are in containers and not among its descendants.
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

// Kill ends the process at once, as kill -9 does. It reports false, and does
// nothing, if the process is no function of this emulator any more.
func (e *Emulator) Kill(f Function) (killed bool, err error) {
	// On Linux this holds on to the process itself: were its number given to
	// another one after the check, the signal would not reach that one.
	process, err := os.FindProcess(f.PID)
	if err != nil {
		return false, fmt.Errorf("kill %s: %w", f.Name, err)
	}
	defer process.Release() //nolint:errcheck // nothing can be done about it
	if name, ok := e.function(f.PID); !ok || name != f.Name {
		return false, nil
	}
	if err := process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) && !errors.Is(err, syscall.ESRCH) {
		return false, fmt.Errorf("kill %s: %w", f.Name, err)
	}
	return true, nil
}

// function returns the name of the function that the process runs, if it runs
// one and descends from the emulator. A process that is gone runs none.
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

// descendant reports whether the emulator started the process, or started one that did.
func (e *Emulator) descendant(pid int) bool {
	for pid > 1 && e.pid > 0 {
		raw, err := os.ReadFile(procFile(pid, "stat"))
		if err != nil {
			return false
		}
		// pid (name) state parent ...; the name may hold anything, parentheses too.
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
