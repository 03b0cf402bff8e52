package client_test

import (
	"os"
	"strings"
	"testing"
)

// TestReadme checks that the README shows the programs, which CI runs against `surehook dev`.
func TestReadme(t *testing.T) {
	t.Parallel()

	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{"example/main.go", "../verify/example/main.go"} {
		text, err := os.ReadFile(program)
		if err != nil {
			t.Fatal(err)
		}
		_, code, _ := strings.Cut(string(text), "\n") // without the comment for readers of the folder
		if !strings.Contains(string(readme), "```go\n"+code+"```") {
			t.Errorf("README.md does not show %s", program)
		}
	}
}
