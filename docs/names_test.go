package docs_test

import (
	"maps"
	"net/http"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"surehook.example/surehook/internal/httpapi"
)

// TestLinks checks that every relative link leads to a file, and to a heading
// where the link names one.
func TestLinks(t *testing.T) {
	t.Parallel()

	all := pages(t)
	byPath := make(map[string]page)
	for _, p := range all {
		byPath[p.path] = p
	}
	link := regexp.MustCompile(`\]\(([^()\s]+)\)`)
	span := regexp.MustCompile("`[^`\n]+`")
	for _, p := range all {
		for _, found := range link.FindAllStringSubmatch(span.ReplaceAllString(p.prose, ""), -1) {
			target := found[1]
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			file, anchor, _ := strings.Cut(target, "#")
			to := p.path
			if file != "" {
				to = path.Join(path.Dir(p.path), file)
			}
			if matches, err := filepath.Glob(filepath.Join(root, to)); err != nil || len(matches) == 0 {
				t.Errorf("%s links to %s; want a file", p.path, target)
				continue
			}
			if anchor != "" && !byPath[to].anchors()[anchor] {
				t.Errorf("%s links to %s; want a heading", p.path, target)
			}
		}
	}
}

// TestPaths checks that every path and file name in code spans exists, and
// every "identifier in path".
func TestPaths(t *testing.T) {
	t.Parallel()

	files := files(t)
	names := make(map[string]bool)
	folders := make(map[string]bool)
	for _, file := range files {
		names[path.Base(file)] = true
		if top, _, ok := strings.Cut(file, "/"); ok {
			folders[top] = true
		}
	}
	for _, built := range []string{"infra/cdk.out", "bin", "dist", ".venv", ".tools"} {
		delete(folders, built)
	}
	name := regexp.MustCompile(`^[A-Za-z0-9_.-]+\.(go|md|json|yaml|yml|toml|txt|svg|sh|html|js)$`)
	in := regexp.MustCompile("`(\\w+)` in `([\\w./-]+)`")
	for _, p := range pages(t) {
		candidates := p.spans()
		for _, line := range p.shell {
			for word := range strings.FieldsSeq(line) {
				if strings.HasPrefix(word, "./") {
					candidates = append(candidates, word)
				}
			}
		}
		for _, s := range candidates {
			s = strings.TrimSuffix(strings.TrimPrefix(s, "./"), "/...")
			top, _, nested := strings.Cut(s, "/")
			switch {
			case nested && folders[top] && !strings.HasPrefix(s, "infra/cdk.out"):
				for _, one := range braces(s) {
					if found, err := filepath.Glob(filepath.Join(root, one)); err != nil || len(found) == 0 {
						t.Errorf("%s names `%s`; want a path that exists", p.path, s)
					}
				}
			case !nested && name.MatchString(s) && !names[s]:
				t.Errorf("%s names `%s`; want a file that exists", p.path, s)
			}
		}
		for _, found := range in.FindAllStringSubmatch(p.prose, -1) {
			if slices.Contains(files, found[2]) && !regexp.MustCompile(`\b`+found[1]+`\b`).MatchString(read(t, found[2])) {
				t.Errorf("%s names `%s` in `%s`; want a file with this identifier", p.path, found[1], found[2])
			}
		}
	}
}

// braces expands one list in braces, as a shell does.
func braces(s string) []string {
	before, rest, ok := strings.Cut(s, "{")
	list, after, closed := strings.Cut(rest, "}")
	if !ok || !closed {
		return []string{s}
	}
	var all []string
	for one := range strings.SplitSeq(list, ",") {
		all = append(all, before+one+after)
	}
	return all
}

// TestTestNames checks that every test, fuzz target and benchmark named in a
// document exists.
func TestTestNames(t *testing.T) {
	t.Parallel()

	declared := make(map[string]bool)
	for _, file := range files(t) {
		if !strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, found := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)\(`).FindAllStringSubmatch(read(t, file), -1) {
			declared[found[1]] = true
		}
	}
	for _, p := range pages(t) {
		for _, name := range regexp.MustCompile(`\b(?:Test|Fuzz|Benchmark)[A-Z]\w*`).FindAllString(p.text, -1) {
			if !declared[name] {
				t.Errorf("%s names %s; want a test that exists", p.path, name)
			}
		}
	}
}

// TestTargets checks that every `make` command of a document has a target.
func TestTargets(t *testing.T) {
	t.Parallel()

	targets, makefiles := make(map[string]bool), ""
	for _, file := range files(t) {
		if file == "Makefile" || path.Ext(file) == ".mk" {
			makefiles += read(t, file)
		}
	}
	for _, line := range regexp.MustCompile(`(?m)^([a-z0-9/_ -]+):`).FindAllStringSubmatch(makefiles, -1) {
		for target := range strings.FieldsSeq(line[1]) {
			targets[target] = true
		}
	}
	for _, p := range pages(t) {
		for _, s := range slices.Concat(p.spans(), p.shell) {
			for _, found := range regexp.MustCompile(`(?:^|[;&|(]\s*|\b[A-Z_]+=\S+ )make ([a-z][a-z0-9/_-]*)`).FindAllStringSubmatch(s, -1) {
				if !targets[found[1]] {
					t.Errorf("%s names `make %s`; want a target of the Makefile", p.path, found[1])
				}
			}
		}
	}
}

// TestRoutes checks that every operation of the API named in a document exists:
// "GET /v1/..." in a code span, and requests in blocks of shell commands.
func TestRoutes(t *testing.T) {
	t.Parallel()

	operation := regexp.MustCompile(`^(GET|POST|PUT|PATCH|DELETE) (\S+)$`)
	curl := regexp.MustCompile(`\bcurl (.*?)"\$API(/[^"]*)"`)
	helper := regexp.MustCompile(`\b(get|post) "?(/v1/[^" )]*)`)
	method := regexp.MustCompile(`-X (\w+)`)
	requests := 0
	for _, p := range pages(t) {
		check := func(method, path string) {
			requests++
			if !served(method, path) {
				t.Errorf("%s names %s %s; want an operation of the API", p.path, method, path)
			}
		}
		for _, s := range p.spans() {
			if found := operation.FindStringSubmatch(s); found != nil {
				check(found[1], found[2])
			} else if strings.HasPrefix(s, "/v1/") && !strings.HasSuffix(s, "/") { // with it, a prefix of paths
				check("", s)
			}
		}
		for _, s := range slices.Concat(p.spans(), p.shell) {
			for _, found := range curl.FindAllStringSubmatch(s, -1) {
				verb := http.MethodGet
				if named := method.FindStringSubmatch(found[1]); named != nil {
					verb = named[1]
				}
				check(verb, found[2])
			}
			for _, found := range helper.FindAllStringSubmatch(s, -1) {
				check(strings.ToUpper(found[1]), found[2])
			}
		}
	}
	if requests < 50 {
		t.Errorf("%d requests in all documents; want 50 or more", requests)
	}
}

// tenantPath is the beginning of most routes. Tables leave it out.
const tenantPath = "/v1/tenants/{tenant}"

// served reports whether the API has the operation. A path may begin with
// "...", or below tenantPath, and may have values in place of parameters. An
// empty method is any.
func served(method, path string) bool {
	path, _, _ = strings.Cut(path, "?")
	path, suffix := strings.CutPrefix(path, "...")
	return slices.ContainsFunc(httpapi.Routes(), func(r httpapi.Route) bool {
		if method != "" && r.Method != method {
			return false
		}
		want, got := strings.Split(r.Path, "/"), strings.Split(path, "/")
		if !suffix && !strings.HasPrefix(path, "/v1/") && r.Path != path {
			got = strings.Split(tenantPath+path, "/")
		}
		if suffix && len(got) <= len(want) {
			want, got = want[len(want)-len(got)+1:], got[1:]
		}
		return slices.EqualFunc(want, got, func(want, got string) bool { return want == got || strings.HasPrefix(want, "{") && got != "" })
	})
}

// TestCommands checks that every command of the command line in a document exists, with its
// flags. docs/cli.md, which the code writes, has all of them.
func TestCommands(t *testing.T) {
	t.Parallel()

	sections := make(map[string]string) // by command
	for _, section := range regexp.MustCompile(`(?m)^##+ `).Split(read(t, "docs/cli.md"), -1) {
		title, text, _ := strings.Cut(section, "\n")
		sections[title] = text
	}
	invoked := regexp.MustCompile(`(?:^|[|;(] ?|\./|bin/)(surehook(?: [a-z][a-z-]*)+)(.*)`)
	flag := regexp.MustCompile(`\s(--[a-z][a-z-]*)`)
	end := regexp.MustCompile(` (?:\||\|\||&&|>|#)(?: |$)`)
	commands := 0
	for _, p := range pages(t) {
		for _, line := range slices.Concat(p.spans(), p.shell) {
			found := invoked.FindStringSubmatch(line)
			if found == nil {
				continue
			}
			commands++
			name, rest := found[1], end.Split(found[2], 2)[0]
			for strings.Contains(name, " ") && sections[name] == "" {
				name = name[:strings.LastIndex(name, " ")]
			}
			group := slices.ContainsFunc(slices.Collect(maps.Keys(sections)), func(title string) bool { return strings.HasPrefix(title, name+" ") })
			if name == "surehook" || group && name != found[1] {
				t.Errorf("%s names `%s`; want a command of docs/cli.md", p.path, found[1])
				continue
			}
			for _, given := range flag.FindAllStringSubmatch(rest, -1) {
				if known := " --help " + sections[name] + sections["Flags of all commands"]; !strings.Contains(known, " "+given[1]+" ") {
					t.Errorf("%s gives %s the flag %s; want one of docs/cli.md", p.path, name, given[1])
				}
			}
		}
	}
	if commands < 30 {
		t.Errorf("%d commands in all documents; want 30 or more", commands)
	}
}

// TestBodies checks that every curl with a body in a document names its content type, because the
// API refuses others.
func TestBodies(t *testing.T) {
	t.Parallel()

	body := regexp.MustCompile(`\bcurl .* -d '`)
	bodies := 0
	for _, p := range pages(t) {
		for _, line := range p.shell {
			if !body.MatchString(line) {
				continue
			}
			if bodies++; !strings.Contains(line, "-H 'Content-Type: application/json'") {
				t.Errorf("%s posts without a content type: %s", p.path, line)
			}
		}
	}
	if bodies < 5 {
		t.Errorf("%d bodies in all documents; want 5 or more", bodies)
	}
}
