package schema_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/schema"
)

const order = `{
	"$schema": "https://json-schema.org/draft/2020-12/schema",
	"type": "object",
	"required": ["id", "total"],
	"properties": {
		"id": {"type": "string", "pattern": "^ord_"},
		"total": {"$ref": "#/$defs/amount"},
		"lines": {"type": "array", "items": {"$ref": "#/$defs/amount"}},
		"email": {"type": "string", "format": "email"}
	},
	"additionalProperties": false,
	"$defs": {"amount": {"type": "integer", "minimum": 0}}
}`

func compile(tb testing.TB, raw string) *schema.Schema {
	tb.Helper()

	s, errs := schema.Compile([]byte(raw), "schema")
	if len(errs) > 0 {
		tb.Fatalf("Compile(%s) = %v", raw, errs)
	}
	return s
}

func TestCheck(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, schema, payload string
		want                  []hook.FieldError
	}{
		{name: "a valid payload", schema: order, payload: `{"id":"ord_1","total":5,"lines":[1,2]}`, want: nil},
		{name: "formats check nothing", schema: order, payload: `{"id":"ord_1","total":5,"email":"nobody"}`, want: nil},
		{name: "all errors are returned, each with its place", schema: order, payload: `{"id":"x","lines":[1,-2,"a/b"],"a/b~":1}`, want: []hook.FieldError{
			{Field: "payload", Message: "additional properties 'a/b~' not allowed"},
			{Field: "payload", Message: "missing property 'total'"},
			{Field: "payload/id", Message: `'x' does not match pattern '^ord_'`},
			{Field: "payload/lines/1", Message: "minimum: got -2, want 0"},
			{Field: "payload/lines/2", Message: "got string, want integer"},
		}},
		{name: "a place is a JSON pointer", schema: `{"properties":{"a/b~":false}}`, payload: `{"a/b~":1}`, want: []hook.FieldError{{Field: "payload/a~1b~0", Message: "is not allowed"}}},
		{name: "not an object", schema: order, payload: `[]`, want: []hook.FieldError{{Field: "payload", Message: "got array, want object"}}},
		{name: "not JSON", schema: order, payload: `order 7`, want: []hook.FieldError{{Field: "payload", Message: "must be valid JSON"}}},
		{name: "two values", schema: `true`, payload: `1 2`, want: []hook.FieldError{{Field: "payload", Message: "must be one JSON value"}}},
		{name: "true allows everything", schema: `true`, payload: `[null]`, want: nil},
		{name: "false allows nothing", schema: `false`, payload: `1`, want: []hook.FieldError{{Field: "payload", Message: "is not allowed"}}},
		{name: "no alternative of anyOf fits", schema: `{"anyOf":[{"type":"string"},{"type":"null"}]}`, payload: `1`, want: []hook.FieldError{{Field: "payload", Message: "must fit one of the subschemas of anyOf"}}},
		{name: "numbers are exact", schema: `{"multipleOf":0.01}`, payload: `12345678901234567890.12`, want: nil},
		{name: "a number with a huge exponent", schema: `{"multipleOf":0.01}`, payload: `[1e1000000]`, want: []hook.FieldError{{Field: "payload/0", Message: "must be a number of at most 100 characters with an exponent from -400 to 400"}}},
		{name: "dynamic references are followed", schema: `{"$dynamicAnchor":"n","properties":{"next":{"$dynamicRef":"#n"}},"required":["v"]}`, payload: `{"v":1,"next":{"v":2,"next":{}}}`, want: []hook.FieldError{{Field: "payload/next/next", Message: "missing property 'v'"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got, _ := compile(t, tt.schema).Check([]byte(tt.payload), "payload")
			for i := range got { // the library has a no-break space in its messages
				got[i].Message = strings.ReplaceAll(got[i].Message, "\u00a0", " ")
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Check() (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCompile_refuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, schema, field, message string }{
		{"invalid JSON", `{`, "schema", "must be valid JSON"},
		{"an array", `[]`, "schema", "must be an object, true or false"},
		{"null", `null`, "schema", "must be an object, true or false"},
		{"a wrong value of a keyword", `{"properties":{"a":{"type":"text"}}}`, "schema/properties/a/type", "value must be one of"},
		{"an invalid pattern", `{"properties":{"a":{"pattern":"("}}}`, "schema/properties/a/pattern", "is not valid regex"},
		{"a look-ahead", `{"pattern":"(?=a)"}`, "schema/pattern", "is not valid regex"},
		{"another draft", `{"$schema":"http://json-schema.org/draft-07/schema#"}`, "schema/$schema", "must be https://json-schema.org/draft/2020-12/schema"},
		{"a reference to another host", `{"$ref":"https://example.com/a.json"}`, "schema", "a reference must lead to a place in the schema itself"},
		{"a reference to a file", `{"$ref":"file:///etc/passwd"}`, "schema", "a reference must lead to a place in the schema itself"},
		{"a reference to a relative document", `{"$ref":"other.json"}`, "schema", "a reference must lead to a place in the schema itself"},
		{"a reference to the schema of schemas", `{"$ref":"https://json-schema.org/draft/2020-12/schema"}`, "schema", "a reference must lead to a place in the schema itself"},
		{"a reference to itself", `{"$ref":"#"}`, "schema", "leads back to itself"},
		{"references in a circle", `{"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"},true]},"b":{"not":{"$ref":"#/$defs/a"}}},"items":{"$ref":"#/$defs/a"}}`, "schema", "leads back to itself"},
		{"a reference to nothing", `{"$ref":"#/$defs/a"}`, "schema", "cannot be compiled"},
		{"a second resource", `{"$defs":{"a":{"$id":"urn:a"}}}`, "schema/$defs/a/$id", "must be at the root of the schema only"},
		{"too many levels", strings.Repeat(`{"not":`, 70) + `true` + strings.Repeat(`}`, 70), "schema" + strings.Repeat("/not", 65)[:150] + "…", "is nested in more than 64 levels"},
		{"too many values", `{"enum":[0` + strings.Repeat(`,1`, schema.MaxValues) + `]}`, "schema/enum/4094", "must have at most 4096 values"},
		{"a large pattern", `{"properties":{"a":{"pattern":"a{1000}b{0,1000}c{0,1000}d{0,1000}e{0,1000}"}}}`, "schema", "the patterns must have at most 8192 instructions in all"},
		{"a pattern of 1.5 million instructions", `{"pattern":"` + strings.Repeat(`[ab]{1000}`, 1500) + `"}`, "schema", "the patterns must have at most 8192 instructions in all"},
		{"too many patterns", `{"patternProperties":{` + manyPatterns(2100) + `}}`, "schema", "the patterns must have at most 8192 instructions in all"},
		{"a long chain of references", chained(130), "schema", "more than 128 nested subschemas for the same value"},
		{"a large number", `{"maximum":1e401}`, "schema/maximum", "must be a number of at most 100 characters"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			_, errs := schema.Compile([]byte(tt.schema), "schema")
			if len(errs) == 0 || errs[0].Field != tt.field || !strings.Contains(errs[0].Message, tt.message) {
				t.Errorf("Compile() = %+v; want %s: %s", errs, tt.field, tt.message)
			}
		})
	}
}

// Some of the schemas double the work with each level.
func TestCheck_stopsAtTheBound(t *testing.T) {
	t.Parallel()
	doubled := func(keyword string) string { // 2^60 evaluations of one value
		var defs []string
		for i := range 60 {
			defs = append(defs, fmt.Sprintf(`"a%d":{"%s":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]}`, i, keyword, i+1, i+1))
		}
		return `{"$ref":"#/$defs/a0","$defs":{` + strings.Join(defs, ",") + `,"a60":{"minimum":5}}}`
	}
	nested := strings.Repeat(`{"a":`, 60) + `1` + strings.Repeat(`}`, 60)
	tests := []struct{ name, schema, payload string }{
		{"allOf", doubled("allOf"), `7`},
		{"allOf that fails", doubled("allOf"), `1`},
		{"anyOf that fails", doubled("anyOf"), `1`},
		{"oneOf", doubled("oneOf"), `7`},
		{"not", `{"not":` + doubled("allOf") + `,` + doubled("allOf")[1:], `1`},
		{"anyOf at each level of the payload", `{"properties":{"a":{"anyOf":[{"$ref":"#"},{"$ref":"#"}]}},"required":["b"]}`, nested},
		{"contains", `{"contains":` + strings.Repeat(`{"contains":`, 20) + `{"enum":[` + strings.Repeat(`1,`, 3000) + `2]}` + strings.Repeat(`}`, 21), `[` + strings.Repeat(`3,`, 200000) + `4]`},
		{"enum", `{"items":{"enum":[` + strings.Repeat(`1,`, 4000) + `2]}}`, `[` + strings.Repeat(`3,`, 1000) + `4]`},
		{"patterns", `{"patternProperties":{` + manyPatterns(400) + `}}`, `{` + manyNames(20000) + `}`},
		{"a long text", `{"allOf":[` + strings.Repeat(`{"pattern":"a*b"},`, 400) + `true]}`, `"` + strings.Repeat("a", 200000) + `"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got, _ := compile(t, tt.schema).Check([]byte(tt.payload), "payload")
			if len(got) != 1 || !strings.HasPrefix(got[0].Message, "is too large for the schema") {
				t.Errorf("Check() = %.300v; want the bound", got)
			}
		})
	}
}

// chained returns a schema of n references, each to the next.
func chained(n int) string {
	var defs []string
	for i := range n {
		defs = append(defs, fmt.Sprintf(`"a%d":{"$ref":"#/$defs/a%d"}`, i, i+1))
	}
	return fmt.Sprintf(`{"$ref":"#/$defs/a0","$defs":{%s,"a%d":true}}`, strings.Join(defs, ","), n)
}

func TestCheck_stepsGrowWithTheWork(t *testing.T) {
	t.Parallel()
	text, number := `"`+strings.Repeat("a", 1280)+`"`, strings.Repeat("7", 90)+"e400"
	tests := []struct {
		name, schema, payload string
		steps                 int // without those of decoding
	}{
		{"a value", `{"minimum":1}`, `5`, 1},
		{"items", `{"items":{"minimum":1}}`, `[5,6,7]`, 16},
		{"a short pattern", `{"pattern":"a"}`, text, 47},
		{"a long pattern", `{"pattern":"a{0,1000}"}`, text, 80127},
		{"the pattern of a name", `{"patternProperties":{"a{0,1000}$":true}}`, `{` + text + `:1}`, 80285},
		{"long numbers", `{"items":{"minimum":1}}`, `[` + number + `]`, 36},
		{"long numbers in an enumeration", `{"items":{"enum":[1,2,3,` + number + `]}}`, `[` + number + `]`, 175},
		{"multiples of long numbers", `{"items":{"multipleOf":7}}`, `[` + number + `]`, 68},
		{"unique values", `{"uniqueItems":true}`, `[1,2,[3,4]]`, 1 + 3 + 2*14},
		{"short numbers", `{"items":{"type":"integer","minimum":1}}`, `[5,6]`, 1 + 2 + 2*6},
		{"numbers in an enumeration", `{"items":{"enum":[1,2,3]}}`, `[3]`, 1 + 1 + 2 + 3*2 + 1 + 3*3},
		{"many unique values", `{"uniqueItems":true}`, `[` + manyNumbers(30) + `]`, 1 + 30 + 2*(1+30*3)},
		{"unevaluated properties", `{"unevaluatedProperties":true,"allOf":[{"type":"object"},{"minProperties":1}]}`, `{"a":1,"b":2,"c":3}`, 37},
	}
	for _, tt := range tests {
		wrong, steps := compile(t, tt.schema).Check([]byte(tt.payload), "payload")
		if want := tt.steps + len(tt.payload)/hook.BytesPerStep; len(wrong) > 0 || steps != want {
			t.Errorf("%s: Check() = %.200v, %d; want no error and %d", tt.name, wrong, steps, want)
		}
	}
}

func manyPatterns(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(`"^a%d":true`, i)
	}
	return strings.Join(all, ",")
}

func manyNumbers(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = strconv.Itoa(i)
	}
	return strings.Join(all, ",")
}

func manyNames(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(`"n%d":1`, i)
	}
	return strings.Join(all, ",")
}

func TestCheck_usualPayloadOfMaximumSizeIsBelowTheBound(t *testing.T) {
	t.Parallel()
	line := `{"id":"ord_1","total":5,"lines":[1,2,3,4,5,6,7,8,9],"email":"a@example.com"}`
	payload := `[` + strings.TrimSuffix(strings.Repeat(line+",", (hook.MaxPayload-2)/(len(line)+1)), ",") + `]`
	got, steps := compile(t, `{"items":`+strings.Replace(order, "#/$defs", "#/items/$defs", 2)+`}`).Check([]byte(payload), "payload")
	if got != nil {
		t.Errorf("Check(%d bytes) = %v; want none", len(payload), got)
	}
	t.Logf("%d of %d steps", steps, schema.MaxSteps)
}

func TestCheck_afterACheckThatReachedTheBound(t *testing.T) {
	t.Parallel()
	s := compile(t, `{"items":{"enum":[`+strings.Repeat(`1,`, 4000)+`2]}}`)
	if got, _ := s.Check([]byte(`[`+strings.Repeat(`2,`, 1000)+`2]`), "payload"); len(got) != 1 {
		t.Errorf("Check(large) = %v; want the bound", got)
	}
	if got, _ := s.Check([]byte(`[2]`), "payload"); got != nil {
		t.Errorf("Check(small) = %v; want none", got)
	}
}

func TestCheck_returnsTheFirstErrors(t *testing.T) {
	t.Parallel()
	got, _ := compile(t, `{"items":false}`).Check([]byte(`[`+strings.Repeat(`1,`, 99)+`1]`), "payload")
	if len(got) != schema.MaxErrors || got[0].Field != "payload/0" || !slices.IsSortedFunc(got, func(a, b hook.FieldError) int { return strings.Compare(a.Field, b.Field) }) {
		t.Errorf("Check() = %v; want the first %d errors in the order of their places", got, schema.MaxErrors)
	}
}

func TestCheck_errorsAlwaysComeInTheSameOrder(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		schema string
		want   []hook.FieldError
	}{
		{`{"additionalProperties":false}`, []hook.FieldError{{Field: "payload", Message: "additional properties 'a', 'b', 'c' not allowed"}}},
		{`{"propertyNames":{"minLength":2}}`, []hook.FieldError{
			{Field: "payload", Message: "invalid propertyName 'a'"},
			{Field: "payload", Message: "invalid propertyName 'b'"},
			{Field: "payload", Message: "invalid propertyName 'c'"},
		}},
	} {
		s := compile(t, tt.schema)
		for range 50 {
			got, _ := s.Check([]byte(`{"c":1,"a":2,"b":3}`), "payload")
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Fatalf("Check() by %s (-want +got):\n%s", tt.schema, diff)
			}
		}
	}
}

func FuzzSchema(f *testing.F) {
	f.Add([]byte(order), []byte(`{"id":"x","lines":[1,-2,"a/b"],"a/b~":1}`))
	f.Add([]byte(`{"$ref":"#"}`), []byte(`1`))
	f.Add([]byte(`{"$dynamicAnchor":"n","properties":{"next":{"$dynamicRef":"#n"}},"unevaluatedProperties":false}`), []byte(`{"next":{"next":{"a":1}}}`))
	f.Add([]byte(`{"prefixItems":[{"const":1}],"items":{"uniqueItems":true},"contains":{"type":"null"},"unevaluatedItems":false}`), []byte(`[1,[2,2],null]`))
	f.Add([]byte(`{"if":{"minimum":5},"then":false,"else":{"multipleOf":0.1},"dependentSchemas":{"a":true}}`), []byte(`5e2`))
	f.Add([]byte(`{"patternProperties":{"^a":{"pattern":"b$"}},"propertyNames":{"maxLength":2},"$anchor":"x","$id":"urn:y"}`), []byte(`{"abc":"c"}`))
	f.Fuzz(func(t *testing.T, raw, payload []byte) {
		s, errs := schema.Compile(raw, "schema")
		if (s == nil) != (len(errs) > 0) {
			t.Fatalf("Compile(%q) = %v, %v; want a schema or errors", raw, s, errs)
		}
		for _, e := range errs {
			if !strings.HasPrefix(e.Field, "schema") || e.Message == "" {
				t.Errorf("Compile(%q) = %+v; want a field and a message", raw, e)
			}
		}
		if s == nil {
			return
		}
		first, steps := s.Check(payload, "payload")
		second, again := s.Check(payload, "payload")
		if diff := cmp.Diff(first, second); diff != "" || len(first) > schema.MaxErrors || steps != again && steps < schema.MaxSteps {
			t.Errorf("Check(%q) of %q differs from the first check (-first +second):\n%s", payload, raw, diff)
		}
	})
}
