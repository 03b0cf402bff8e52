package docs_test

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/httpapi"
)

// TestSecurity_scopes holds the table of scopes to the routes: every scope has
// a row, with exactly its own routes.
func TestSecurity_scopes(t *testing.T) {
	t.Parallel()

	want := make(map[string][]string)
	for _, scope := range hook.Scopes() {
		want[string(scope)] = nil
	}
	for _, r := range httpapi.Routes() {
		if !r.Public {
			path := strings.TrimPrefix(r.Path, tenantPath)
			if path == "" { // the tenant itself
				path = r.Path
			}
			scope := string(r.Scope)
			if r.Own {
				scope = "any"
			}
			want[scope] = append(want[scope], r.Method+" "+path)
		}
	}
	got := make(map[string][]string)
	for _, row := range document(t, "docs/security.md").table(t, "Scope", "Gets", "Does not get", "Routes") {
		got[strings.Trim(row[0], "`")] = listed(row[3])
	}
	compare(t, "routes by scope", want, got)
}

// TestSecurity_public holds the routes without a key to the routes table.
func TestSecurity_public(t *testing.T) {
	t.Parallel()

	rows := document(t, "docs/security.md").table(t, "Who", "May", "Decided by")
	for _, r := range httpapi.Routes() {
		if r.Public && !strings.Contains(r.Path, "{") && !strings.Contains(rows[0][1], "`"+r.Method+" "+r.Path+"`") {
			t.Errorf("the first row of the table of access says %q; want %s %s in it", rows[0][1], r.Method, r.Path)
		}
	}
}

// TestSecurity_queues holds the table of queues to the grants of the prod stack.
func TestSecurity_queues(t *testing.T) {
	t.Parallel()

	var grants map[string]map[string][]string // role, resource, actions
	if err := json.Unmarshal([]byte(read(t, "internal/smoke/grants.json")), &grants); err != nil {
		t.Fatal(err)
	}
	sends, receives := make(map[string][]string), make(map[string][]string)
	for _, queue := range queues(t) {
		sends[queue], receives[queue] = nil, nil
	}
	for role, resources := range grants {
		for resource, actions := range resources {
			queue := kebab(strings.TrimSuffix(strings.TrimPrefix(resource, "${"), ".Arn}"))
			if _, ok := sends[queue]; !ok {
				continue
			}
			if slices.Contains(actions, "sqs:SendMessage") {
				sends[queue] = append(sends[queue], principal(role))
			}
			if received := slices.Contains(actions, "sqs:ReceiveMessage"); received != slices.Contains(actions, "sqs:DeleteMessage") {
				t.Errorf("%s has one of sqs:ReceiveMessage and sqs:DeleteMessage on %s; the table of docs/security.md has one column for both", role, queue)
			} else if received {
				receives[queue] = append(receives[queue], principal(role))
			}
		}
	}
	gotSends, gotReceives := make(map[string][]string), make(map[string][]string)
	for _, row := range document(t, "docs/security.md").table(t, "Queue", "Sends", "Receives and deletes") {
		queue := strings.Trim(row[0], "`")
		gotSends[queue], gotReceives[queue] = listed(row[1]), listed(row[2])
	}
	compare(t, "senders by queue", sends, gotSends)
	compare(t, "receivers by queue", receives, gotReceives)
}

// TestSecurity_functions checks that the analysis of the account has a row for the code of
// each function.
func TestSecurity_functions(t *testing.T) {
	t.Parallel()

	named := map[string]int{}
	for _, row := range document(t, "docs/security.md").table(t, "Has", "Gets", "Does not get") {
		if code, ok := strings.CutPrefix(row[0], "running code in "); ok {
			for _, name := range codeSpan.FindAllStringSubmatch(code, -1) {
				named[name[1]]++
			}
		}
	}
	want := map[string]int{"sender-fixed": 1, "sender-private": 1} // further copies of the sender
	for _, file := range files(t) {
		if dir, name := path.Split(file); name == "main.go" && strings.HasPrefix(dir, "functions/") {
			want[path.Base(dir)] = 1
		}
	}
	if diff := cmp.Diff(want, named); diff != "" || len(want) < 9 {
		t.Errorf("rows of functions (-functions +docs/security.md):\n%s", diff)
	}
}

// codeSpan matches a name in backquotes.
var codeSpan = regexp.MustCompile("`([a-z-]+)`")

// queues returns the names of the stack's queues in the documents: those of the constructs.
func queues(t *testing.T) []string {
	t.Helper()

	var names []string
	for id, r := range resources(t) {
		if r.Type == "AWS::SQS::Queue" {
			names = append(names, kebab(id[:len(id)-len("0123ABCD")])) // a hash of CDK
		}
	}
	return names
}

// resource is a resource of the prod template.
type resource struct {
	Type       string         `json:"Type"`
	Properties map[string]any `json:"Properties"`
}

// resources returns the resources of the prod template.
func resources(t *testing.T) map[string]resource {
	t.Helper()

	var template struct {
		Resources map[string]resource `json:"Resources"`
	}
	if err := json.Unmarshal([]byte(read(t, "infra/surehook/testdata/prod.template.json")), &template); err != nil {
		t.Fatal(err)
	}
	return template.Resources
}

// principal returns the name of a role's function, or of its service.
func principal(role string) string {
	switch name := strings.TrimSuffix(role, "Role"); name {
	case "Schedule":
		return "the Scheduler"
	case "Replayer":
		return "replay"
	default:
		return strings.ToLower(name)
	}
}

// kebab returns the name of a queue with the logical id.
func kebab(id string) string {
	var b strings.Builder
	for i, r := range id {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// listed returns the names in a cell. The word "nobody" is an empty list.
func listed(cell string) []string {
	if cell == "nobody" {
		return nil
	}
	var names []string
	for name := range strings.SplitSeq(cell, ", ") {
		names = append(names, strings.Trim(name, "`"))
	}
	return names
}

// compare compares maps of names, without regard to order.
func compare(t *testing.T, what string, want, got map[string][]string) {
	t.Helper()

	for _, lists := range []map[string][]string{want, got} {
		for _, names := range lists {
			slices.Sort(names)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-code +document):\n%s", what, diff)
	}
}

// TestSecurity_promises checks that every row of docs/security.md with a promise, or
// with a defence against an attack, names a test.
func TestSecurity_promises(t *testing.T) {
	t.Parallel()

	named := regexp.MustCompile("`(?:(?:Test|Fuzz)[A-Z]\\w*|[\\w/]+_test\\.go)`")
	rows := 0
	tests := -1 // the column of the tests in the table, or -1
	for line := range strings.Lines(document(t, "docs/security.md").prose) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		first := strings.TrimPrefix(cells[0], "| ")
		switch {
		case !strings.HasPrefix(line, "|"):
			tests = -1
		case first == "Promise" || first == "Attack":
			if tests = slices.Index(cells, "Test |"); tests < 0 {
				t.Errorf("docs/security.md: the table with %q has no last column Test", strings.TrimSpace(line))
			}
		case tests >= 0 && !strings.HasPrefix(line, "|-"):
			rows++
			if len(cells) != tests+1 || !named.MatchString(cells[tests]) {
				t.Errorf("docs/security.md: %q names no test in column %d", strings.TrimSpace(line), tests+1)
			}
		}
	}
	if rows < 40 {
		t.Errorf("docs/security.md has %d promises and defences; want 40 or more", rows)
	}
}
