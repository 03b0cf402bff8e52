package httpapi_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
)

// classes returns the names of the classes of attempts.
func classes() []string {
	var all []string
	for c := hook.ClassDelivered; c.String() != "unknown"; c++ {
		all = append(all, c.String())
	}
	return all
}

// TestDocument_classes checks that every list of classes in the document is
// complete: the enumerations named class, and the text of attempts_by_outcome.
func TestDocument_classes(t *testing.T) {
	t.Parallel()

	want := classes()
	lists := 0
	var walk func(path string, s *openapi3.Schema)
	walk = func(path string, s *openapi3.Schema) {
		for name, p := range s.Properties {
			switch {
			case name == "class" && p.Value.Enum != nil:
				lists++
				var got []string
				for _, value := range p.Value.Enum {
					got = append(got, fmt.Sprint(value))
				}
				got = slices.DeleteFunc(got, func(class string) bool { return class == "none" }) // only in filters: without an attempt
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s.class (-code +document):\n%s", path, diff)
				}
			case name == "attempts_by_outcome":
				lists++
				if all := strings.Join(want, ", "); !strings.Contains(p.Value.Description, all) {
					t.Errorf("the description of %s.%s is %q; want the classes %s in it", path, name, p.Value.Description, all)
				}
			default:
				walk(path+"."+name, p.Value)
			}
		}
		if s.Items != nil {
			walk(path, s.Items.Value)
		}
	}
	for name, s := range document(t).Components.Schemas {
		walk(name, s.Value)
	}
	if lists < 2 {
		t.Errorf("the document has %d lists of classes; want both kinds", lists)
	}
}

// TestClasses_documented checks that the table of outcomes in docs/circuit.md has
// a row for every class.
func TestClasses_documented(t *testing.T) {
	t.Parallel()

	page, err := os.ReadFile("../../docs/circuit.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := slices.DeleteFunc(strings.Split(string(page), "\n"), func(line string) bool { return !strings.HasPrefix(line, "|") })
	for _, class := range classes() {
		if !slices.ContainsFunc(rows, func(row string) bool { return strings.Contains(row, "`"+class+"`") }) {
			t.Errorf("docs/circuit.md has no row for the class %s", class)
		}
	}
}
