package httpapi_test

import (
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// TestDocument_defaults checks that no schema of a request body has a default, because generated
// clients would send it: a change of one field would reset all others.
func TestDocument_defaults(t *testing.T) {
	t.Parallel()

	for name, s := range document(t).Components.Schemas {
		walkSchema(name, s.Value, func(path string, s *openapi3.Schema) {
			if s.Default != nil {
				t.Errorf("%s has the default %v", path, s.Default)
			}
		})
	}
}

// TestDocument_anyValue checks that a payload has no type, because generators do not accept a
// list of all types.
func TestDocument_anyValue(t *testing.T) {
	t.Parallel()

	found := 0
	for name, s := range document(t).Components.Schemas {
		walkSchema(name, s.Value, func(path string, s *openapi3.Schema) {
			if !strings.HasSuffix(path, ".payload") {
				return
			}
			if found++; s.Type != nil {
				t.Errorf("%s has the type %v", path, s.Type.Slice())
			}
		})
	}
	if found < 3 {
		t.Errorf("the document has %d payloads; want those of a post, a batch and a read", found)
	}
}

// TestDocument_names checks that no two components, of any kind, have the same name, because
// generators make a type with that name for each.
func TestDocument_names(t *testing.T) {
	t.Parallel()

	c := document(t).Components
	kinds := make(map[string]string)
	check := func(kind, name string) {
		key := strings.ToLower(strings.ReplaceAll(name, "-", ""))
		if other, ok := kinds[key]; ok {
			t.Errorf("%s is the name of a %s and of a %s", name, other, kind)
		}
		kinds[key] = kind
	}
	for name := range c.Schemas {
		check("schema", name)
	}
	for name := range c.Parameters {
		check("parameter", name)
	}
	for name := range c.Responses {
		check("response", name)
	}
	for name := range c.Headers {
		check("header", name)
	}
	for name := range c.SecuritySchemes {
		check("security scheme", name)
	}
}

// walkSchema calls visit for the schema and all schemas inside it, with their paths.
func walkSchema(path string, s *openapi3.Schema, visit func(path string, s *openapi3.Schema)) {
	visit(path, s)
	if s.Items != nil {
		walkSchema(path+"[]", s.Items.Value, visit)
	}
	for name, p := range s.Properties {
		walkSchema(path+"."+name, p.Value, visit)
	}
	if s.AdditionalProperties.Schema != nil {
		walkSchema(path+"[name]", s.AdditionalProperties.Schema.Value, visit)
	}
}
