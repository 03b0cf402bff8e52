// Package usage lets a measured process tell what it has used so far. Bench builds a
// function with one more file, which calls Answer.
package usage

import (
	"bufio"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/pprof"
	"syscall"
	"time"
)

const (
	// EnvRoots names a file of certificate authorities that the process trusts, in PEM. The
	// system's own count instead, unless GODEBUG has x509usefallbackroots=1.
	EnvRoots = "BENCH_ROOTS"
	// EnvProfile names the file for a CPU profile of the process.
	EnvProfile = "BENCH_PROFILE"
)

// Usage is what a process has used since its start.
type Usage struct {
	CPU     time.Duration `json:"cpu"`     // of all threads, user and system
	Objects uint64        `json:"objects"` // allocated
	Bytes   uint64        `json:"bytes"`   // allocated
}

// Sub returns the usage since before.
func (u Usage) Sub(before Usage) Usage {
	return Usage{CPU: u.CPU - before.CPU, Objects: u.Objects - before.Objects, Bytes: u.Bytes - before.Bytes}
}

// Now returns the usage of this process.
func Now() (Usage, error) {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return Usage{}, fmt.Errorf("ask for the usage: %w", err)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return Usage{CPU: time.Duration(r.Utime.Nano() + r.Stime.Nano()), Objects: m.Mallocs, Bytes: m.TotalAlloc}, nil
}

// Trust makes the process trust the authorities of EnvRoots.
func Trust() error {
	text, err := os.ReadFile(os.Getenv(EnvRoots))
	if err != nil {
		return fmt.Errorf("read %s: %w", EnvRoots, err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(text)
	x509.SetFallbackRoots(roots)
	return nil
}

// Answer trusts the roots, and writes the usage, as JSON, for each line of in. It returns
// after the end of in, with the profile written.
func Answer(in io.Reader, out io.Writer) error {
	if err := Trust(); err != nil {
		return err
	}
	if path := os.Getenv(EnvProfile); path != "" {
		f, err := os.Create(path)
		if err == nil {
			err = pprof.StartCPUProfile(f)
		}
		if err != nil {
			return fmt.Errorf("profile: %w", err)
		}
		defer f.Close() //nolint:errcheck // a truncated profile does not parse
		defer pprof.StopCPUProfile()
	}
	answers := json.NewEncoder(out)
	for questions := bufio.NewScanner(in); questions.Scan(); {
		u, err := Now()
		if err != nil {
			return err
		}
		if err := answers.Encode(u); err != nil {
			return fmt.Errorf("print the usage: %w", err)
		}
	}
	return nil
}
