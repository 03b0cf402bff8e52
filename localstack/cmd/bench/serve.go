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

// serveArgument makes this program the process that is measured.
const serveArgument = "serve"

// usage is what the process has used since it began.
type usage struct {
	CPU      time.Duration `json:"cpu"`      // of all its threads, user and system
	Resident int64         `json:"resident"` // bytes of memory now
}

// started is where the process that is measured is reached.
type started struct {
	URL string `json:"url"`
	Key string `json:"key"`
}

// serve runs Surehook. It says where it is reached, and for each line that it
// reads what it has used, until there are no more lines.
func serve(ctx context.Context, in io.Reader, out io.Writer) error {
	s, err := dev.Start(ctx, dev.Options{})
	if err != nil {
		return err //nolint:wrapcheck // it names itself
	}
	if path := os.Getenv("CPUPROFILE"); path != "" {
		f, err := os.Create(path)
		if err != nil {
			return fmt.Errorf("profile: %w", err)
		}
		defer f.Close() //nolint:errcheck // a profile that is cut off does not parse
		if err := pprof.StartCPUProfile(f); err != nil {
			return fmt.Errorf("profile: %w", err)
		}
		defer pprof.StopCPUProfile()
	}
	answers := json.NewEncoder(out)
	if err := answers.Encode(started{s.URL, s.Key}); err != nil {
		return fmt.Errorf("say where it is: %w", err)
	}
	for questions := bufio.NewScanner(in); questions.Scan(); {
		used, err := used()
		if err != nil {
			return err
		}
		if err := answers.Encode(used); err != nil {
			return fmt.Errorf("say what it used: %w", err)
		}
	}
	return nil
}

// used returns what this process has used.
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

// resident returns how many bytes of memory the process has.
func resident(pid int) (int64, error) {
	out, err := exec.Command("ps", "-o", "rss=", "-p", strconv.Itoa(pid)).Output() //nolint:noctx // it ends at once
	if err != nil {
		return 0, fmt.Errorf("ask for the memory of process %d: %w", pid, err)
	}
	kilobytes, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("ask for the memory of process %d: ps says %q", pid, out)
	}
	return kilobytes << 10, nil
}

// server is a process that serves.
type server struct {
	started

	command *exec.Cmd
	ask     io.WriteCloser
	answers *json.Decoder
}

// startServer starts this program once more, to serve.
func startServer(ctx context.Context) (*server, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	s := &server{command: exec.CommandContext(ctx, program, serveArgument)}
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

// used asks the process what it has used.
func (s *server) used() (u usage, err error) {
	if _, err = io.WriteString(s.ask, "used\n"); err == nil {
		err = s.answers.Decode(&u)
	}
	if err != nil {
		return usage{}, fmt.Errorf("ask Surehook what it used: %w", err)
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
