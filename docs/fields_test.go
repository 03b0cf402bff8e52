package docs_test

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

var (
	// picked matches a request of the runbook whose answer jq reduces to some fields.
	picked = regexp.MustCompile(`\bapi (GET|POST|PUT|PATCH|DELETE) "?(/v1/[^" ?]*)[^|]*\| jq (?:-\w+ )?'(\.data\[\] \| |\.groups\[\] \| )?\{(.*)\}'`)
	// nested matches a field of jq with a filter of its own.
	nested = regexp.MustCompile(`(\w+): [^{}]*\{[^}]*\}\]?`)
)

// TestRunbook_fields checks that answers have the fields that the runbook's commands pick: jq
// prints null for any other.
func TestRunbook_fields(t *testing.T) {
	t.Parallel()

	doc, err := openapi3.NewLoader().LoadFromFile(root + "/api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, line := range document(t, "docs/runbook.md").shell {
		found := picked.FindStringSubmatch(line)
		if found == nil {
			continue
		}
		fields := answerFields(doc, found[1], found[2])
		if list, _, ok := strings.Cut(strings.TrimPrefix(found[3], "."), "["); ok {
			fields = itemFields(fields[list])
		}
		for name := range strings.SplitSeq(nested.ReplaceAllString(found[4], "$1"), ",") {
			checked++
			if name = strings.TrimSpace(name); fields[name] == nil {
				t.Errorf("docs/runbook.md picks %s of %s %s; want one of %v", name, found[1], found[2], slices.Sorted(maps.Keys(fields)))
			}
		}
	}
	if checked < 50 {
		t.Errorf("%d fields checked; want 50 or more", checked)
	}
}

// answerFields returns the fields of the operation's successful answers. The path has values or
// variables in place of parameters.
func answerFields(doc *openapi3.T, method, path string) openapi3.Schemas {
	for template, item := range doc.Paths.Map() {
		operation := item.GetOperation(method)
		if operation == nil || !slices.EqualFunc(strings.Split(template, "/"), strings.Split(path, "/"), func(want, got string) bool {
			return want == got || strings.HasPrefix(want, "{") && strings.HasPrefix(got, "$")
		}) {
			continue
		}
		all := make(openapi3.Schemas)
		for _, status := range []int{http.StatusOK, http.StatusCreated, http.StatusAccepted} {
			if answer := operation.Responses.Status(status); answer != nil {
				maps.Copy(all, fieldsOf(answer.Value.Content.Get("application/json").Schema))
			}
		}
		return all
	}
	return nil
}

// itemFields returns the fields of the items of a list.
func itemFields(list *openapi3.SchemaRef) openapi3.Schemas {
	if list == nil || list.Value.Items == nil {
		return nil
	}
	return fieldsOf(list.Value.Items)
}

// fieldsOf returns the fields of an object, also of those that it consists of.
func fieldsOf(s *openapi3.SchemaRef) openapi3.Schemas {
	all := maps.Clone(s.Value.Properties)
	if all == nil {
		all = make(openapi3.Schemas)
	}
	for _, part := range slices.Concat(s.Value.AllOf, s.Value.OneOf, s.Value.AnyOf) {
		maps.Copy(all, fieldsOf(part))
	}
	return all
}
