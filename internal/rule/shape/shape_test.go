package shape_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"surehook/internal/hook"
	"surehook/internal/rule/shape"
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
		got, err := (&shape.Shaper{PublicURL: tt.url}).Shape(&hook.Endpoint{Envelope: tt.envelope}, e)
		if err != nil || string(got.Body) != tt.want || got.ContentType != shape.JSON || got.Version != tt.envelope.String() {
			t.Errorf("Shape(%s) = %+v, %v with body\n%s\nwant\n%s", tt.envelope, got, err, got.Body, tt.want)
		}
		if string(e.Payload) != payload {
			t.Errorf("Shape(%s) changed the payload", tt.envelope)
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
		{name: "whole numbers of 64 bits stay", expression: `{"body": [event.data.id, event.data.max, event.data.total]}`, body: `[9007199254740993,18446744073709551615,19.9]`},
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
		{name: "times", expression: `{"body": [timestamp(event.timestamp) + duration("1h"), timestamp(event.timestamp).getFullYear()]}`, body: `["2026-11-26T08:30:00.007Z",2026]`},
		{name: "base64", expression: `{"body": base64.encode(bytes(event.type))}`, body: "b3JkZXIucGFpZA==", contentType: "text/plain; charset=utf-8"},
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
			for range 2 { // compiled, and kept
				got, err := s.Shape(e, event(payload))
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

func TestCompile_refuses(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name, expression, want string
		line, column           int
	}{
		{name: "no expression", expression: ` `, want: "Syntax error", line: 1, column: 2},
		{name: "a mistake, with its place", expression: "{\n  \"body\": evnt.data}", want: "undeclared reference to 'evnt'", line: 2, column: 11},
		{name: "too long", expression: `{"body": "` + strings.Repeat("a", shape.MaxExpression) + `"}`, want: "at most 8192 bytes"},
		{name: "two unknown types", expression: `{"body": event.data.a == event.data.b}`, want: "unknown types", line: 1, column: 23},
		{name: "an unknown in unknowns", expression: `{"body": event.data.a in event.data.b}`, want: "unknown types", line: 1, column: 23},
		{name: "lists", expression: `{"body": [1] != [2]}`, want: "unknown types", line: 1, column: 14},
		{name: "regular expressions", expression: `{"body": event.type.matches("a")}`, want: "undeclared reference to 'matches'", line: 1, column: 28},
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
			if tt.line > 0 && (problem.Line != tt.line || problem.Column != tt.column) {
				t.Errorf("the place is %d:%d; want %d:%d", problem.Line, problem.Column, tt.line, tt.column)
			}
		})
	}
}

// TestShaper_Shape_hostile holds expressions to their bounds that would take years or all
// memory: each must end with an error, soon.
func TestShaper_Shape_hostile(t *testing.T) {
	t.Parallel()

	bind := func(first, next string, times int, body string) string {
		text := body
		for i := times; i > 0; i-- {
			text = "cel.bind(v" + strconv.Itoa(i) + ", " + strings.ReplaceAll(next, "$", "v"+strconv.Itoa(i-1)) + ", " + text + ")"
		}
		return "cel.bind(v0, " + first + ", " + text + ")"
	}
	tests := []struct{ name, expression, want string }{
		{name: "a text that doubles", expression: bind("event.data.name", "$ + $", 40, `{"body": v40}`), want: "too many steps"},
		{name: "bytes that double", expression: bind("bytes(event.data.name)", "$ + $", 40, `{"body": base64.encode(v40)}`), want: "too many steps"},
		{name: "a list that doubles", expression: bind("event.data.items", "$ + $", 60, `{"body": v60}`), want: "too many steps"},
		{name: "a list in a list in a list", expression: bind("[1, 1]", "[$, $]", 40, `{"body": v40}`), want: "more than 262144 bytes"},
		{name: "the same as a text", expression: bind("[1, 1]", "[$, $]", 40, `{"body": json(v40)}`), want: "more than 262144 bytes"},
		{name: "many levels", expression: bind("[]", "[$]", 80, `{"body": v80}`), want: "levels"},
		{name: "a text in place of each character", expression: bind(`"aaaaaaaa"`, `$.replace("a", $)`, 8, `{"body": v8}`), want: "result has more than"},
		{name: "the empty text is everywhere", expression: bind(`"aaaaaaaa"`, `$.replace("", $)`, 8, `{"body": v8}`), want: "result has more than"},
		{name: "a text joined with itself", expression: bind(`"aaaaaaaa"`, `$.split("").join($)`, 8, `{"body": v8}`), want: "result has more than"},
		{name: "loops in loops", expression: `{"body": [1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, [1,2,3,4,5,6,7,8,9,10].all(d, [1,2,3,4,5,6,7,8,9,10].all(e, [1,2,3,4,5,6,7,8,9,10].all(f, true))))))}`, want: "too many steps"},
		{name: "loops that grow", expression: `{"body": [1,2,3,4,5,6,7,8,9,10].map(a, [1,2,3,4,5,6,7,8,9,10].map(b, [1,2,3,4,5,6,7,8,9,10].map(c, [1,2,3,4,5,6,7,8,9,10].map(d, [1,2,3,4,5,6,7,8,9,10].map(e, event.data.items)))))}`, want: "too many steps"},
		{name: "no map", expression: `[event.data]`, want: "must be a map"},
		{name: "no body", expression: `{"bdy": 1}`, want: "has no body"},
		{name: "another key", expression: `{"body": 1, "status": 2}`, want: `has "status"`},
		{name: "what the payload has not", expression: `{"body": event.data.nme}`, want: "no such key: nme"},
		{name: "another type", expression: `{"body": event.data.name + 1}`, want: "no such overload"},
		{name: "not a number", expression: `{"body": 0.0 / 0.0}`, want: "not in JSON"},
		{name: "bytes", expression: `{"body": b"a"}`, want: "of type bytes is not in JSON"},
		{name: "a header of Surehook", expression: `{"body": 1, "headers": {"Webhook-Id": "x"}}`, want: "headers.Webhook-Id is set by Surehook"},
		{name: "a header in a header", expression: "{\"body\": 1, \"headers\": {\"X-A\": \"x\\r\\nX-B: y\"}}", want: "headers.X-A must be"},
		{name: "a header that is a number", expression: `{"body": 1, "headers": {"X-A": 1}}`, want: "must be a string"},
		{name: "a content type in a content type", expression: "{\"body\": 1, \"content_type\": \"a/b\\r\\nX-B: y\"}", want: "content_type must be"},
		{name: "a key twice", expression: `{"body": {1: 2, "1": 3}}`, want: `the key "1" twice`},
	}
	var s shape.Shaper
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got, err := s.Shape(&hook.Endpoint{Transformation: tt.expression}, event(payload))
			problem, ok := errors.AsType[*shape.Error](err)
			if !ok || !strings.Contains(problem.Problem, tt.want) {
				t.Errorf("Shape() = %.200s, %v; want %q", got.Body, err, tt.want)
			}
		})
	}
}

// FuzzShape looks for expressions and payloads that panic, or that leave the bounds.
func FuzzShape(f *testing.F) {
	f.Add(`{"body": event.data}`, payload)
	f.Add(`{"body": event.data.items.map(i, i.sku), "headers": {"X": event.type}, "content_type": "text/html"}`, payload)
	f.Add(`cel.bind(a, event.data, {"body": [a, json(a)].map(x, x)})`, `1e999`)
	f.Add(`{"body": {"a": event.data.?b[?0].orValue(1)}}`, `[{"b": 18446744073709551616}]`)
	var s shape.Shaper
	f.Fuzz(func(t *testing.T, expression, payload string) {
		e := &hook.Endpoint{Transformation: expression}
		got, err := s.Shape(e, event(payload))
		if err != nil {
			if _, ok := errors.AsType[*shape.Error](err); !ok {
				t.Errorf("Shape() = %v; want a *shape.Error", err)
			}
			return
		}
		if len(got.Body) > shape.MaxBody || got.Version != shape.Version(e) || len(hook.ValidateHeaders(got.Headers)) > 0 {
			t.Errorf("Shape() = %+v", got)
		}
		again, err := s.Shape(e, event(payload))
		if diff := cmp.Diff(got, again); err != nil || diff != "" {
			t.Errorf("Shape() again = %v (-first +second):\n%s", err, diff)
		}
	})
}
