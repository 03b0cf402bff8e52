// Command bench measures Surehook on this machine and writes
// docs/performance.md: the packages' benchmarks, the functions' cold starts and
// sizes, and an HTTP load on the process of `make dev`, with publisher and
// receiver on the same machine.
//
// DURATION is the length of each part of the load, 10s by default. CPUPROFILE is the
// name of files for CPU profiles of Surehook's process: .saturated and .half, by the
// load. Arguments name single parts (machine, load, functions, packages): bench runs
// only these parts and prints the figures instead of writing the document. The
// document names its commit, so bench refuses to write the document while the
// working tree has changes.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// document is the output file.
const document = "docs/performance.md"

const defaultDuration = 10 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	var err error
	if len(os.Args) == 3 && os.Args[1] == serveArgument {
		err = serve(ctx, os.Args[2], os.Stdin, os.Stdout)
	} else {
		err = run(ctx, os.Args[1:])
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// part is a chapter of the document.
type part struct {
	name    string
	measure func(ctx context.Context, o options) (string, error)
}

// options are the inputs of the parts.
type options struct {
	duration time.Duration
	progress io.Writer
}

// parts are in the order of the document. The load is early, because the
// packages' benchmarks heat the machine up.
func parts() []part {
	return []part{{"machine", machine}, {"load", load}, {"functions", functions}, {"packages", packages}}
}

func run(ctx context.Context, only []string) error {
	o := options{duration: defaultDuration, progress: os.Stderr}
	if text := os.Getenv("DURATION"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			return fmt.Errorf(`DURATION is %q, not a positive duration such as "10s"`, text)
		}
		o.duration = d
	}
	if len(only) == 0 {
		// The check is before the measurements, because measurements take
		// minutes.
		if _, err := cleanCommit(ctx, "."); err != nil {
			return err
		}
	}
	var text strings.Builder
	text.WriteString(head)
	for _, p := range parts() {
		if len(only) > 0 && !slices.Contains(only, p.name) {
			continue
		}
		fmt.Fprintf(o.progress, "measuring: %s\n", p.name)
		chapter, err := p.measure(ctx, o)
		if err != nil {
			return fmt.Errorf("measure %s: %w", p.name, err)
		}
		text.WriteString("\n" + chapter)
	}
	if len(only) > 0 {
		_, err := io.WriteString(os.Stdout, text.String())
		return err //nolint:wrapcheck // a failed write to the terminal has no remedy
	}
	if err := os.WriteFile(filepath.FromSlash(document), []byte(text.String()), 0o644); err != nil {
		return fmt.Errorf("write the figures: %w", err)
	}
	fmt.Fprintln(o.progress, document)
	return nil
}

const head = `# Performance

The speed of Surehook's own code, without AWS. On AWS, memory sizes and the latencies of the services determine the speed.
` + "`make bench` measures again and rewrites this file. A busy machine gives lower figures.\n"
