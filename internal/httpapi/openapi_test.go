package httpapi_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"surehook/internal/hook"
	"surehook/internal/httpapi"
)

// The document is written so that a scan of its lines is enough: a path, its
// methods and their x-scope, a schema and its properties each begin a line of
// a known depth.
var (
	pathLine     = regexp.MustCompile(`^  (/\S+):$`)
	methodLine   = regexp.MustCompile(`^    (get|post|put|patch|delete):$`)
	scopeLine    = regexp.MustCompile(`^      x-scope: (\S+)$`)
	schemaLine   = regexp.MustCompile(`^    ([A-Za-z]+):$`)
	requiredLine = regexp.MustCompile(`^      required: \[(.*)\]$`)
	propertyLine = regexp.MustCompile(`^        ([a-z_]+): `)
)

func document(t *testing.T) []string {
	t.Helper()

	raw, err := os.ReadFile("../../api/openapi.yaml")
	if err != nil {
		t.Fatalf("ReadFile = %v", err)
	}
	return strings.Split(string(raw), "\n")
}

// TestDocument_routes checks that the document and the handlers have the same
// operations and the same scopes.
func TestDocument_routes(t *testing.T) {
	t.Parallel()

	var documented, served []string
	var path, method, scope string
	add := func() {
		if method != "" {
			documented = append(documented, method+" "+path+" "+scope)
		}
		method, scope = "", ""
	}
	for _, line := range document(t) {
		switch {
		case pathLine.MatchString(line), line == "components:":
			add()
			path = strings.Trim(line, " :")
		case methodLine.MatchString(line):
			add()
			method = strings.ToUpper(strings.Trim(line, " :"))
		case scopeLine.MatchString(line):
			scope = scopeLine.FindStringSubmatch(line)[1]
		case line == "      x-all-tenants: true":
			scope += " for all tenants"
		}
	}
	for _, r := range httpapi.Routes() {
		op := fmt.Sprintf("%s %s %s", r.Method, r.Path, r.Scope)
		if r.AllTenants {
			op += " for all tenants"
		}
		served = append(served, op)
	}
	slices.Sort(documented)
	slices.Sort(served)
	if diff := cmp.Diff(served, documented); diff != "" {
		t.Errorf("routes (-served +documented):\n%s", diff)
	}
}

type schema struct{ properties, required []string }

func schemas(t *testing.T) map[string]schema {
	t.Helper()

	found := make(map[string]schema)
	var name string
	inSchemas, inProperties := false, false
	for _, line := range document(t) {
		switch {
		case line == "  schemas:":
			inSchemas = true
		case !inSchemas:
		case schemaLine.MatchString(line):
			name, inProperties = schemaLine.FindStringSubmatch(line)[1], false
		case requiredLine.MatchString(line):
			s := found[name]
			s.required = strings.Split(requiredLine.FindStringSubmatch(line)[1], ", ")
			found[name] = s
		case strings.HasPrefix(line, "      ") && line[6] != ' ':
			inProperties = line == "      properties:"
		case inProperties && propertyLine.MatchString(line):
			s := found[name]
			s.properties = append(s.properties, propertyLine.FindStringSubmatch(line)[1])
			found[name] = s
		}
	}
	return found
}

// TestDocument_answers checks that answers hold the fields their schema
// requires, and none that it does not name.
func TestDocument_answers(t *testing.T) {
	t.Parallel()

	p := story(t)
	event := eventsURL + "/" + string(p.event.ID)
	const full = `{"url":"https://example.com/","signature_schemes":["v1","v1a"],"max_in_flight":2,
		"retry":{"exponential":{"base":"1s","factor":2,"cap":"1m","attempts":5}}}`
	of := func(caller hook.Principal, status int, method, target, body string) object {
		t.Helper()
		return get[object](t, p.bundle, caller, status, method, target, body)
	}
	first := func(o object) object {
		t.Helper()
		data, ok := o["data"].([]any)
		if !ok || len(data) == 0 {
			t.Fatalf("%v has no data", o)
		}
		return asObject(t, data[0])
	}
	created := of(owner, 201, "POST", endpoints, full)
	standing := of(reader, 200, "GET", endpoints+"/"+idOf(t, created), "")
	tripped := of(owner, 200, "POST", endpoints+"/"+idOf(t, created)+"/circuit/open", "")
	delivery := of(reader, 200, "GET", "/v1/tenants/acme/deliveries/"+p.retrying.ID.String(), "")
	answers := []struct {
		schema string
		answer object
	}{
		{"EndpointWithSecret", created},
		{"Retry", asObject(t, created["retry"])},
		{"Exponential", asObject(t, asObject(t, created["retry"])["exponential"])},
		{"Circuit", asObject(t, created["circuit"])},
		{"Endpoint", of(owner, 200, "PATCH", endpoints+"/"+idOf(t, created), `{}`)},
		{"EndpointStanding", standing},
		{"CircuitState", asObject(t, standing["circuit_state"])},
		{"EndpointStanding", tripped},
		{"CircuitState", asObject(t, tripped["circuit_state"])},
		{"EndpointList", of(reader, 200, "GET", endpoints, "")},
		{"Accepted", of(owner, 202, "POST", eventsURL, `{"type":"a","payload":1}`)},
		{"BatchResult", of(owner, 207, "POST", eventsURL+"/batch", `{"events":[{}]}`)},
		{"Refused", first(of(owner, 207, "POST", eventsURL+"/batch", `{"events":[{}]}`))},
		{"Problem", of(owner, 400, "POST", eventsURL, `{}`)},
		{"Event", of(reader, 200, "GET", event, "")},
		{"DeliveryList", of(reader, 200, "GET", event+"/deliveries", "")},
		{"Delivery", first(of(reader, 200, "GET", event+"/deliveries", ""))},
		{"DeliveryStory", delivery},
		{"Outcome", asObject(t, delivery["last"])},
		{"AttemptList", of(reader, 200, "GET", event+"/attempts", "")},
		{"Attempt", first(of(reader, 200, "GET", event+"/attempts", ""))},
		{"KeyWithText", of(admin, 201, "POST", "/v1/keys", `{"name":"a","tenant":"acme","scopes":["read"]}`)},
		{"KeyList", of(admin, 200, "GET", "/v1/keys", "")},
		{"Key", first(of(admin, 200, "GET", "/v1/keys", ""))},
	}
	documented := schemas(t)
	for _, a := range answers {
		s := documented[a.schema]
		if len(s.properties) == 0 {
			t.Errorf("schema %s has no properties", a.schema)
		}
		names := slices.Sorted(maps.Keys(a.answer))
		for _, name := range names {
			if !slices.Contains(s.properties, name) {
				t.Errorf("an answer of schema %s has %q, which is not documented", a.schema, name)
			}
		}
		for _, name := range s.required {
			if !slices.Contains(names, name) {
				t.Errorf("an answer of schema %s lacks %q, which is required", a.schema, name)
			}
		}
	}
}

// TestDocument_circuit checks the settings of a circuit in requests as
// TestDocument_bodies checks whole bodies.
func TestDocument_circuit(t *testing.T) {
	t.Parallel()

	b := setup(t)
	for _, property := range append(schemas(t)["Circuit"].properties, "no_such_field") {
		w := b.do(t, admin, "POST", endpoints, fmt.Sprintf(`{"circuit":{%q:[]}}`, property))
		unknown := strings.Contains(w.Body.String(), fmt.Sprintf(`{"field":"circuit.%s","message":"is not a known field"}`, property))
		if unknown != (property == "no_such_field") {
			t.Errorf("circuit with %q = %d %s; known: %t", property, w.Code, w.Body, !unknown)
		}
	}
}

// TestDocument_bodies checks that request bodies take the fields of their
// schema: a field that is not known is told apart from one with a bad value.
func TestDocument_bodies(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.create(t, `{"url":"https://example.com/","uid":"crm"}`)
	documented := schemas(t)
	for name, target := range map[string]string{
		"EventRequest":   "POST " + eventsURL,
		"BatchRequest":   "POST " + eventsURL + "/batch",
		"EndpointCreate": "POST " + endpoints,
		"EndpointFields": "PATCH " + endpoints + "/crm",
		"RotateRequest":  "POST " + endpoints + "/crm/rotate-secret",
		"TestRequest":    "POST " + endpoints + "/crm/test",
		"KeyCreate":      "POST /v1/keys",
	} {
		method, path, _ := strings.Cut(target, " ")
		if len(documented[name].properties) == 0 {
			t.Errorf("schema %s has no properties", name)
		}
		for _, property := range append(documented[name].properties, "no_such_field") {
			w := b.do(t, admin, method, path, fmt.Sprintf(`{%q:1}`, property))
			unknown := strings.Contains(w.Body.String(), fmt.Sprintf(`{"field":%q,"message":"is not a known field"}`, property))
			if unknown != (property == "no_such_field") {
				t.Errorf("%s with %q = %d %s; known: %t", target, property, w.Code, w.Body, !unknown)
			}
		}
	}
}

func asObject(t *testing.T, v any) object {
	t.Helper()

	o, ok := v.(object)
	if !ok {
		raw, err := json.Marshal(v)
		t.Fatalf("%s, %v; want an object", raw, err)
	}
	return o
}
