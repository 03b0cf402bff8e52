package emulator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// process is a child in its own process group. A signal to the group reaches
// all descendants, and Ctrl-C in a terminal reaches only this program.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed at the child's end
	log  string
}

// stopTimeout is the group's time for a voluntary end before the kill.
const stopTimeout = 8 * time.Second

// startProcess starts the program with its output in the log file.
func startProcess(log string, env []string, name string, args ...string) (*process, error) {
	out, err := os.Create(log)
	if err != nil {
		return nil, fmt.Errorf("open its log: %w", err)
	}
	defer out.Close() //nolint:errcheck // the child has its own handle

	cmd := exec.Command(name, args...) //nolint:noctx // stop ends the child with its whole group
	cmd.Env = env
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("run %s: %w", name, err)
	}
	p := &process{cmd: cmd, done: make(chan struct{}), log: log}
	go func() {
		_ = cmd.Wait() // the log holds the child's last output
		close(p.done)
	}()
	return p, nil
}

// stop asks the group to end, waits, and kills the remaining processes.
func (p *process) stop() error {
	group := -p.cmd.Process.Pid
	if err := signal(group, syscall.SIGTERM); err != nil {
		return err
	}
	timer := time.NewTimer(stopTimeout)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
	}
	// The child may have left children of its own.
	if err := signal(group, syscall.SIGKILL); err != nil {
		return err
	}
	<-p.done
	return nil
}

// signal signals a group. A group without processes is no error.
func signal(group int, s syscall.Signal) error {
	err := syscall.Kill(group, s)
	// On macOS, a group with only a zombie returns EPERM.
	if err == nil || errors.Is(err, syscall.ESRCH) || errors.Is(err, syscall.EPERM) {
		return nil
	}
	return fmt.Errorf("signal process group %d: %w", -group, err)
}

// await polls until the address answers, and fails early when the child ends.
func (p *process) await(ctx context.Context, address string, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for !answers(ctx, address) {
		select {
		case <-p.done:
			return fmt.Errorf("the process ended before it was ready; the end of %s:\n%s", p.log, Tail(p.log, 15))
		case <-ctx.Done():
			return fmt.Errorf("%s does not answer: %w; the end of %s:\n%s", address, ctx.Err(), p.log, Tail(p.log, 15))
		case <-tick.C:
		}
	}
	return nil
}

// Tail returns the last n lines of a file for people. The result of an
// unreadable file is empty.
func Tail(path string, n int) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimRight(string(b), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
