package httpapi_test

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/httpapi"
	"surehook.example/surehook/internal/rule/destination"
)

func document(t *testing.T) *openapi3.T {
	t.Helper()

	doc, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestDocument_valid checks that the document is OpenAPI 3.1, and that the examples
// match their schemas.
func TestDocument_valid(t *testing.T) {
	t.Parallel()

	if err := document(t).Validate(t.Context()); err != nil {
		t.Errorf("Validate = %v", err)
	}
}

// TestDocument_routes checks that the document and the handlers have the same
// operations and the same scopes.
func TestDocument_routes(t *testing.T) {
	t.Parallel()

	var documented, served []string
	for path, item := range document(t).Paths.Map() {
		for method, op := range item.Operations() {
			line := fmt.Sprintf("%s %s %v %v", method, path, op.Extensions["x-scope"], op.Extensions["x-all-tenants"] == true)
			if op.Security != nil && len(*op.Security) == 0 {
				line = fmt.Sprintf("%s %s without a key", method, path)
			}
			if op.Extensions["x-own-key"] == true {
				line = fmt.Sprintf("%s %s with any key", method, path)
			}
			documented = append(documented, line)
		}
	}
	for _, r := range httpapi.Routes() {
		line := fmt.Sprintf("%s %s %s %v", r.Method, r.Path, r.Scope, r.AllTenants)
		if r.Public {
			line = fmt.Sprintf("%s %s%s without a key", r.Method, r.Path, r.Scope)
		}
		if r.Own {
			line = fmt.Sprintf("%s %s%s with any key", r.Method, r.Path, r.Scope)
		}
		served = append(served, line)
	}
	slices.Sort(documented)
	slices.Sort(served)
	if diff := cmp.Diff(served, documented); diff != "" {
		t.Errorf("routes (-served +documented):\n%s", diff)
	}
}

// TestDocument_statuses checks that every operation lists its possible error responses, such as
// 403 if it needs a scope.
func TestDocument_statuses(t *testing.T) {
	t.Parallel()

	doc := document(t)
	for _, r := range httpapi.Routes() {
		op := doc.Paths.Find(r.Path).GetOperation(r.Method)
		want := map[string]string{"429": "Throttled", "500": "Internal", "503": "Unavailable"}
		if !r.Public {
			want["401"], want["403"] = "Unauthorized", "Forbidden"
		}
		creates := r.Method == http.MethodPut && op.Responses.Value("201") != nil // so the path always exists
		if strings.Contains(r.Path, "{") && !creates {
			want["404"] = "NotFound"
		}
		if op.RequestBody != nil {
			want["400"], want["413"], want["415"] = "Invalid", "TooLarge", "Unsupported"
		}
		if takesMore(op) || strings.Contains(r.Path, "{tenant}") { // an id of another form
			want["400"] = "Invalid"
		}
		closing := r.Change != "" && strings.Contains(r.Path, "{tenant}/") // the tenant may be in erasure
		if closing || op.Responses.Value("409") != nil {                   // only the use case knows other conflicts
			want["409"] = "Conflict"
		}
		if slices.ContainsFunc(op.Parameters, func(p *openapi3.ParameterRef) bool { return p.Value.Name == "If-Match" }) {
			want["412"] = "Stale"
		}
		if r.Method == http.MethodPost && strings.HasSuffix(r.Path, "/events") {
			want["422"] = "Mismatch"
		}
		if r.Change == "endpoint.create" || r.Change == "endpoint.change" {
			want["422"] = "NotVerified"
		}
		if strings.HasSuffix(r.Path, "{delivery}/replay") {
			want["409"] = "ReplayConflict"
		}
		got := make(map[string]string)
		for status, response := range op.Responses.Map() {
			if status >= "400" {
				got[status] = strings.TrimPrefix(response.Ref, "#/components/responses/")
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("errors of %s %s (-want +documented):\n%s", r.Method, r.Path, diff)
		}
	}
}

// takesMore reports whether the operation has a parameter outside the path that can be wrong.
// Ignored parameters and those read with the body do not count.
func takesMore(op *openapi3.Operation) bool {
	return slices.ContainsFunc(op.Parameters, func(p *openapi3.ParameterRef) bool {
		return p.Value.In == "query" || p.Value.Name == "If-Match"
	})
}

// TestDocument_examples checks that every body has an example, in its schema or next to it.
func TestDocument_examples(t *testing.T) {
	t.Parallel()

	doc := document(t)
	check := func(where string, content openapi3.Content) {
		for mediaType, m := range content {
			if m.Schema != nil && m.Example == nil && len(m.Examples) == 0 && example(m.Schema.Value) == nil {
				t.Errorf("%s as %s has no example", where, mediaType)
			}
		}
	}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if op.RequestBody != nil {
				check(method+" "+path, op.RequestBody.Value.Content)
			}
			for status, response := range op.Responses.Map() {
				check(method+" "+path+" "+status, response.Value.Content)
			}
		}
	}
}

// example returns the schema's example; for a list, the example of the items.
func example(s *openapi3.Schema) any {
	if data := s.Properties["data"]; s.Example == nil && data != nil && data.Value.Items != nil {
		return data.Value.Items.Value.Example
	}
	return s.Example
}

// TestDocument_bodies checks that the types of request bodies have exactly the
// fields of the schema, and that the schema allows no other fields.
func TestDocument_bodies(t *testing.T) {
	t.Parallel()

	f := fields{schemas: document(t).Components.Schemas, closed: true}
	for name, body := range httpapi.Bodies() {
		f.compare(t, name, f.schemas[name].Value, body)
	}
}

// TestDocument_views is TestDocument_bodies for responses: the schema must require all fields
// except the optional ones.
func TestDocument_views(t *testing.T) {
	t.Parallel()

	f := fields{schemas: document(t).Components.Schemas, required: true}
	for name, view := range httpapi.Views() {
		f.compare(t, name, f.schemas[name].Value, view)
	}
}

// TestDocument_destinations checks that the document has each type of destination, and the settings
// of all.
func TestDocument_destinations(t *testing.T) {
	t.Parallel()

	var names []any
	settings := []string{"type"}
	for _, to := range destination.Types() {
		names = append(names, to.Name.String())
		for _, s := range to.Settings {
			if !slices.Contains(settings, s.Name) {
				settings = append(settings, s.Name)
			}
		}
	}
	for schema, want := range map[string][]string{"Destination": settings, "DestinationView": append(slices.Clone(settings), "external_id")} {
		s := document(t).Components.Schemas[schema].Value
		if diff := cmp.Diff(names, s.Properties["type"].Value.Enum); diff != "" {
			t.Errorf("types of %s (-code +document):\n%s", schema, diff)
		}
		if diff := cmp.Diff(slices.Sorted(slices.Values(want)), slices.Sorted(maps.Keys(s.Properties))); diff != "" {
			t.Errorf("fields of %s (-code +document):\n%s", schema, diff)
		}
	}
}

// TestDocument_schemas checks that every schema of an object is compared with the code, by its
// name or as part of another schema.
func TestDocument_schemas(t *testing.T) {
	t.Parallel()

	schemas := document(t).Components.Schemas
	reached := map[string]bool{
		"GatewayMessage": true, // not ours
	}
	var walk func(s *openapi3.SchemaRef)
	walk = func(s *openapi3.SchemaRef) {
		if s == nil {
			return
		}
		reached[strings.TrimPrefix(s.Ref, "#/components/schemas/")] = true
		walk(s.Value.Items)
		for _, p := range s.Value.Properties {
			walk(p)
		}
	}
	for _, compared := range []map[string]reflect.Type{httpapi.Bodies(), httpapi.Views()} {
		for name := range compared {
			reached[name] = true
			walk(schemas[name])
		}
	}
	for name, s := range schemas {
		if len(s.Value.Properties) > 0 && !reached[name] {
			t.Errorf("schema %s is compared with nothing", name)
		}
	}
}

// fields compares structs with schemas.
type fields struct {
	schemas  openapi3.Schemas
	closed   bool // the schemas must not allow other fields
	required bool // exactly the fields that are always written must be required
}

// named reports whether one of the embedded structs on the way to a field has a name in JSON.
func named(typ reflect.Type, way []int) bool {
	for i := range way {
		if typ.FieldByIndex(way[:i+1]).Tag.Get("json") != "" {
			return true
		}
	}
	return false
}

func (f fields) compare(t *testing.T, path string, s *openapi3.Schema, typ reflect.Type) {
	t.Helper()

	coded := make(map[string]reflect.Type)
	var always []string
	for _, field := range reflect.VisibleFields(typ) {
		if named(typ, field.Index[:len(field.Index)-1]) {
			continue // part of an embedded struct that is a field of its own
		}
		tag, ok := field.Tag.Lookup("json")
		if !ok && !field.Anonymous && field.IsExported() {
			t.Errorf("field %s of %s would be answered without anybody saying so; want a name, or json:\"-\"", field.Name, path)
		}
		if !ok || tag == "-" {
			continue // embedded: the fields of the embedded struct are visible, too
		}
		name, options, _ := strings.Cut(tag, ",")
		if coded[name] = field.Type; options == "" {
			always = append(always, name)
		}
	}
	got := slices.Sorted(maps.Keys(s.Properties))
	if diff := cmp.Diff(slices.Sorted(maps.Keys(coded)), got); diff != "" {
		t.Errorf("fields of %s (-code +document):\n%s", path, diff)
	}
	if has := s.AdditionalProperties.Has; f.closed && (has == nil || *has) {
		t.Errorf("schema %s allows other fields than its own", path)
	}
	if slices.Sort(always); f.required && len(s.Required) > 0 {
		if diff := cmp.Diff(always, slices.Sorted(slices.Values(s.Required))); diff != "" {
			t.Errorf("required of %s (-code +document):\n%s", path, diff)
		}
	}
	for name, inner := range coded {
		for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice && inner.Elem().Kind() != reflect.Uint8 {
			inner = inner.Elem()
		}
		inner = httpapi.Form(inner)
		property := s.Properties[name]
		if property == nil || inner.Kind() != reflect.Struct {
			continue
		}
		value := property.Value
		if value.Items != nil {
			value = value.Items.Value
		}
		if len(value.Properties) > 0 {
			f.compare(t, path+"."+name, value, inner)
		}
	}
}

// TestDocument_served checks that the document is served unchanged.
func TestDocument_served(t *testing.T) {
	t.Parallel()

	w := setup(t).do(t, nobody, http.MethodGet, "/v1/openapi.yaml", "")
	doc, err := openapi3.NewLoader().LoadFromData(w.Body.Bytes())
	if err != nil || w.Code != http.StatusOK || !doc.IsOpenAPI31OrLater() || w.Header().Get("Content-Type") != "application/yaml" {
		t.Errorf("GET = %d, %v, %s; want the document", w.Code, err, w.Header().Get("Content-Type"))
	}
}

// TestDocument_actions checks that the document names the actions of all routes.
func TestDocument_actions(t *testing.T) {
	t.Parallel()

	var documented, served []string
	for _, action := range document(t).Components.Schemas["Audit"].Value.Properties["action"].Value.Enum {
		documented = append(documented, fmt.Sprint(action))
	}
	for _, r := range httpapi.Routes() {
		if r.Change != "" {
			served = append(served, r.Change)
		}
	}
	slices.Sort(served)
	if diff := cmp.Diff(served, documented); diff != "" {
		t.Errorf("actions (-served +documented):\n%s", diff)
	}
}
