package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestCleanCommit_ignoresTheDocumentAlone(t *testing.T) {
	t.Parallel()

	folder := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=bench", "-c", "user.email=bench@example.com"}, args...)...)
		cmd.Dir = folder
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	write := func(name string) {
		t.Helper()
		file := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "--quiet")
	write("main.go")
	git("add", ".")
	git("commit", "--quiet", "--no-gpg-sign", "-m", "a commit")

	write(document) // as an earlier run did
	if commit, err := cleanCommit(t.Context(), folder); err != nil || commit == "" {
		t.Errorf("cleanCommit of a tree with a new document = %q, %v; want the commit", commit, err)
	}
	write("other.go")
	if commit, err := cleanCommit(t.Context(), folder); !errors.Is(err, errChanged) {
		t.Errorf("cleanCommit of a tree with a new file = %q, %v; want errChanged", commit, err)
	}
}

func TestHead_beginsTheCommittedDocument(t *testing.T) {
	t.Parallel()

	committed, err := os.ReadFile(filepath.Join("..", "..", "..", filepath.FromSlash(document)))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(committed), head) {
		t.Errorf("%s does not begin with %q", document, head)
	}
}
