package docs_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/licensecheck"
)

var noticesFile = flag.String("notices", "", "the file to write the licenses of the modules in the programs of a release to")

// TestSupply_licenses holds the modules in the programs of a release, the functions and
// the command line, to a list of licenses. The
// test reads the module cache only.
func TestSupply_licenses(t *testing.T) {
	t.Parallel()

	allowed := []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MIT-0", "MPL-2.0"}
	var notices strings.Builder
	notices.WriteString("The functions and the command line of Surehook contain code of these modules.\n")
	for _, m := range releasedModules(t) {
		fmt.Fprintf(&notices, "\n%s\n%s %s\n", strings.Repeat("=", 80), m.Path, m.Version)
		licenses := 0
		for _, file := range m.licenseFiles(t) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&notices, "\n--- %s\n\n%s\n", strings.TrimPrefix(file, m.Dir+"/"), bytes.TrimSpace(text))
			if notice := regexp.MustCompile(`(?i)notice|summary`); notice.MatchString(path.Base(file)) {
				continue
			}
			licenses++
			found := licensecheck.Scan(text)
			if found.Percent < 75 || len(found.Match) == 0 {
				t.Errorf("%s: %.0f %% of %s is the text of a known license; want 75 %% or more", m.Path, found.Percent, file)
			}
			for _, match := range found.Match {
				if !slices.Contains(allowed, match.ID) {
					t.Errorf("%s has the license %s in %s; want one of %v", m.Path, match.ID, file, allowed)
				}
			}
		}
		if licenses == 0 {
			t.Errorf("%s has no license; want one of %v", m.Path, allowed)
		}
	}
	if *noticesFile != "" {
		if err := os.WriteFile(*noticesFile, []byte(notices.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// module is a Go module in the module cache.
type module struct {
	Path     string   `json:"Path"`
	Version  string   `json:"Version"`
	Dir      string   `json:"Dir"`
	Main     bool     `json:"Main"`
	packages []string // the folders of the packages in the programs
}

// releasedModules returns the modules in the binaries of a release, by path,
// and the standard library.
func releasedModules(t *testing.T) []*module {
	t.Helper()

	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-tags", "lambda.norpc", "-json=Dir,Module", "./functions/...", "./cmd/...")
	list.Dir = root
	list.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0", "GOPROXY=off")
	out, err := list.Output()
	if err != nil {
		t.Fatalf("list the modules: %v", err)
	}
	goRoot, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatalf("find the standard library: %v", err)
	}
	modules := map[string]*module{"": {Path: "the standard library", Version: runtime.Version(), Dir: strings.TrimSpace(string(goRoot))}}
	for packages := json.NewDecoder(bytes.NewReader(out)); packages.More(); {
		var p struct {
			Dir    string `json:"Dir"`
			Module module `json:"Module"`
		}
		if err := packages.Decode(&p); err != nil {
			t.Fatal(err)
		}
		if p.Module.Path != "" && !p.Module.Main {
			if modules[p.Module.Path] == nil {
				modules[p.Module.Path] = &p.Module
			}
			modules[p.Module.Path].packages = append(modules[p.Module.Path].packages, p.Dir)
		}
	}
	if len(modules) < 10 {
		t.Fatalf("%d modules; want 10 or more", len(modules))
	}
	return slices.SortedFunc(maps.Values(modules), func(a, b *module) int { return strings.Compare(a.Path, b.Path) })
}

// licenseFiles returns the license files and notices in the folders of the
// module's packages, and in the folders above.
func (m module) licenseFiles(t *testing.T) []string {
	t.Helper()

	folders := map[string]bool{m.Dir: true}
	for _, folder := range m.packages {
		for ; folder != m.Dir; folder = filepath.Dir(folder) {
			folders[folder] = true
		}
	}
	license := regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice)([.-].*)?$`)
	var all []string
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if license.MatchString(e.Name()) && !e.IsDir() && filepath.Ext(e.Name()) != ".go" {
				all = append(all, filepath.Join(folder, e.Name()))
			}
		}
	}
	return all
}

// TestSupply_npm checks that npm installs from lock files and runs no scripts of
// packages.
func TestSupply_npm(t *testing.T) {
	t.Parallel()

	all := files(t)
	install := regexp.MustCompile(`npm\b.* (ci|install|i)\b`)
	use := regexp.MustCompile(`\$\(NPM\) \S`) // of the command that tools.mk defines, which is a line of its own here
	installs := 0
	for _, file := range all {
		if path.Base(file) == "package.json" && !slices.Contains(all, path.Join(path.Dir(file), "package-lock.json")) {
			t.Errorf("%s has no package-lock.json", file)
		}
		if path.Base(file) != "Makefile" && path.Ext(file) != ".yml" && !strings.HasPrefix(file, ".ci/") && file != "examples/README.md" {
			continue
		}
		for line := range strings.Lines(read(t, file)) {
			if installs += len(use.FindAllString(line, -1)); strings.HasPrefix(line, "#") || !install.MatchString(line) {
				continue
			}
			installs++
			if !strings.Contains(line, "--ignore-scripts") {
				t.Errorf("%s: %q runs scripts of packages; want --ignore-scripts", file, strings.TrimSpace(line))
			}
		}
	}
	if installs < 5 {
		t.Errorf("%d installations with npm; want 5 or more", installs)
	}
}

// TestSupply_pip checks that pip installs nothing without hashes, and that the files with
// hashes pin every package.
func TestSupply_pip(t *testing.T) {
	t.Parallel()

	install := regexp.MustCompile(`pip3? install\b(.*)`)
	from := regexp.MustCompile(`--require-hashes -r (\S+\.txt|\$<)`)
	target := regexp.MustCompile(`(?m)^\S+/installed: (\S+\.txt)$`) // whose list is the $< of its recipe
	pinned := regexp.MustCompile(`^[A-Za-z0-9._-]+(\[[a-z,]+\])?==\S+( ; .+)? \\$`)
	hash := regexp.MustCompile(`^ {4}--hash=sha256:[0-9a-f]{64}( \\)?$`)
	seen := map[string]bool{}
	for _, file := range files(t) {
		if path.Base(file) != "Makefile" && path.Ext(file) != ".yml" && !strings.HasPrefix(file, ".ci/") && file != "examples/README.md" {
			continue
		}
		text := read(t, file)
		for _, found := range install.FindAllStringSubmatch(text, -1) {
			list := from.FindStringSubmatch(found[1])
			if list == nil {
				t.Errorf("%s: pip install%s; want --require-hashes -r FILE.txt", file, found[1])
				continue
			}
			lists := []string{list[1]}
			if list[1] == "$<" {
				lists = nil
				for _, t := range target.FindAllStringSubmatch(text, -1) {
					lists = append(lists, strings.Replace(t[1], "%", "*", 1)) // of a rule for several files
				}
				if uses := strings.Count(text, "\t$(venv)\n"); uses != len(lists) {
					t.Errorf("%s: %d uses of $(venv), %d targets DIR/installed: FILE.txt; want one each", file, uses, len(lists))
				}
			}
			for _, pattern := range lists {
				matched := false
				for _, name := range files(t) {
					if ok, err := path.Match(pattern, name); err != nil {
						t.Fatal(err)
					} else if ok {
						matched, seen[name] = true, true
					}
				}
				if !matched {
					t.Errorf("%s: there is no file %s", file, pattern)
				}
			}
		}
	}
	if len(seen) < 5 {
		t.Errorf("%d lists of packages for pip; want 5 or more", len(seen))
	}
	for list := range seen {
		hashes := 1 // of the package before
		for line := range strings.Lines(read(t, list) + "#\n") {
			line = strings.TrimRight(line, "\n")
			if hash.MatchString(line) {
				hashes++
				continue
			}
			if line == "" || strings.HasPrefix(strings.TrimSpace(line), "#") {
				continue
			}
			if hashes == 0 || !pinned.MatchString(line) {
				t.Errorf("%s: %q is no package with version and hashes, or follows one without", list, line)
			}
			hashes = 0
		}
	}
}

// TestSupply_cdk checks that the CDK apps in examples have the CDK of Surehook.
func TestSupply_cdk(t *testing.T) {
	t.Parallel()

	want := regexp.MustCompile(`aws-cdk-go/awscdk/v2 v(\S+)`).FindStringSubmatch(read(t, "go.mod"))[1]
	for file, pattern := range map[string]string{
		"examples/cdk/go.mod":                  `aws-cdk-go/awscdk/v2 v(\S+)`,
		"examples/cdk-python/requirements.txt": `(?m)^aws-cdk-lib==(\S+)`,
		"examples/cdk-typescript/package.json": `"aws-cdk-lib": "(.+)"`,
	} {
		if found := regexp.MustCompile(pattern).FindStringSubmatch(read(t, file)); found == nil || found[1] != want {
			t.Errorf("%s has the CDK %v; want %s, as go.mod", file, found, want)
		}
	}
}

// TestSupply_actions checks that commits pin the actions of GitHub.
func TestSupply_actions(t *testing.T) {
	t.Parallel()

	uses := regexp.MustCompile(`uses: (\S+)(.*)`)
	pinned := regexp.MustCompile(`^\S+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	count := 0
	for _, file := range files(t) {
		if !strings.HasPrefix(file, ".github/") && !strings.HasPrefix(file, "examples/github-actions/") || path.Ext(file) != ".yml" {
			continue
		}
		for _, found := range uses.FindAllStringSubmatch(read(t, file), -1) {
			if strings.HasPrefix(found[1], "./") {
				continue
			}
			count++
			if !pinned.MatchString(found[1] + found[2]) {
				t.Errorf("%s uses %s; want a commit, followed by its version tag", file, found[1]+found[2])
			}
		}
	}
	if count < 5 {
		t.Errorf("%d uses of actions; want 5 or more", count)
	}
}
