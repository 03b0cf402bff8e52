package shape_test

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/shape"
)

const payload = `{"id": 9007199254740993, "total": 19.90, "name": "Ada <&> é", "ok": true, "none": null,
 "max": 18446744073709551615, "items": [{"sku": "a", "n": 2}, {"sku": "b", "n": 3}]}`

func event(payload string) *hook.Event {
	return &hook.Event{
		ID: "evt_01h455vb4pex5vsknk084sn02q", Tenant: "acme", Type: "order.paid", Payload: []byte(payload),
		AcceptedAt: time.Date(2026, 11, 26, 8, 30, 0, 7e6, time.FixedZone("", 3600)),
	}
}

func TestShaper_Shape_envelopes(t *testing.T) {
	t.Parallel()

	const head = `{"type":"order.paid","timestamp":"2026-11-26T07:30:00.007Z",`
	tests := []struct {
		envelope hook.Envelope
		url      string
		want     string
	}{
		{envelope: hook.EnvelopeRaw, want: payload},
		{envelope: hook.EnvelopeStandard, want: head + `"data":` + payload + `}`},
		{envelope: hook.EnvelopeThin, want: head + `"id":"evt_01h455vb4pex5vsknk084sn02q"}`},
		{
			envelope: hook.EnvelopeThin, url: "https://hooks.example.com",
			want: head + `"id":"evt_01h455vb4pex5vsknk084sn02q","url":"https://hooks.example.com/v1/tenants/acme/events/evt_01h455vb4pex5vsknk084sn02q"}`,
		},
	}
	for _, tt := range tests {
		e := event(payload)
		got, err := (&shape.Shaper{PublicURL: tt.url}).Shape(nil, &hook.Endpoint{Envelope: tt.envelope}, e)
		if err != nil || string(got.Body) != tt.want || got.ContentType != shape.JSON || got.Version != tt.envelope.String() {
			t.Errorf("Shape(%s) = %+v, %v with body\n%s\nwant\n%s", tt.envelope, got, err, got.Body, tt.want)
		}
		if string(e.Payload) != payload {
			t.Errorf("Shape(%s) changed the payload", tt.envelope)
		}
	}
}

// TestShaper_Shape_addresses checks that the addresses in a body are valid for each tenant
// (RFC 3986, section 3.3).
func TestShaper_Shape_addresses(t *testing.T) {
	t.Parallel()

	source, err := os.ReadFile("presets/cloudevents.cel")
	if err != nil {
		t.Fatal(err)
	}
	e := event("1")
	e.Tenant = "auth0|5f:c@b.c+d"
	for _, tt := range []struct {
		endpoint hook.Endpoint
		want     string
	}{
		{hook.Endpoint{Envelope: hook.EnvelopeThin}, `"url":"https://hooks.example.com/v1/tenants/auth0%7C5f:c@b.c+d/events/evt_01h455vb4pex5vsknk084sn02q"`},
		{hook.Endpoint{Transformation: string(source)}, `"source":"/tenants/auth0%7C5f:c@b.c+d"`},
	} {
		got, err := (&shape.Shaper{PublicURL: "https://hooks.example.com"}).Shape(nil, &tt.endpoint, e)
		if err != nil || !strings.Contains(string(got.Body), tt.want) {
			t.Errorf("Shape = %s, %v; want %s in it", got.Body, err, tt.want)
		}
	}
}

func TestShaper_Shape_transformations(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name, expression string
		body             string
		contentType      string
		headers          map[string]string
	}{
		{name: "a text is the body", expression: `{"body": "Paid: " + event.data.name}`, body: "Paid: Ada <&> é", contentType: "text/plain; charset=utf-8"},
		{
			name:       "a map is JSON, with the keys in their order",
			expression: `{"body": {"z": event.type, "a": event.id, "t": event.timestamp, "m": event.tenant}}`,
			body:       `{"a":"evt_01h455vb4pex5vsknk084sn02q","m":"acme","t":"2026-11-26T07:30:00.007Z","z":"order.paid"}`,
		},
		{name: "numbers stay as they are written", expression: `{"body": [event.data.id, event.data.max, event.data.total]}`, body: `[9007199254740993,18446744073709551615,19.90]`},
		{name: "everything else stays", expression: `{"body": [event.data.ok, event.data.none, event.data.items]}`, body: `[true,null,[{"n":2,"sku":"a"},{"n":3,"sku":"b"}]]`},
		{name: "a body alone", expression: `{"body": event.data.none}`, body: `null`},
		{name: "other content", expression: `{"body": "<a/>", "content_type": "application/xml"}`, body: "<a/>", contentType: "application/xml"},
		{name: "headers", expression: `{"body": {}, "headers": {"X-Kind": event.type}}`, body: `{}`, headers: map[string]string{"X-Kind": "order.paid"}},
		{name: "lists", expression: `{"body": event.data.items.filter(i, i.n > 2).map(i, i.sku.upperAscii())}`, body: `["B"]`},
		{name: "names and values", expression: `{"body": event.data.items[0].transformMap(k, v, string(v))}`, body: `{"n":"2","sku":"a"}`},
		{name: "what may be absent", expression: `{"body": {"a": event.data.?a.b.orValue("-"), ?"c": event.data.?c, ?"n": event.data.?name}}`, body: `{"a":"-","n":"Ada <&> é"}`},
		{name: "a name for a value", expression: `cel.bind(n, event.data.name, {"body": [n, n]})`, body: `["Ada <&> é","Ada <&> é"]`},
		{name: "the whole payload as a text", expression: `{"body": {"raw": json(event.data.items[0])}}`, body: `{"raw":"{\"n\":2,\"sku\":\"a\"}"}`},
		{name: "texts", expression: `{"body": [" a ".trim(), "a-b".replace("-", "+"), ["a", "b"].join(", "), "äöü".substring(1, 2), "abc".substring(1, 9)]}`, body: `["a","a+b","a, b","ö","bc"]`},
		{name: "texts in parts", expression: `{"body": "a,b".split(",")}`, body: `["a","b"]`},
		{name: "times", expression: `{"body": [int(timestamp(event.timestamp)), timestamp("2026-01-01T00:00:00Z") < timestamp(event.timestamp), timestamp("2026-01-01T01:00:00+01:00")]}`, body: `[1795678200,true,"2026-01-01T00:00:00.000Z"]`},
		{name: "base64", expression: `{"body": base64.encode(event.type)}`, body: "b3JkZXIucGFpZA==", contentType: "text/plain; charset=utf-8"},
		{name: "arithmetic", expression: `{"body": [1 + 2 * 3 - 4 / 2, 7 % 4, -(1), 1.5 + 0.25, 2u * 3u, double(event.data.id) / 2.0, int("7") + int(2.9)]}`, body: `[5,3,-1,1.75,6,4503599627370496,9]`},
		{name: "conditions", expression: `{"body": [event.data.ok ? 1 : 2, !event.data.ok, false && event.x, true || event.x, has(event.data.name), has(event.data.x)]}`, body: `[1,false,false,true,true,false]`},
		{name: "deep comparisons", expression: `{"body": [event.data.items == event.data.items, [1, {"a": 2.0}] == [1u, {"a": 2}], {"a": 1} != {"b": 1}, event.data.id > 1.5, event.data.max > event.data.id]}`, body: `[true,true,true,true,true]`},
		{name: "quantifiers", expression: `{"body": [event.data.items.all(i, i.n > 1), event.data.items.exists(i, i.n == 3), event.data.items.exists_one(i, i.n > 0), {"b": 1, "a": 2}.map(k, k), event.data.items.map(i, i.n > 2, i.sku)]}`, body: `[true,true,false,["a","b"],["b"]]`},
		{name: "keys and values", expression: `{"body": [{"b": 1, "a": 2}.transformList(k, v, k + string(v)), ["x"].transformList(i, v, [i, v])]}`, body: `[["a2","b1"],[[0,"x"]]]`},
		{name: "optional values", expression: `{"body": [event.data.?x.hasValue(), event.data.?name.value(), event.data.items[?9].orValue(0), event.?data.?items[0].?sku.orValue(""), ?optional.none(), ?optional.of(1)]}`, body: `[false,"Ada <&> é",0,"a",1]`},
		{name: "sizes and places", expression: `{"body": [size("äö"), event.data.items.size(), event.data.items[1].sku, event.data["name"].substring(4), ["a", "b"].join(), "ÄbC".lowerAscii()]}`, body: `[2,2,"b","<&> é","ab","Äbc"]`},
		{name: "comparisons", expression: `{"body": [event.type == "order.paid", event.data.ok == true, event.data.none == null, event.type in ["a"], "n" in event.data.items[0]]}`, body: `[true,true,true,false,true]`},
	}
	var s shape.Shaper
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if tt.contentType == "" {
				tt.contentType = shape.JSON
			}
			e := &hook.Endpoint{Transformation: tt.expression, Envelope: hook.EnvelopeStandard}
			for range 2 { // compiled the first time, cached the second
				got, err := s.Shape(nil, e, event(payload))
				if err != nil {
					t.Fatalf("Shape() = %v", err)
				}
				want := shape.Content{Body: []byte(tt.body), ContentType: tt.contentType, Headers: tt.headers, Version: shape.Version(e)}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("Shape() (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// TestShaper_Shape_many multiplies a text of the payload. The events of many endpoints get bodies
// above their share only if the payload is as large.
func TestShaper_Shape_many(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct {
		name            string
		text            int // bytes
		copies, targets int
		refused         bool
	}{
		{name: "a preview, of no endpoint", text: 40_000, copies: 6, targets: 0, refused: false},
		{name: "all that a body may have", text: 40_000, copies: 6, targets: shape.MaxTogether / shape.MaxBody, refused: false},
		{name: "many endpoints", text: 40_000, copies: 2, targets: 500, refused: true},
		{name: "many endpoints, within their share", text: 30_000, copies: 2, targets: 500, refused: false},
		{name: "many endpoints, a payload as large", text: 100_000, copies: 1, targets: 500, refused: false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			e := event(`{"t":"` + strings.Repeat("t", tt.text) + `"}`)
			e.Targets = make([]hook.Target, tt.targets)
			copies := strings.Repeat("event.data.t, ", tt.copies)
			_, err := new(shape.Shaper).Shape(nil, &hook.Endpoint{Transformation: `{"body": [` + strings.TrimSuffix(copies, ", ") + `]}`}, e)
			if problem, ok := errors.AsType[*shape.Error](err); ok != tt.refused || ok && !strings.Contains(problem.Problem, "of an event to 500 endpoints it may have 67108") {
				t.Errorf("Shape() = %v; want refused: %t", err, tt.refused)
			}
		})
	}
}

func TestCompile_refuses(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name, expression, want string
		line, column           int
	}{
		{name: "no expression", expression: ` `, want: "Syntax error", line: 1, column: 2},
		{name: "a mistake, with its place", expression: "{\n  \"body\": evnt.data}", want: "undeclared reference to 'evnt'", line: 2, column: 11},
		{name: "too long", expression: `{"body": "` + strings.Repeat("a", shape.MaxExpression) + `"}`, want: "at most 8192 bytes"},
		{name: "regular expressions", expression: `{"body": event.type.matches("a")}`, want: "undeclared reference to 'matches'", line: 1, column: 28},
		{name: "an unknown function", expression: `{"body": sum(event.data)}`, want: "undeclared reference to 'sum'", line: 1, column: 13},
		{name: "an unknown namespace", expression: `{"body": math.abs(1)}`, want: "undeclared reference to 'math.abs'"},
		{name: "too few arguments", expression: `{"body": event.type.replace("a")}`, want: "replace has 1 arguments, and must have 2"},
		{name: "a name outside of its macro", expression: `{"body": [1].map(x, x) + [x]}`, want: "undeclared reference to 'x'"},
		{name: "a name in its own value", expression: `{"body": cel.bind(x, x, x)}`, want: "undeclared reference to 'x'", line: 1, column: 22},
		{name: "no name", expression: `{"body": [1].map(event.data, 1)}`, want: "must be a name"},
		{name: "messages", expression: `{"body": google.protobuf.Struct{}}`, want: "messages are not supported"},
		{name: "bytes", expression: `{"body": b"a"}`, want: "bytes are not supported"},
		{name: "many nodes", expression: `{"body": [` + strings.Repeat("{},", 1500) + `]}`, want: "has 1503 parts"},
		{name: "a long name", expression: `{"body": ` + strings.Repeat("a", 1000) + `}`, want: "undeclared reference to 'aaa"},
		{name: "nesting", expression: `{"body": ` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`, want: "recursion"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			err := shape.Compile(tt.expression)
			problem, ok := errors.AsType[*shape.Error](err)
			if !ok || !strings.Contains(problem.Problem, tt.want) || problem.Version == "" {
				t.Fatalf("Compile() = %v; want %q", err, tt.want)
			}
			if len(problem.Problem) > 400 || problem.Line < 0 {
				t.Errorf("the problem has %d bytes, at line %d", len(problem.Problem), problem.Line)
			}
			if tt.line > 0 && (problem.Line != tt.line || problem.Column != tt.column) {
				t.Errorf("the place is %d:%d; want %d:%d", problem.Line, problem.Column, tt.line, tt.column)
			}
		})
	}
}

// TestShaper_Shape_hostile evaluates expressions that would take years or all memory without
// bounds: each must soon end with an error.
func TestShaper_Shape_hostile(t *testing.T) {
	t.Parallel()

	bind := func(first, next string, times int, body string) string {
		text := body
		for i := times; i > 0; i-- {
			text = "cel.bind(v" + strconv.Itoa(i) + ", " + strings.ReplaceAll(next, "$", "v"+strconv.Itoa(i-1)) + ", " + text + ")"
		}
		return "cel.bind(v0, " + first + ", " + text + ")"
	}
	const steps = "takes too many steps"
	tests := []struct{ name, expression, want string }{
		{name: "a text that doubles", expression: bind("event.data.name", "$ + $", 40, `{"body": v40}`), want: steps},
		{name: "a list that doubles", expression: bind("event.data.items", "$ + $", 40, `{"body": v40}`), want: steps},
		{name: "a list in a list in a list", expression: bind("[1, 1]", "[$, $]", 40, `{"body": v40}`), want: "more than 262144 bytes"},
		{name: "the same as a text", expression: bind("[1, 1]", "[$, $]", 40, `{"body": json(v40)}`), want: "more than 262144 bytes"},
		{name: "the same compared", expression: bind("[1, 1]", "[$, $]", 40, `{"body": v40 == v40}`), want: steps},
		{name: "the same among others", expression: bind("[1, 1]", "[$, $]", 40, `{"body": v40 in [v39, v40]}`), want: steps},
		{name: "the same as an optional value", expression: bind("[1, 1]", "[$, $]", 40, `{"body": [?v40]}`), want: "optional value"},
		{name: "the same as a key", expression: bind("[1, 1]", "[$, $]", 40, `{"body": {v40: 1}}`), want: "keys of maps must be strings"},
		{name: "keys that are maps", expression: bind(`{"a": 1}`, "{$: $}", 40, `{"body": 1}`), want: "keys of maps must be strings"},
		{name: "many levels", expression: `{"body": event.data.deep}`, want: "levels of lists"},
		{name: "a text in place of each character", expression: bind(`"aaaaaaaa"`, `$.replace("a", $)`, 8, `{"body": v8}`), want: steps},
		{name: "the empty text is everywhere", expression: bind(`"aaaaaaaa"`, `$.replace("", $)`, 8, `{"body": v8}`), want: steps},
		{name: "a text joined with itself", expression: bind(`"aaaaaaaa"`, `$.split("").join($)`, 8, `{"body": v8}`), want: steps},
		{name: "long texts among long texts", expression: bind(`[event.data.long + "a"]`, "$ + $", 17, `{"body": (event.data.long + "b") in v17}`), want: steps},
		{name: "loops in loops", expression: `{"body": ` + strings.Repeat("event.data.many.all(a, ", 5) + "true" + strings.Repeat(")", 5) + `}`, want: steps},
		{name: "loops without a call", expression: `{"body": event.data.many.filter(a, event.data.many.filter(b, false) == [a])}`, want: steps},
		{name: "errors behind an or", expression: `{"body": event.data.many.all(a, json(event.data.long) == "" || true)}`, want: steps},
		{name: "joins in a loop", expression: `{"body": event.data.many.map(a, event.data.many.map(b, event.data.long).join("").size())}`, want: steps},
		{name: "sizes of texts in a loop", expression: `{"body": event.data.many.map(a, event.data.long.size())}`, want: steps},
		{name: "conversions in a loop", expression: `{"body": event.data.many.map(a, double(event.data.digits))}`, want: steps},
		{name: "long keys in a loop", expression: `{"body": event.data.many.map(a, {event.data.long: 1})}`, want: steps},
		{name: "long keys looked up in a loop", expression: `{"body": event.data.many.map(a, event.data[?event.data.long].orValue(1))}`, want: steps},
		{name: "parts of texts in a loop", expression: `{"body": event.data.many.map(a, event.data.long.split(""))}`, want: steps},
		{name: "no map", expression: `[event.data]`, want: "must be a map"},
		{name: "no body", expression: `{"bdy": 1}`, want: "has no body"},
		{name: "another key", expression: `{"body": 1, "status": 2}`, want: `another key than body`},
		{name: "what the payload has not", expression: `{"body": event.data.nme}`, want: "no such key: nme"},
		{name: "another type", expression: `{"body": event.data.name + 1}`, want: "no such operation for a string and an int"},
		{name: "not a number", expression: `{"body": 0.0 / 0.0}`, want: "a number is infinite, or none"},
		{name: "beyond 64 bits", expression: `{"body": 9223372036854775807 + event.data.one}`, want: "integer overflow"},
		{name: "division by zero", expression: `{"body": 1 / (event.data.one - 1)}`, want: "division by zero"},
		{name: "an optional value", expression: `{"body": event.data.?name}`, want: "an optional value is not in JSON"},
		{name: "a secret of the payload in an error", expression: `{"body": event.data[event.data.secret]}`, want: "no such key or index"},
		{name: "a time that is none", expression: `{"body": timestamp(event.data.secret)}`, want: "a string cannot be converted to timestamp"},
		{name: "a condition that is none", expression: `{"body": event.data.one && true}`, want: "must be a bool, and this is a number"},
		{name: "a header of Surehook", expression: `{"body": 1, "headers": {"Webhook-Id": "x"}}`, want: "headers: a name or a value is not allowed"},
		{name: "a header in a header", expression: "{\"body\": 1, \"headers\": {\"X-A\": \"x\\r\\nX-B: y\"}}", want: "headers: a name or a value is not allowed"},
		{name: "one header in two ways", expression: `{"body": 1, "headers": {"X-A": "1", "x-a": "2"}}`, want: "two names differ"},
		{name: "a secret as a key", expression: `{"body": 1, event.data.secret: 1}`, want: "another key than body"},
		{name: "a secret as a header", expression: `{"body": 1, "headers": {event.data.secret: "1"}}`, want: "not allowed"},
		{name: "decimals of many digits in a loop", expression: `{"body": event.data.many.map(a, double("2.225073858513301364587e-308"))}`, want: steps},
		{name: "a time beyond the years of four digits", expression: `{"body": timestamp("9999-12-31T23:59:59-23:59")}`, want: "cannot be converted"},
		{name: "a header that is a number", expression: `{"body": 1, "headers": {"X-A": 1}}`, want: "must be a string"},
		{name: "a content type in a content type", expression: "{\"body\": 1, \"content_type\": \"a/b\\r\\nX-B: y\"}", want: "content_type must be"},
		{name: "a key twice", expression: `{"body": {"a": 2, event.data.a: 3}}`, want: `this key twice`},
	}
	hostile := `{"name": "Ada", "one": 1, "a": "a", "items": [1], "secret": "secret\u0000\u001b", "digits": "0.` + strings.Repeat("1", 50_000) + `", "long": "` + strings.Repeat("x", 100_000) + `",
		"many": [` + strings.Repeat("1,", 20_000) + `1], "deep": ` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`
	var s shape.Shaper
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got, err := s.Shape(nil, &hook.Endpoint{Transformation: tt.expression}, event(hostile))
			problem, ok := errors.AsType[*shape.Error](err)
			if !ok || !strings.Contains(problem.Problem, tt.want) {
				t.Errorf("Shape() = %.200s, %v; want %q", got.Body, err, tt.want)
			}
			if ok && (len(problem.Problem) > 400 || strings.Contains(problem.Problem, "secret") || strings.ContainsFunc(problem.Problem, unicode.IsControl)) {
				t.Errorf("the problem is %q; want a short text without values of the payload", problem.Problem)
			}
		})
	}
}

// TestShaper_Shape_memory checks that an evaluation with the largest payload stays within
// MaxMemory: function deliver has 120 MiB for everything. It counts everything that was
// allocated, which is at least what is in use at any time.
func TestShaper_Shape_memory(t *testing.T) { //nolint:paralleltest // counts the allocations of the process
	long := strings.Repeat("x", hook.MaxPayload/4)
	payload := `{"long": "` + long + `", "many": [1` + strings.Repeat(",1", (hook.MaxPayload-len(long))/2-20) + `]}`
	for _, body := range []string{
		`event.data.many.map(a, [a])`, `event.data.many.map(a, [[[[a]]]])`, `event.data.many.map(a, {"a": a})`, `event.data.many.map(a, event.data.?many)`,
		`event.data.many.map(a, string(a))`, `event.data.many.map(a, "a" + "b")`, `event.data.many.map(a, timestamp("2026-11-11T11:11:11Z"))`,
		`event.data.many.map(a, json(event.data))`, `event.data.long.split("")`, `event.data.long.split("").map(a, a + a)`,
		`event.data.many.map(a, 9223372036854775807)`, `event.data.many.map(a, event.data.many)`, `cel.bind(l, event.data.many + event.data.many, l + l)`,
	} {
		var s shape.Shaper
		if _, err := s.Shape(nil, &hook.Endpoint{Transformation: `{"body": 1}`}, event(payload)); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _ = s.Shape(nil, &hook.Endpoint{Transformation: `{"body": ` + body + `}`}, event(payload))
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got < 1<<20 || got > shape.MaxMemory {
			t.Errorf("%s allocates %d MiB; want at most %d", body, got>>20, shape.MaxMemory>>20)
		}
		small := event(strings.Replace(payload[:len(long)/8], `{"long`, `{"many": [`+strings.Repeat("1,", 2000)+`1], "long`, 1) + `"}`)
		runtime.ReadMemStats(&before)
		_, _ = shape.Steps(`{"body": `+body+`}`, small, shape.SmallSteps, nil)
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > shape.MaxMemory/16 {
			t.Errorf("%s allocates %d KiB as a small one; want at most %d", body, got>>10, shape.MaxMemory>>14)
		}
	}
}

// TestShaper_Shape_sameSteps checks that comparing maps takes the same steps each time.
func TestShaper_Shape_sameSteps(t *testing.T) {
	t.Parallel()

	long := strings.Repeat("x", 100_000)
	payload := `{"a": {"big": "` + long + `", "q": 1}, "b": {"big": "` + long + `", "q": 2}}`
	var s shape.Shaper
	seen := make(map[string]bool)
	for range 50 {
		got, err := s.Shape(nil, &hook.Endpoint{Transformation: `{"body": [` + strings.Repeat("0,", 26) + `0].filter(x, event.data.a == event.data.b)}`}, event(payload))
		seen[string(got.Body)+" "+strconv.FormatBool(err == nil)] = true
	}
	if len(seen) != 1 {
		t.Errorf("results = %v; want one", seen)
	}
}

// FuzzShape looks for expressions and payloads that panic or exceed the bounds.
func FuzzShape(f *testing.F) {
	f.Add(`{"body": event.data}`, payload)
	f.Add(`{"body": event.data.items.map(i, i.sku), "headers": {"X": event.type}, "content_type": "text/html"}`, payload)
	f.Add(`cel.bind(a, event.data, {"body": [a, json(a)].map(x, x)})`, `1e999`)
	f.Add(`{"body": {"a": event.data.?b[?0].orValue(1)}}`, `[{"b": 18446744073709551616}]`)
	var s shape.Shaper
	f.Fuzz(func(t *testing.T, expression, payload string) {
		e := &hook.Endpoint{Transformation: expression}
		got, err := s.Shape(nil, e, event(payload))
		if err != nil {
			if _, ok := errors.AsType[*shape.Error](err); !ok {
				t.Errorf("Shape() = %v; want a *shape.Error", err)
			}
			return
		}
		if len(got.Body) > shape.MaxBody || got.Version != shape.Version(e) || len(hook.ValidateHeaders(got.Headers)) > 0 {
			t.Errorf("Shape() = %+v", got)
		}
		again, err := s.Shape(nil, e, event(payload))
		if diff := cmp.Diff(got, again); err != nil || diff != "" {
			t.Errorf("Shape() again = %v (-first +second):\n%s", err, diff)
		}
	})
}
