package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestDocuments_commands parses the command lines of the documents: each names a command, and flags
// that the command has.
func TestDocuments_commands(t *testing.T) {
	t.Parallel()

	line := regexp.MustCompile("(?m)(?:^[ $]*|[`|(] ?)(?:\\./|bin/)?surehook ([a-z][^`|\\n]*)")
	found := 0
	for _, folder := range []string{".", "docs", "examples"} {
		root := filepath.Join("../..", folder)
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && path != root && (folder == "." || entry.Name() == "node_modules"):
				return filepath.SkipDir
			case filepath.Ext(path) != ".md":
				return nil
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, match := range line.FindAllStringSubmatch(string(text), -1) {
				found++
				if problem := checkCommand(match[1]); problem != "" {
					t.Errorf("%s: surehook %s: %s", path, match[1], problem)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found < 40 {
		t.Errorf("the documents have %d command lines; want 40 or more", found)
	}
}

// checkCommand returns what is wrong with a command line of a document; empty if it is right.
func checkCommand(text string) string {
	text, _, _ = strings.Cut(text, " #")
	words := strings.Fields(regexp.MustCompile(`'[^']*'|"[^"]*"|\$\([^)]*\)`).ReplaceAllString(text, "X"))
	root := (&program{}).root()
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	c, rest, err := root.Find(words)
	switch {
	case err != nil:
		return err.Error()
	case c == root || c.HasSubCommands() && len(rest) > 0 && !strings.ContainsAny(rest[0][:1], "-["):
		return "is not a command"
	}
	return unknownFlag(c, rest)
}

// unknownFlag returns the first flag that the command does not have; empty for none.
func unknownFlag(c *cobra.Command, words []string) string {
	for _, word := range words {
		name, isFlag := strings.CutPrefix(word, "--")
		name, _, _ = strings.Cut(name, "=")
		if name = strings.Trim(name, ",.;:)"); !isFlag || name == "" || name == "help" {
			continue
		}
		if c.Flags().Lookup(name) == nil && c.InheritedFlags().Lookup(name) == nil {
			return "has no flag --" + name
		}
	}
	return ""
}
