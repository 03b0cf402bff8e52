package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"regexp"
	"strconv"
	"strings"

	"surehook.example/surehook/internal/names"
)

// packages runs the packages' benchmarks, with the collector of garbage set as in the functions.
func packages(ctx context.Context) (string, error) {
	command := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", ".", "-benchmem", "./internal/...")
	command.Env = append(os.Environ(), names.EnvGarbage+"="+names.CollectAt)
	var faults bytes.Buffer
	command.Stderr = &faults
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("run the benchmarks: %w\n%s%s", err, out, &faults)
	}
	return describePackages(string(out)), nil
}

// result is one line of a benchmark's output.
type result struct {
	pkg, name string
	figures   map[string]float64 // by unit, such as ns/op
}

// benchmarkLine matches a name, the processor count, the number of runs, and
// the figures.
var benchmarkLine = regexp.MustCompile(`^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+(.*)$`)

// parse reads the output of go test.
func parse(output string) []result {
	var results []result
	pkg := ""
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "pkg: "); ok {
			pkg = path.Base(name)
			continue
		}
		parts := benchmarkLine.FindStringSubmatch(line)
		if parts == nil {
			continue
		}
		r := result{pkg: pkg, name: parts[1], figures: make(map[string]float64)}
		fields := strings.Fields(parts[2])
		for i := 0; i+1 < len(fields); i += 2 {
			if value, err := strconv.ParseFloat(fields[i], 64); err == nil {
				r.figures[fields[i+1]] = value
			}
		}
		results = append(results, r)
	}
	return results
}

// describePackages converts the output of go test into a chapter.
func describePackages(output string) string {
	var rows [][]string
	for _, r := range parse(output) {
		rows = append(rows, []string{r.pkg + "." + r.name, duration(r.figures["ns/op"]), count(r.figures["B/op"]), count(r.figures["allocs/op"])})
	}
	return "## Packages\n\n" + table([]string{"Benchmark", "time", "bytes", "allocations"}, rows)
}

func count(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// duration formats nanoseconds with about three digits.
func duration(ns float64) string {
	switch {
	case ns < 1e3:
		return fmt.Sprintf("%.3g ns", ns)
	case ns < 1e6:
		return fmt.Sprintf("%.3g µs", ns/1e3)
	}
	return fmt.Sprintf("%.3g ms", ns/1e6)
}
