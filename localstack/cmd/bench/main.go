// Command bench measures Surehook on this machine and writes docs/performance.md:
// the benchmarks of the packages, the functions' cold starts and sizes, and a load
// over HTTP on what `make dev` runs, with publisher and receiver beside it.
//
// DURATION is how long each part of the load lasts, 10s if it is not set.
// CPUPROFILE is a file for a profile of Surehook's process under the load. Names
// of parts as arguments (machine, load, functions, packages) do those alone, and
// print what they find instead of writing it. The document names its commit, so
// bench refuses to write the document while the working tree has changes.
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

// document is what is written.
const document = "docs/performance.md"

const defaultDuration = 10 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	var err error
	if len(os.Args) == 2 && os.Args[1] == serveArgument {
		err = serve(ctx, os.Stdin, os.Stdout)
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

// options is what the parts are told.
type options struct {
	duration time.Duration
	progress io.Writer
}

// parts come in the order of the document. The load comes early, before the
// benchmarks of the packages have warmed the machine up.
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
		// Checked before the measurements, because they take minutes.
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
		fmt.Fprintf(o.progress, "measuring: %s\n", p.name) //nolint:errcheck // there is nobody else to tell
		chapter, err := p.measure(ctx, o)
		if err != nil {
			return fmt.Errorf("measure %s: %w", p.name, err)
		}
		text.WriteString("\n" + chapter)
	}
	if len(only) > 0 {
		_, err := io.WriteString(os.Stdout, text.String())
		return err //nolint:wrapcheck // there is nobody else to tell
	}
	if err := os.WriteFile(filepath.FromSlash(document), []byte(text.String()), 0o644); err != nil {
		return fmt.Errorf("write the figures: %w", err)
	}
	fmt.Fprintln(o.progress, document) //nolint:errcheck // as above
	return nil
}

const head = `# Performance

The speed of Surehook's own code, without AWS. On AWS, memory sizes and the latencies of the services determine the speed.
` + "`make bench` measures again and rewrites this file. A busy machine gives lower figures.\n"
