package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// errAbsent says that a program that a server needs is not on this machine.
var errAbsent = errors.New("is left out")

// peerStartLimit is how long a program may take to answer.
const peerStartLimit = 2 * time.Minute

// process is a program with all processes that it starts: they are one session.
type process struct {
	command *exec.Cmd
	log     string // the file with its output
	ended   chan struct{}
}

// startProcess starts a program in the folder, with its output in a file there. as: the user; empty: this one.
func startProcess(ctx context.Context, folder, as string, env []string, program string, args ...string) (*process, error) {
	command := exec.CommandContext(ctx, program, args...)
	command.Dir = folder
	command.Env = append(os.Environ(), env...)
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if as != "" && os.Geteuid() == 0 {
		id, err := credential(as)
		if err != nil {
			return nil, err
		}
		command.SysProcAttr.Credential = id
	}
	log, err := os.CreateTemp(folder, filepath.Base(program)+"-*.log")
	if err != nil {
		return nil, fmt.Errorf("make a log: %w", err)
	}
	defer log.Close() //nolint:errcheck // the process has its own
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	p := &process{command: command, log: log.Name(), ended: make(chan struct{})}
	go func() { _ = command.Wait(); close(p.ended) }() // how it ended is in its log
	return p, nil
}

func credential(name string) (*syscall.Credential, error) {
	found, err := user.Lookup(name)
	if err != nil {
		return nil, fmt.Errorf("find the user %s: %w", name, err)
	}
	uid, err := strconv.ParseUint(found.Uid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("find the user %s: %w", name, err)
	}
	gid, err := strconv.ParseUint(found.Gid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("find the user %s: %w", name, err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

// stop ends the session.
func (p *process) stop() error {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL} {
		if err := syscall.Kill(-p.command.Process.Pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("stop %s: %w", p.command.Path, err)
		}
		select {
		case <-p.ended:
			return nil
		case <-time.After(10 * time.Second):
		}
	}
	return fmt.Errorf("%s does not end", p.command.Path)
}

// tick is the unit of times in /proc: USER_HZ is 100 on all Linux machines.
const tick = 10 * time.Millisecond

// cpu returns the processor time of the session so far, of ended processes too.
func (p *process) cpu() (time.Duration, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, fmt.Errorf("list the processes: %w", err)
	}
	var sum time.Duration
	for _, name := range stats {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it ended
		}
		// See proc(5): the fields after the name, which is in parentheses.
		_, after, _ := strings.Cut(string(text[strings.LastIndexByte(string(text), ')')+1:]), " ")
		fields := strings.Fields(after)
		if len(fields) < 15 || fields[3] != strconv.Itoa(p.command.Process.Pid) {
			continue
		}
		for _, field := range fields[11:15] { // utime, stime, and those of children that ended
			ticks, err := strconv.ParseInt(field, 10, 64)
			if err != nil {
				return 0, fmt.Errorf("read %s: %w", name, err)
			}
			sum += time.Duration(ticks) * tick
		}
	}
	return sum, nil
}

// serves waits until the program listens on the port of loopback.
func (p *process) serves(ctx context.Context, port string) error {
	ctx, cancel := context.WithTimeout(ctx, peerStartLimit)
	defer cancel()
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", "127.0.0.1:"+port)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-ctx.Done():
		case <-p.ended:
		case <-time.After(200 * time.Millisecond):
			continue
		}
		said, _ := os.ReadFile(p.log) // without it, the error says less
		return fmt.Errorf("%s does not start: %w\n%s", p.command.Path, err, said)
	}
}

// program returns the path of a program of a database: in PATH, or where Debian keeps those of Postgres.
func program(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	if found, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name); err == nil && len(found) > 0 {
		return found[len(found)-1], nil
	}
	return "", fmt.Errorf("%w: %s is not installed", errAbsent, name)
}
