package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// TestOperations_Contract compares the commands with the contract: their routes, query parameters
// and body fields. It also checks that every operation of the contract has a command, or a reason
// for having none.
func TestOperations_Contract(t *testing.T) {
	t.Parallel()

	doc, err := openapi3.NewLoader().LoadFromFile("../../api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p := &program{}
	commanded := []string{ // by commands that are not made from an operation
		"postEvent", "postEvents", "startReplay", "analyseDeadLetters", "listDeadLetters", "getHealth", "getStats", "getEndpointStats", "getPipelineStats", "search", "searchTenant",
	}
	var operations []operation
	for _, g := range p.groups() {
		operations = append(operations, g.operations...)
	}
	for _, o := range operations {
		for _, path := range []string{o.path, o.wide} {
			if path == "" {
				continue
			}
			item := doc.Paths.Find(path)
			if item == nil || item.GetOperation(o.method) == nil {
				t.Errorf("%s calls %s %s, which is not in the contract", o.use, o.method, path)
				continue
			}
			operation := item.GetOperation(o.method)
			commanded = append(commanded, operation.OperationID)
			for _, q := range o.query {
				if operation.Parameters.GetByInAndName("query", q.name) == nil {
					t.Errorf("%s has the parameter %s, which %s has not", o.use, q.name, operation.OperationID)
				}
			}
			if o.match && operation.Parameters.GetByInAndName("header", "If-Match") == nil {
				t.Errorf("%s has --if-version, but %s has no If-Match", o.use, operation.OperationID)
			}
			for _, b := range o.body {
				schema := operation.RequestBody.Value.Content.Get("application/json").Schema.Value
				outer, inner, nested := strings.Cut(b.name, ".")
				if property := schema.Properties[outer]; nested && property != nil && property.Value.Properties[inner] != nil {
					continue
				}
				if schema.Properties[b.name] == nil {
					t.Errorf("%s has the field %s, which %s has not", o.use, b.name, operation.OperationID)
				}
			}
			if len(o.body) > 0 {
				for _, name := range unset(operation.RequestBody.Value.Content.Get("application/json").Schema.Value, o.body) {
					t.Errorf("%s has no flag for %s of %s", o.use, name, operation.OperationID)
				}
			}
		}
	}
	none := map[string]string{
		"getDocument": "a document", "getDocs": "a page", "getDocsFile": "a page",
		"openPortalSession": "for the portal", "endPortalSession": "for the portal",
	}
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			if _, allowed := none[operation.OperationID]; !allowed && !slices.Contains(commanded, operation.OperationID) {
				t.Errorf("%s %s (%s) has no command", strings.ToLower(method), path, operation.OperationID)
			}
		}
	}
	if len(commanded) < 40 || http.MethodGet != get {
		t.Errorf("%d operations have a command; want 40 or more", len(commanded))
	}
}

// TestComplete_contract checks that the shell offers each word that the contract lists for a flag.
func TestComplete_contract(t *testing.T) {
	t.Parallel()

	doc, err := openapi3.NewLoader().LoadFromFile("../../api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	offered := fixedWords()
	check := func(o operation, flag string, schema *openapi3.SchemaRef) {
		if schema == nil {
			return
		}
		words := schema.Value.Enum
		if items := schema.Value.Items; items != nil {
			words = items.Value.Enum
		}
		for _, word := range words {
			if !slices.Contains(offered[flag], fmt.Sprint(word)) {
				t.Errorf("%s: the shell does not offer %v for --%s", o.use, word, flag)
			}
		}
	}
	for _, g := range (&program{}).groups() {
		for _, o := range g.operations {
			operation := doc.Paths.Find(o.path).GetOperation(o.method)
			for _, q := range o.query {
				check(o, q.flag(), operation.Parameters.GetByInAndName("query", q.name).Schema)
			}
			for _, b := range o.body {
				outer, inner, nested := strings.Cut(b.name, ".")
				property := operation.RequestBody.Value.Content.Get("application/json").Schema.Value.Properties[outer]
				if nested {
					property = property.Value.Properties[inner]
				}
				check(o, b.flag(), property)
			}
		}
	}
}

// unset returns the fields of a body that no flag sets: neither the field as a whole, nor each
// field inside it.
func unset(body *openapi3.Schema, flags []option) []string {
	set := func(name string) bool {
		return slices.ContainsFunc(flags, func(o option) bool { return o.name == name })
	}
	var names []string
	for name, property := range body.Properties {
		switch inner := property.Value.Properties; {
		case set(name):
		case len(inner) == 0:
			names = append(names, name)
		default:
			for part := range inner {
				if !set(name + "." + part) {
					names = append(names, name+"."+part)
				}
			}
		}
	}
	return names
}

// TestFind_commands runs the command that find prints for each kind of the contract with --help.
func TestFind_commands(t *testing.T) {
	t.Parallel()

	doc, err := openapi3.NewLoader().LoadFromFile("../../api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	kinds := doc.Components.Schemas["Found"].Value.Properties["kind"].Value.Enum
	if len(kinds) < 5 {
		t.Fatalf("the contract has the kinds %v; want 5 or more", kinds)
	}
	for _, kind := range kinds {
		words := strings.Fields(showing(fmt.Sprint(kind)))
		c, rest, err := (&program{}).root().Find(append(words, "ID"))
		if err != nil || len(rest) != 1 || c.HasSubCommands() {
			t.Errorf("find says surehook %s for a %s, which is not a command", strings.Join(words, " "), kind)
		}
	}
}
