// Command bench measures Surehook on this machine and writes docs/performance.md: the CPU
// time of the path as deployed, the functions' cold starts and sizes, the packages'
// benchmarks, and the process of `make dev`.
//
// CPUPROFILE is the name of files for CPU profiles of the functions of the path: .ingest and
// .deliver. Arguments name single parts (machine, path, functions, dev, packages, peers): bench
// runs only these parts and prints the figures instead of writing the document. The document
// names its commit, so bench refuses to write the document while the working tree has
// changes.
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
)

// document is the output file.
const document = "docs/performance.md"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	var err error
	if len(os.Args) == 4 && os.Args[1] == bareArgument {
		err = postBare(ctx, os.Args[2], os.Args[3], os.Stdout)
	} else {
		err = run(ctx, os.Args[1:])
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// peersPart runs only when it is named: the document shows what it last kept.
const peersPart = "peers"

// part is a chapter of the document.
type part struct {
	name    string
	measure func(ctx context.Context) (string, error)
}

// parts are in the order of the document. The path is early, because the
// packages' benchmarks heat the machine up.
func parts() []part {
	return []part{{"machine", machine}, {"path", paths}, {"functions", functions}, {"dev", dev}, {"packages", packages}, {peersPart, peers}}
}

func run(ctx context.Context, only []string) error {
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
		if len(only) > 0 && !slices.Contains(only, p.name) || len(only) == 0 && p.name == peersPart {
			continue
		}
		fmt.Fprintf(os.Stderr, "measuring: %s\n", p.name)
		chapter, err := p.measure(ctx)
		if err != nil {
			return fmt.Errorf("measure %s: %w", p.name, err)
		}
		text.WriteString("\n" + chapter)
	}
	if len(only) > 0 {
		_, err := io.WriteString(os.Stdout, text.String())
		return err
	}
	if err := os.WriteFile(filepath.FromSlash(document), []byte(text.String()), 0o644); err != nil {
		return fmt.Errorf("write the figures: %w", err)
	}
	fmt.Fprintln(os.Stderr, document)
	return nil
}

const head = `# Performance

For those who compare servers, and for developers who changed the path: the CPU time of a delivery, which is part of its [cost](cost.md), and of a cold start. How long a delivery takes on AWS depends on the latencies of its services.
` + "`make bench` measures again and rewrites this file. A busy machine gives worse figures.\n"
