package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/pprof"
	"strconv"
	"strings"
	"syscall"
	"time"

	"surehook/localstack/dev"
)

// serveArgument starts this program as the measured process.
const serveArgument = "serve"

// usage is the process's consumption since its start.
type usage struct {
	CPU      time.Duration `json:"cpu"`      // CPU time of all threads, user and system
	Resident int64         `json:"resident"` // current memory in bytes
}

// started holds the addresses of the measured process.
type started struct {
	URL string `json:"url"`
	Key string `json:"key"`
}

// serve runs Surehook under the named load. The process prints its addresses, and its
// usage for each input line until the end of the input.
func serve(ctx context.Context, name string, in io.Reader, out io.Writer) error {
	s, err := dev.Start(ctx, dev.Options{})
	if err != nil {
		return err //nolint:wrapcheck // the error is complete
	}
	if path := os.Getenv("CPUPROFILE"); path != "" {
		f, err := os.Create(path + "." + name)
		if err != nil {
			return fmt.Errorf("profile: %w", err)
		}
		defer f.Close() //nolint:errcheck // a truncated profile does not parse
		if err := pprof.StartCPUProfile(f); err != nil {
			return fmt.Errorf("profile: %w", err)
		}
		defer pprof.StopCPUProfile()
	}
	answers := json.NewEncoder(out)
	if err := answers.Encode(started{s.URL, s.Key}); err != nil {
		return fmt.Errorf("print the address: %w", err)
	}
	for questions := bufio.NewScanner(in); questions.Scan(); {
		used, err := used()
		if err != nil {
			return err
		}
		if err := answers.Encode(used); err != nil {
			return fmt.Errorf("print the usage: %w", err)
		}
	}
	return nil
}

// used returns this process's usage.
func used() (usage, error) {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return usage{}, fmt.Errorf("ask for the usage: %w", err)
	}
	resident, err := resident(os.Getpid())
	if err != nil {
		return usage{}, err
	}
	return usage{CPU: time.Duration(r.Utime.Nano() + r.Stime.Nano()), Resident: resident}, nil
}

// resident returns the process's resident memory in bytes.
func resident(pid int) (int64, error) {
	out, err := exec.Command("ps", "-o", "rss=", "-p", strconv.Itoa(pid)).Output() //nolint:noctx // ps ends at once
	if err != nil {
		return 0, fmt.Errorf("ask for the memory of process %d: %w", pid, err)
	}
	kilobytes, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("ask for the memory of process %d: ps says %q", pid, out)
	}
	return kilobytes << 10, nil
}

// server is the measured process.
type server struct {
	started

	command *exec.Cmd
	ask     io.WriteCloser
	answers *json.Decoder
}

// startServer starts this program again as the measured process of the named load.
func startServer(ctx context.Context, name string) (*server, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	s := &server{command: exec.CommandContext(ctx, program, serveArgument, name)}
	s.command.Stderr = os.Stderr
	if s.ask, err = s.command.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start Surehook: %w", err)
	}
	out, err := s.command.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start Surehook: %w", err)
	}
	s.answers = json.NewDecoder(out)
	if err := s.command.Start(); err != nil {
		return nil, fmt.Errorf("start Surehook: %w", err)
	}
	if err := s.answers.Decode(&s.started); err != nil {
		return nil, errors.Join(fmt.Errorf("start Surehook: %w", err), s.stop())
	}
	return s, nil
}

// used asks the process for its usage.
func (s *server) used() (u usage, err error) {
	if _, err = io.WriteString(s.ask, "used\n"); err == nil {
		err = s.answers.Decode(&u)
	}
	if err != nil {
		return usage{}, fmt.Errorf("ask Surehook for its usage: %w", err)
	}
	return u, nil
}

func (s *server) stop() error {
	_ = s.ask.Close()
	if err := s.command.Wait(); err != nil {
		return fmt.Errorf("stop Surehook: %w", err)
	}
	return nil
}
