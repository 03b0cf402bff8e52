// Package docs_test holds the documents of the repository to its code: links,
// paths, commands, test names, routes, limits, scopes, queues and costs.
package docs_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// root is the repository's folder.
const root = ".."

// page is one Markdown document.
type page struct {
	path  string // from the repository's root, with slashes
	text  string
	prose string   // text without fenced blocks
	shell []string // lines of fenced blocks of shell commands, continued lines joined
}

// pages returns every Markdown document of the repository.
func pages(t *testing.T) []page {
	t.Helper()

	var all []page
	for _, file := range files(t) {
		if path.Ext(file) == ".md" {
			all = append(all, newPage(file, read(t, file)))
		}
	}
	if len(all) < 20 {
		t.Fatalf("%d documents; want 20 or more", len(all))
	}
	return all
}

func newPage(file, text string) page {
	p := page{path: file, text: text}
	var prose strings.Builder
	var fence string
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		if info, ok := strings.CutPrefix(strings.TrimSpace(line), "```"); ok {
			if fence == "" {
				fence = "```" + info
			} else {
				fence = ""
			}
			continue
		}
		switch {
		case fence == "":
			prose.WriteString(line)
		case strings.HasPrefix(fence, "```sh"):
			p.shell = append(p.shell, strings.TrimSpace(line))
		}
	}
	p.prose = prose.String()
	return p
}

// files returns the paths of all files of the repository, without the folders
// that builds and package managers write.
func files(t *testing.T) []string {
	t.Helper()

	built := []string{".git", ".tools", "bin", "clients/ts/dist", "dist", "infra/cdk.out"}
	var all []string
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if slices.Contains(built, name) || d.Name() == "node_modules" || d.Name() == ".venv" {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if !d.IsDir() {
			all = append(all, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func read(t *testing.T, file string) string {
	t.Helper()

	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// spans returns the code spans of the prose.
func (p page) spans() []string {
	var all []string
	for _, span := range regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(p.prose, -1) {
		all = append(all, span[1])
	}
	return all
}

// anchors returns the anchors that GitHub makes of the page's headings. A
// repeated heading gets a number.
func (p page) anchors() map[string]bool {
	all := make(map[string]bool)
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(p.prose, -1) {
		kept := regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(heading[1]), "")
		anchor := strings.ReplaceAll(kept, " ", "-")
		for numbered, n := anchor, 0; ; n++ {
			if n > 0 {
				numbered = anchor + "-" + string(rune('0'+n))
			}
			if !all[numbered] {
				all[numbered] = true
				break
			}
		}
	}
	return all
}

// table returns the cells of the first table of the page with these headers.
func (p page) table(t *testing.T, headers ...string) [][]string {
	t.Helper()

	_, after, ok := strings.Cut(p.prose, "| "+strings.Join(headers, " | ")+" |\n|")
	if !ok {
		t.Fatalf("%s has no table with the headers %q", p.path, headers)
	}
	var rows [][]string
	lines := strings.Split(after, "\n")
	for _, line := range lines[1:] {
		if !strings.HasPrefix(line, "| ") {
			break
		}
		var row []string
		for cell := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
			row = append(row, strings.TrimSpace(cell))
		}
		if len(row) != len(headers) {
			t.Fatalf("%s: the row %q has %d cells; want %d", p.path, line, len(row), len(headers))
		}
		rows = append(rows, row)
	}
	return rows
}

// document returns one document.
func document(t *testing.T, file string) page {
	t.Helper()

	return newPage(file, read(t, file))
}
