package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// machine describes the machine of the figures.
func machine(ctx context.Context) (string, error) {
	commit, err := cleanCommit(ctx, ".")
	if err != nil { // run checks for a clean commit before writing the document
		commit = "unknown"
		if out, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty").Output(); err == nil {
			commit = strings.TrimSpace(string(out))
		}
	}
	return table([]string{"Measured", ""}, [][]string{
		{"on", time.Now().UTC().Format(time.DateOnly)},
		{"of", "commit " + commit},
		{"with", "`make bench`"},
		{"machine", fmt.Sprintf("%s, %d cores for all processes together", processor(ctx), runtime.NumCPU())},
		{"system", runtime.GOOS + "/" + runtime.GOARCH},
		{"Go", runtime.Version()},
	}), nil
}

// errChanged reports uncommitted changes. With changes, the document would name
// the wrong commit.
var errChanged = errors.New("the working tree has uncommitted changes: commit or stash them, or name the parts to print")

// cleanCommit returns the commit of the working tree. It returns errChanged if
// any file except the document differs from the commit.
func cleanCommit(ctx context.Context, folder string) (string, error) {
	git := func(args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir = folder
		out, err := cmd.Output()
		if err != nil {
			return "", fmt.Errorf("git %s: %w", args[0], err)
		}
		return strings.TrimSpace(string(out)), nil
	}
	changes, err := git("status", "--porcelain", "--", ".", ":(exclude)"+document)
	if err != nil {
		return "", err
	}
	if changes != "" {
		return "", fmt.Errorf("%w:\n%s", errChanged, changes)
	}
	return git("describe", "--always")
}

// processor returns the processor's name.
func processor(ctx context.Context) string {
	if out, err := exec.CommandContext(ctx, "sysctl", "-n", "machdep.cpu.brand_string").Output(); err == nil {
		return strings.TrimSpace(string(out))
	}
	if f, err := os.Open("/proc/cpuinfo"); err == nil {
		defer f.Close() //nolint:errcheck // read only
		for lines := bufio.NewScanner(f); lines.Scan(); {
			if name, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
				return strings.TrimSpace(value)
			}
		}
	}
	return "unknown processor"
}

// table returns the rows as Markdown.
func table(header []string, rows [][]string) string {
	var b strings.Builder
	line := func(cells []string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	line(header)
	line(strings.Split(strings.Repeat("---,", len(header)-1)+"---", ","))
	for _, row := range rows {
		line(row)
	}
	return b.String()
}
