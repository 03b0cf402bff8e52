package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// resource is a group of methods, such as events.
type resource struct {
	Name    string
	Methods []method
}

// method is one operation of the contract.
type method struct {
	Name      string
	Operation string // in Pascal case, as in the Go client
	Summary   string
	HTTP      string // in capitals
	Path      string
	Names     []parameter // in the path
	Params    []parameter // in the query and in headers
	Body      string      // its schema; empty for none
	Optional  bool        // the body
	Result    string      // its schema; empty for none
	Statuses  []string    // with the result
	Item      string      // of a list with pages: the schema of an item
	DryRun    string      // "true" or "false": what the method puts into the body
}

// parameter is a parameter of an operation.
type parameter struct {
	Name     string // as in the contract
	Arg      string // of the method, in camel case
	In       string
	Python   string // type
	Required bool
}

// Needs reports whether one of the parameters must be given.
func (m method) Needs() bool {
	return slices.ContainsFunc(m.Params, func(p parameter) bool { return p.Required })
}

// resourcesOf returns the resources in the order of the contract's names.
func resourcesOf(doc *openapi3.T) ([]resource, error) {
	all := make(map[string][]method)
	for at, item := range doc.Paths.Map() {
		for verb, op := range item.Operations() {
			name, ok := op.Extensions["x-method"].(string)
			if !ok {
				continue
			}
			group, m, err := methodOf(at, verb, name, item, op)
			if err != nil {
				return nil, fmt.Errorf("operation %s: %w", op.OperationID, err)
			}
			all[group] = append(all[group], m)
			// A dry run has a method of its own, because it has another result.
			if name, ok := op.Extensions["x-dry-run"].(string); ok {
				dry := m
				_, dry.Name, _ = strings.Cut(name, ".")
				dry.Summary, dry.DryRun = m.Summary+", as a dry run", "true"
				dry.Result, dry.Statuses = schemaOf(op, "200"), []string{"200"}
				own := &all[group][len(all[group])-1]
				own.DryRun, own.Result, own.Statuses = "false", schemaOf(op, "202"), []string{"202"}
				all[group] = append(all[group], dry)
			}
		}
	}
	var resources []resource
	for _, name := range slices.Sorted(maps.Keys(all)) {
		methods := slices.SortedFunc(slices.Values(all[name]), func(a, b method) int { return strings.Compare(a.Name, b.Name) })
		resources = append(resources, resource{Name: name, Methods: methods})
	}
	return resources, nil
}

func methodOf(at, verb, name string, item *openapi3.PathItem, op *openapi3.Operation) (group string, m method, err error) {
	group, own, ok := strings.Cut(name, ".")
	if !ok {
		return "", m, fmt.Errorf("x-method is %s; want a resource and a name", name)
	}
	m = method{Name: own, Operation: pascal(op.OperationID), Summary: op.Summary, HTTP: verb, Path: at}
	for _, p := range slices.Concat(item.Parameters, op.Parameters) {
		v := p.Value
		one := parameter{Name: v.Name, Arg: argument(v.Name), In: v.In, Python: python(v.Schema.Value), Required: v.Required}
		if v.In == "path" {
			m.Names = append(m.Names, one)
		} else {
			m.Params = append(m.Params, one)
		}
	}
	// The parameters that must be given come first.
	slices.SortStableFunc(m.Params, func(a, b parameter) int { return cmp.Compare(order(a), order(b)) })
	slices.SortFunc(m.Names, func(a, b parameter) int {
		return cmp.Compare(strings.Index(at, "{"+a.Name+"}"), strings.Index(at, "{"+b.Name+"}"))
	})
	if op.RequestBody != nil {
		m.Body = ref(op.RequestBody.Value.Content.Get("application/json").Schema)
		m.Optional = !op.RequestBody.Value.Required
	}
	for _, status := range slices.Sorted(maps.Keys(op.Responses.Map())) {
		if schema := schemaOf(op, status); strings.HasPrefix(status, "2") && schema != "" {
			m.Result, m.Statuses = cmp.Or(m.Result, schema), append(m.Statuses, status)
			properties := op.Responses.Value(status).Value.Content.Get("application/json").Schema.Value.Properties
			if properties["next_cursor"] != nil && slices.ContainsFunc(m.Params, func(p parameter) bool { return p.Name == "cursor" }) {
				m.Item = ref(properties["data"].Value.Items)
			}
		}
	}
	return group, m, nil
}

func order(p parameter) int {
	if p.Required {
		return 0
	}
	return 1
}

// schemaOf returns the name of the schema of an answer; empty for none.
func schemaOf(op *openapi3.Operation, status string) string {
	media := op.Responses.Value(status).Value.Content.Get("application/json")
	if media == nil {
		return ""
	}
	return ref(media.Schema)
}

func ref(s *openapi3.SchemaRef) string { return strings.TrimPrefix(s.Ref, "#/components/schemas/") }

// argument returns the name of an argument, in camel case. The name type has a meaning in Go.
func argument(name string) string {
	if name == "type" {
		return "eventType"
	}
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' })
	for i := range words {
		if words[i] = strings.ToLower(words[i]); i > 0 {
			words[i] = pascal(words[i])
		}
	}
	return strings.Join(words, "")
}

// python returns the type of a parameter.
func python(s *openapi3.Schema) string {
	switch {
	case len(s.Enum) > 0:
		var values []string
		for _, v := range s.Enum {
			values = append(values, fmt.Sprintf("%q", v))
		}
		return "Literal[" + strings.Join(values, ", ") + "]"
	case s.Type.Includes("integer"):
		return "int"
	case s.Type.Includes("boolean"):
		return "bool"
	default:
		return "str"
	}
}

// Lower returns the id of the operation as the contract has it.
func (m method) Lower() string { return strings.ToLower(m.Operation[:1]) + m.Operation[1:] }
