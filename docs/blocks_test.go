package docs_test

import (
	"bytes"
	"encoding/json"
	"go/parser"
	"go/token"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestBlocks reads the code of every document with the parser of its language. What runs it, runs
// elsewhere: TestAPI, TestMigrating, and with `make examples` the programs that receive webhooks;
// `make docs` draws the diagrams.
func TestBlocks(t *testing.T) {
	t.Parallel()

	fenced := regexp.MustCompile("(?ms)^( *)```(\\w+)[^\n]*\n(.*?)^ *```")
	elsewhere := []string{"text", "mermaid", "ts", "js", "html", "cel", "sql", "hcl", "ruby", "php"}
	count := 0
	for _, p := range pages(t) {
		for _, block := range fenced.FindAllStringSubmatch(p.text, -1) {
			indent, language, code := block[1], block[2], block[3]
			code = strings.ReplaceAll("\n"+code, "\n"+indent, "\n")[1:]
			count++
			var command []string
			switch language {
			case "sh":
				command = []string{"bash", "-n"}
			case "python":
				command = []string{"python3", "-c", "import ast, sys; ast.parse(sys.stdin.read())"}
			case "json":
				for _, line := range documents(code) {
					if !json.Valid([]byte(line)) {
						t.Errorf("%s has JSON that is not valid:\n%s", p.path, line)
					}
				}
			case "go":
				if !strings.Contains(code, "\npackage ") && !strings.HasPrefix(code, "package ") {
					code = "package p\n\nfunc _() {\n" + code + "}\n" // a part of a program, as in docs/api.md
				}
				if _, err := parser.ParseFile(token.NewFileSet(), p.path, code, parser.AllErrors); err != nil {
					t.Errorf("%s has Go that does not parse: %v\n%s", p.path, err, code)
				}
			default:
				if !slices.Contains(elsewhere, language) {
					t.Errorf("%s has code in %q, which no test reads", p.path, language)
				}
			}
			if command == nil {
				continue
			}
			if _, err := exec.LookPath(command[0]); err != nil {
				continue // as on a machine without Python; CI has both
			}
			cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
			cmd.Stdin = bytes.NewBufferString(code)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s has code that %s does not read: %v\n%s\n%s", p.path, command[0], err, out, code)
			}
		}
	}
	if count < 100 {
		t.Errorf("%d blocks of code; want 100 or more", count)
	}
}

// documents returns the documents of a block: one, or one a line.
func documents(code string) []string {
	if json.Valid([]byte(code)) {
		return []string{code}
	}
	return strings.Split(strings.TrimSpace(code), "\n")
}
