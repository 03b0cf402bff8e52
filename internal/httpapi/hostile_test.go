package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/proof/work"
)

// No hostile body breaks a route, and each is compared with a body that the route accepts, of its size.
// BenchmarkHostileBodies measures their CPU time.
func TestHostileBodies(t *testing.T) {
	t.Parallel()

	for _, w := range worlds() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()

			b := w.setup(t)
			for _, tt := range w.hostile {
				valid := w.comparable(tt)
				if len(valid) < len(tt.body)*9/10 {
					t.Errorf("%s: the valid body has %d bytes, the hostile one %d", tt.name, len(valid), len(tt.body))
				}
				if got := b.try(t, admin, w.method, w.path, valid); got.Code >= 400 {
					t.Errorf("%s: the valid body gets %d %.300s", tt.name, got.Code, got.Body)
				}
				if got := b.try(t, admin, w.method, w.path, tt.body); got.Code >= 500 {
					t.Errorf("%s: %s %s = %d %.300s", tt.name, w.method, w.path, got.Code, got.Body)
				}
			}
		})
	}
}

// BenchmarkHostileBodies reports the ratio of the time of the worst body to that of the valid one of its
// size, and fails past five times. Most take less than twice as long. A search whose time is quadratic in
// the size of the body would take some hundred times as long.
func BenchmarkHostileBodies(b *testing.B) {
	for _, w := range worlds() {
		b.Run(w.name, func(b *testing.B) {
			api := w.setup(b)
			ask := func(body string) func() { return func() { api.try(b, admin, w.method, w.path, body) } }
			worst := work.Report(b, len(w.hostile), func(i int) (string, float64) {
				row := w.hostile[i]
				return row.name, work.Ratio(ask(row.body), ask(w.comparable(row)))
			})
			if worst > 5 {
				b.Errorf("%.1f times; want at most 5", worst)
			}
		})
	}
}

// world is a route with its state.
type world struct {
	name, method, path string
	prepare            func(testing.TB, *bundle)
	valid              func(size int) string
	hostile            []body
}

func (w world) setup(tb testing.TB) *bundle {
	tb.Helper()

	b := setup(tb)
	if w.prepare != nil {
		w.prepare(tb, b)
	}
	return b
}

// comparable returns the valid body to compare the hostile one with.
func (w world) comparable(hostile body) string {
	if hostile.valid != "" {
		return hostile.valid
	}
	return w.valid(len(hostile.body))
}

// body is a hostile body. valid is the valid body to compare it with, in place of the world's.
type body struct{ name, body, valid string }

const (
	eventSize = hook.MaxPayload
	batchSize = 1 << 20 // a third of the limit, to keep the test short
	largest   = hook.MaxBatchBytes - 10<<10
	smallSize = 63 << 10
)

// order is a usual payload of about this size.
func order(size int) string {
	const line = `{"sku":"a-1001","name":"Blue jar","count":3,"price":12.5,"gift":false},`
	return `{"order":{"amount":120,"country":"DE","lines":[` + strings.Repeat(line, max(size-70, 0)/len(line)) + `{"sku":"z"}]}}`
}

func event(payload string) string { return `{"event_type":"order.paid","payload":` + payload + `}` }

func usualEvent(size int) string { return event(order(size)) + strings.Repeat(" ", 100) }

func usualBatch(size int) string { return batch(event(order(size/100 - 60))) }

func batch(event string) string {
	return `{"events":[` + strings.Repeat(event+",", 99) + event + `]}`
}

func fill(size int, s string) string { return strings.Repeat(s, size/len(s)) }

// batchOf is a batch of 12 events, each with an array of the items, filled up with white space to
// the largest size.
func batchOf(eventType string, n int, item string) string {
	e := strings.Replace(event(`[`+strings.Repeat(item, n-100)+`1]`), "order.paid", eventType, 1)
	body := `{"events":[` + strings.Repeat(e+",", 11) + e + `]}`
	return body + fill(largest-len(body), " ")
}

func nest(open, inner, end string, n int) string {
	return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
}

func worlds() []world {
	return []world{
		{name: "event", method: "POST", path: eventsURL, valid: usualEvent, hostile: hostileEvents()},
		{name: "batch", method: "POST", path: eventsURL + "/batch", valid: usualBatch, hostile: hostileBatches()},
		{
			name: "batch with filters", method: "POST", path: eventsURL + "/batch", valid: usualBatch, prepare: usualFilters,
			hostile: []body{
				{name: "numbers of digits", body: batch(event(`{"order":{"amount":` + fill(batchSize/100-100, "1") + `}}`))},
				{name: "long numbers", body: batch(event(`{"order":{"amount":[` + fill(batchSize/100-1000, fill(800, "9")+"e-900,") + `1]}}`))},
				{name: "huge exponents", body: batch(event(`{"order":{"amount":[` + fill(batchSize/100-100, "1e999999,") + `1]}}`))},
				{name: "long texts", body: batch(event(`{"order":{"country":"` + fill(batchSize/100-100, "é") + `"}}`))},
				{name: "values", body: batch(event(`{"order":{"amount":[` + fill(batchSize/100-100, "1,") + `1]}}`))},
				{name: "arrays", body: batch(event(`{"order":{"amount":[` + fill(batchSize/100-100, "[1],") + `1]}}`))},
				{name: "nested arrays", body: batch(event(`{"order":{"amount":` + nest("[", "1", "]", 9000) + `}}`))},
				{name: "objects", body: batch(event(`{"order":{"lines":[` + fill(batchSize/100-100, `{},`) + `{}]}}`))},
				{name: "other types", body: strings.ReplaceAll(batch(event(`{"order":{"amount":[`+fill(batchSize/100-100, "1,")+`1]}}`)), "order.paid", "user.paid")},
			},
		},
		{
			name: "batch with hostile filters", method: "POST", path: eventsURL + "/batch", valid: usualBatch, prepare: hostileFilters,
			hostile: []body{
				{name: "arrays", body: batch(event(`{"order":{"amount":[` + fill(batchSize/100-100, "[1],") + `1]}}`))},
				{name: "texts", body: batch(event(`{"order":{"country":[` + fill(batchSize/100-3000, `"`+fill(2000, "k")+`",`) + `1]}}`))},
				{name: "long numbers", body: batch(event(`{"order":{"amount":[` + fill(batchSize/100-1000, fill(800, "9")+"e-900,") + `1]}}`))},
				{name: "objects", body: batch(event(`{"order":{"lines":[` + fill(batchSize/100-100, `{"sku":"x"},`) + `{}]}}`))},
			},
		},
		{
			name: "batch with a schema", method: "POST", path: eventsURL + "/batch", valid: usualBatch, prepare: usualSchema,
			hostile: []body{
				{name: "wrong lines", body: batch(event(`{"order":{"lines":[` + fill(batchSize/100-100, `1,`) + `1]}}`)), valid: batch(event(`{"order":{"numbers":[` + fill(batchSize/100-100, `1,`) + `1]}}`))},
				{name: "unknown names", body: batch(event(`{"order":{"lines":[{` + many(`"x%d":1`, batchSize/1400) + `}]}}`)), valid: batch(event(`{"order":{"note":{` + many(`"x%d":1`, batchSize/1400) + `}}}`))},
				{name: "long texts", body: batch(event(`{"order":{"country":"` + fill(batchSize/100-100, "é") + `"}}`))},
				{name: "long numbers", body: batch(event(`{"order":{"lines":[` + fill(batchSize/100-100, `{"count":`+fill(90, "9")+"e-390},") + `{}]}}`))},
				{name: "huge exponents", body: batch(event(`{"order":{"amount":` + fill(batchSize/100-100, "9") + `}}`))},
				{name: "empty lines", body: batch(event(`{"order":{"lines":[` + fill(batchSize/100-100, `{},`) + `{}]}}`)), valid: batch(event(`{"order":{"numbers":[` + fill(batchSize/100-100, `1,`) + `1]}}`))},
			},
		},
		{
			name: "event with hostile schemas", method: "POST", path: eventsURL, valid: func(int) string { return numbers(eventSize - 200) }, prepare: hostileSchemas,
			hostile: []body{
				{name: "pattern", body: strings.Replace(event(`"`+fill(eventSize-100, "a")+`"`), "order.paid", "pattern", 1)},
				{name: "names", body: strings.Replace(event(`{`+many(`"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa%d":1`, 3000)+`}`), "order.paid", "names", 1)},
				{name: "multiple", body: strings.Replace(event(`[`+fill(eventSize-200, fill(90, "9")+"e-390,")+`1]`), "order.paid", "multiple", 1)},
				{name: "enum", body: strings.Replace(event(`[`+fill(eventSize-200, fill(90, "9")+"e-390,")+`1]`), "order.paid", "enum", 1)},
				{name: "unique", body: strings.Replace(event(`[`+fill(eventSize-200, "["+fill(900, "1e-390,")+"1],")+`1]`), "order.paid", "unique", 1)},
				{name: "unevaluated", body: strings.Replace(event(`{`+many(`"x%d":1`, 3000)+`}`), "order.paid", "unevaluated", 1)},
				{name: "chain", body: strings.Replace(event(`[`+fill(eventSize-200, "1,")+`1]`), "order.paid", "chain", 1)},
				{name: "oneOf", body: strings.Replace(event(`[`+fill(eventSize-200, "1,")+`1]`), "order.paid", "oneOf", 1)},
				{name: "errors", body: strings.Replace(event(`[`+fill(eventSize-200, "1,")+`1]`), "order.paid", "errors", 1)},
				{name: "unevaluated items", body: strings.Replace(event(`[`+fill(eventSize-200, "1,")+`1]`), "order.paid", "items", 1)},
				{name: "pairs", body: strings.Replace(event(`[`+strings.Repeat(`[`+fill(eventSize/20-100, "1,")+`1],`, 19)+`[1]]`), "order.paid", "pairs", 1)},
				{name: "equal texts", body: strings.Replace(event(`[`+fill(eventSize-200, `"a",`)+`1]`), "order.paid", "pairs", 1)},
				{name: "a constant", body: strings.Replace(event(`[`+strings.Repeat(`[`+many(`%d`, 3900)+`],`, 13)+`1]`), "order.paid", "constant", 1)},
				{name: "property names", body: strings.Replace(event(`{`+many(`"abxabxabxabxabxabxabxabx%d":1`, 6000)+`}`), "order.paid", "property", 1)},
				{name: "content", body: strings.Replace(event(`"`+fill(eventSize-100, "W1td")+`"`), "order.paid", "content", 1)},
				{name: "conditions", body: strings.Replace(event(`[`+fill(eventSize-200, "1,")+`1]`), "order.paid", "conditions", 1)},
				{name: "dynamic references", body: strings.Replace(event(`[`+fill(eventSize-200, nest("[", "1", "]", 50)+",")+`1]`), "order.paid", "dynamic", 1)},
				{name: "contained", body: strings.Replace(event(`[`+fill(eventSize-200, "1,")+`1]`), "order.paid", "contained", 1)},
				{name: "dependent schemas", body: strings.Replace(event(`{`+many(`"x%d":1`, 3000)+`}`), "order.paid", "dependent", 1)},
				{name: "short numbers", body: strings.Replace(event(`[`+fill(eventSize*14/25, "1,")+`1]`), "order.paid", "numbers", 1)},
				{name: "all bounds of a number", body: strings.Replace(event(`[`+fill(eventSize*7/20, "3,")+`1]`), "order.paid", "bounds", 1)},
				{name: "short numbers in an enumeration", body: strings.Replace(event(`[`+fill(1000, "399,")+`1]`), "order.paid", "short", 1)},
				{name: "wrong types", body: strings.Replace(event(`[`+fill(eventSize-200, "1,")+`1]`), "order.paid", "types", 1)},
				{name: "few wrong types", body: strings.Replace(event(`[`+fill(1000, "1,")+`1]`), "order.paid", "types", 1)},
				{name: "a long pattern", body: strings.Replace(event(`"`+fill(3500, "a")+`"`), "order.paid", "pattern", 1)},
				{name: "additional", body: strings.Replace(event(`{`+many(`"x%d":1`, 12000)+`}`), "order.paid", "additional", 1)},
			},
		},
		{
			name: "batch with hostile schemas", method: "POST", path: eventsURL + "/batch", valid: usualBatch, prepare: hostileSchemas,
			hostile: []body{ // of the largest size, because the bound of a request does not depend on its size
				{name: "short numbers", body: batchOf("numbers", 70_000, "1,")},
				{name: "all bounds of a number", body: batchOf("bounds", 45_000, "3,")},
				{name: "short numbers in an enumeration", body: batchOf("short", 250, "399,")},
				{name: "wrong types", body: batchOf("types", 240, "1,")},
				{name: "chain", body: batchOf("chain", 1000, "1,")},
				{name: "contained", body: batchOf("contained", largest/12/2, "1,")},
			},
		},
		{name: "endpoint", method: "PATCH", path: endpoints + "/crm", prepare: crm, valid: usualEndpoint, hostile: hostileEndpoints()},
		{name: "filter", method: "POST", path: endpoints + "/crm/preview", prepare: crm, valid: usualFilterTest, hostile: hostileFilterTests()},
		{name: "event type", method: "PUT", path: "/v1/event-types/order.paid", valid: usualType, hostile: hostileTypes()},
	}
}

func crm(tb testing.TB, b *bundle) {
	tb.Helper()

	b.create(tb, `{"url":"https://example.com/hook","uid":"crm"}`)
}

func usualFilters(tb testing.TB, b *bundle) {
	tb.Helper()

	for i := range 100 {
		b.filtered(tb, i, fmt.Sprintf(`{"payload":{"order":{"amount":[{"numeric":[">",500]},{"numeric":["<",0]}],"country":[{"prefix":{"equals-ignore-case":"us"}}],"lines":{"sku":["none-%d"]}}}}`, i))
	}
}

func hostileFilters(tb testing.TB, b *bundle) {
	tb.Helper()

	text := fill(300, "k")
	for i := range hook.DefaultEndpoints {
		b.filtered(tb, i, `{"payload":{"order":{"amount":[`+strings.TrimSuffix(strings.Repeat(`{"numeric":[">",500]},`, 60), ",")+`],`+
			`"country":[{"anything-but":["`+text+`a","`+text+`b"]},{"equals-ignore-case":"`+text+`c"},{"prefix":{"equals-ignore-case":"`+text+`d"}}],`+
			`"lines":{"sku":[{"exists":false}]}}}}`)
	}
}

// filtered makes an endpoint with the filter.
func (b *bundle) filtered(tb testing.TB, i int, filter string) {
	tb.Helper()

	id := hook.NewEndpointID()
	e := hook.Endpoint{ID: id, Tenant: "acme", URL: fmt.Sprint("https://example.com/", i), EventTypes: []string{"order.*"}, Status: hook.StatusActive, Filter: []byte(filter)}
	if err := b.store.CreateEndpoint(tb.Context(), e); err != nil {
		tb.Fatal(err)
	}
}

func (b *bundle) checked(tb testing.TB, name, schema string) {
	tb.Helper()

	body := `{"validation":"warn","schema":` + schema + `}`
	if w := b.try(tb, admin, http.MethodPut, "/v1/event-types/"+name, body); w.Code >= 300 {
		tb.Fatalf("PUT %s = %d %.500s", name, w.Code, w.Body)
	}
}

const usualSchemaOf = `{"type":"object","properties":{"order":{"type":"object","properties":{"amount":{"type":"number","minimum":0},"country":{"type":"string","pattern":"^[A-Z]{2}$"},"numbers":{"items":{"type":"integer","minimum":0}},` +
	`"lines":{"type":"array","items":{"type":"object","properties":{"sku":{"type":"string","maxLength":50},"name":{"type":"string"},"count":{"type":"integer","minimum":1},` +
	`"price":{"type":"number","minimum":0},"gift":{"type":"boolean"}},"required":["sku"],"additionalProperties":false}}}}}}`

func usualSchema(tb testing.TB, b *bundle) {
	tb.Helper()

	b.checked(tb, "order.paid", usualSchemaOf)
}

// numbers is an order event with many numbers, the slowest values of a usual schema.
func numbers(size int) string {
	const line = `{"id":"ord_1","total":5,"lines":[1,2,3,4,5,6,7,8,9],"email":"a@example.com"},`
	return `{"event_type":"orders","payload":[` + strings.Repeat(line, size/len(line)) + `{"id":"ord_1","total":5}]}` + fill(100, " ")
}

func hostileSchemas(tb testing.TB, b *bundle) {
	tb.Helper()

	usualSchema(tb, b)
	number := fill(90, "7") + "e-395"
	refs := func(inner string) string {
		var defs []string
		for i := range 120 {
			defs = append(defs, fmt.Sprintf(`"a%d":{"$ref":"#/$defs/a%d"}`, i, i+1))
		}
		return fmt.Sprintf(`"$defs":{%s,"a120":%s}`, strings.Join(defs, ","), inner)
	}
	for name, schema := range map[string]string{
		"pattern":     `{"allOf":[` + many(`{"pattern":"[a-z]{0,500}[a-z]{0,500}%d"}`, 3) + `]}`,
		"names":       `{"patternProperties":{` + many(`"(a|b|a)*(.*.*)*%d$":true`, 250) + `}}`,
		"multiple":    `{"items":{"allOf":[` + strings.TrimSuffix(strings.Repeat(`{"multipleOf":`+number+`},`, 100), ",") + `]}}`,
		"enum":        `{"items":{"enum":[` + strings.TrimSuffix(strings.Repeat(number+`,`, 300), ",") + `]}}`,
		"unique":      `{"items":{"uniqueItems":true}}`,
		"unevaluated": `{"unevaluatedProperties":true,"allOf":[` + strings.TrimSuffix(strings.Repeat(`{"type":"string"},`, 1000), ",") + `]}`,
		"chain":       `{"items":{"$ref":"#/$defs/a0"},` + refs("true") + `}`,
		"oneOf":       `{"items":{"oneOf":[` + many(`{"minimum":%d}`, 500) + `]}}`,
		"orders": `{"items":{"type":"object","required":["id","total"],"properties":{"id":{"type":"string","pattern":"^ord_"},"total":{"$ref":"#/$defs/amount"},` +
			`"lines":{"type":"array","items":{"$ref":"#/$defs/amount"}},"email":{"type":"string"}},"additionalProperties":false},"$defs":{"amount":{"type":"integer","minimum":0}}}`,
		"numbers":    `{"items":{"type":"integer","minimum":0}}`,
		"short":      `{"items":{"enum":[` + many(`%d`, 400) + `]}}`,
		"bounds":     `{"items":{"type":"integer","minimum":0,"maximum":9,"exclusiveMinimum":0,"exclusiveMaximum":9,"multipleOf":1}}`,
		"types":      `{"items":{"anyOf":[` + many(`{"type":["object","null"],"minimum":%d}`, 500) + `]}}`,
		"errors":     `{"items":false}`,
		"items":      `{"unevaluatedItems":{"type":"integer"},"anyOf":[{"prefixItems":[true]},{"contains":{"minimum":5}}]}`,
		"pairs":      `{"uniqueItems":true,"items":{"uniqueItems":true}}`,
		"constant":   `{"items":{"const":[` + many(`%d`, 3900) + `]}}`,
		"property":   `{"propertyNames":{"pattern":"^(a|b|x)*([a-z]{0,200})*q$"}}`,
		"content":    `{"contentEncoding":"base64","contentMediaType":"application/json","minLength":1}`,
		"conditions": `{"items":` + nest(`{"if":{"minimum":5},"then":false,"else":`, "true", "}", 50) + `}`,
		"dynamic":    `{"$dynamicAnchor":"n","items":{"$dynamicRef":"#n"},"anyOf":[{"type":"array"},{"type":"integer"}]}`,
		"contained":  `{"contains":{"type":"integer"},"maxContains":1}`,
		"dependent":  `{"dependentSchemas":{` + many(`"x%d":{"minProperties":5}`, 1000) + `}}`,
		"additional": `{"allOf":[` + strings.TrimSuffix(strings.Repeat(`{"additionalProperties":false},`, 20), ",") + `]}`,
	} {
		b.checked(tb, name, schema)
	}
}

func usualEndpoint(size int) string {
	entries := func(n int, format string) string { return many(format, n) }
	body := `{"url":"https://example.com/hook","description":"` + fill(1000, "d") + `","event_types":[` + entries(99, `"order.paid.%d"`) + `],` +
		`"metadata":{` + entries(50, `"key%d":"`+fill(500, "v")+`"`) + `},"headers":{` + entries(20, `"X-Own-%d":"`+fill(1000, "v")+`"`) + `},` +
		`"filter":{"payload":{"a":[` + entries(90, `"value-%d"`) + `]}},"retry":{"schedule":["1s","2s"]}`
	return body + fill(max(0, min(size, smallSize)-len(body)), " ") + `}`
}

// hostileEndpoints are bodies that change an endpoint.
func hostileEndpoints() []body {
	const url = `{"url":"https://example.com/",`
	return []body{
		{name: "unknown names", body: url + many(`"x%d":1`, smallSize/14) + `}`},
		{name: "20 unknown names", body: strings.TrimSuffix(usualEndpoint(smallSize-1000), "}") + `,` + many(`"x%d":1`, 20) + `}`},
		{name: "event types", body: url + `"event_types":[` + fill(smallSize-100, `"a b",`) + `"x"]}`},
		{name: "wrong event types", body: url + `"event_types":[` + fill(smallSize-100, `1,`) + `"x"]}`},
		{name: "metadata", body: url + `"metadata":{` + many(`"x%d":"\u0001"`, smallSize/24) + `}}`},
		{name: "headers", body: url + `"headers":{` + many(`"x%d":"\u0001"`, smallSize/24) + `}}`},
		{name: "reserved headers", body: url + `"headers":{` + many(`"webhook-%d":"a"`, smallSize/24) + `}}`},
		{name: "statuses", body: url + `"retry_on":[` + fill(smallSize-100, "9,") + `1],"give_up_on":[1]}`},
		{name: "a schedule", body: url + `"retry":{"schedule":[` + fill(smallSize-100, `"9999h",`) + `"1s"]}}`},
		{name: "schemes", body: url + `"signature_schemes":[` + fill(smallSize-100, `"x",`) + `"v1"]}`},
		{name: "a number of digits", body: url + `"rate_per_second":` + fill(smallSize-100, "9") + `}`},
		{name: "a whole number of digits", body: url + `"max_in_flight":` + fill(smallSize-100, "9") + `}`},
		{name: "a huge exponent", body: url + `"rate_per_second":1e` + fill(smallSize-100, "9") + `}`},
		{name: "a long URL", body: `{"url":"https://` + fill(smallSize-100, "a.") + `com/"}`},
		{name: "a URL of escapes", body: `{"url":"https://example.com/` + fill(smallSize-100, "%41") + `"}`},
		{name: "certificates", body: url + `"tls":{"ca":"` + fill(smallSize-100, `-----BEGIN CERTIFICATE-----\n`) + `"}}`},
		{name: "a filter of names", body: url + `"filter":{"payload":{` + many(`"x%d":[1]`, smallSize/14) + `}}}`},
		{name: "a nested filter", body: url + `"filter":` + nest(`{"payload":`, "[1]", "}", 3000) + `}`},
		{name: "a filter of $or", body: url + `"filter":` + nest(`{"$or":[`, `{"type":["a"]},{"type":["b"]}`, `]}`, 4) + fill(smallSize-200, " ") + `}`},
		{name: "a key of coalescing", body: url + `"coalesce":{"window":"1s","key":"` + fill(smallSize-100, "/~0") + `"}}`},
	}
}

func usualFilterTest(size int) string {
	return `{"event_type":"order.paid","filter":{"payload":{"order":{"lines":{"sku":["none"],"count":[{"numeric":[">",5]}]}}}},"payload":` + order(size) + `}`
}

func hostileFilterTests() []body {
	test := func(filter, payload string) string {
		return `{"event_type":"a","filter":` + filter + `,"payload":` + payload + `}`
	}
	return []body{
		{name: "numbers", body: test(`{"payload":{"a":[`+many(`{"numeric":[">",%d]}`, 99)+`]}}`, `{"a":-`+fill(eventSize-3000, "9")+`}`)},
		{name: "long beginnings", body: test(`{"payload":{"a":[{"prefix":{"equals-ignore-case":"`+fill(4000, "\u212a")+`"}}]}}`, `{"a":[`+fill(eventSize-9000, `"`+fill(4200, "k")+`",`)+`1]}`)},
		{name: "absent", body: test(`{"payload":{`+many(`"a%d":[{"exists":false}]`, 99)+`}}`, `{"a":[`+fill(eventSize-9000, `{"a":[1]},`)+`1]}`), valid: test(`{"payload":{"a":[0]}}`, `{"a":[`+fill(eventSize-9000, `{"a":[1]},`)+`1]}`)},
		{name: "alternatives", body: test(`{"$or":[`+many(`{"payload":{"a":["%d"]}}`, 45)+`]}`, `{"a":[`+fill(eventSize-9000, `[1],`)+`1]}`), valid: test(`{"payload":{"a":[0]}}`, `{"a":[`+fill(eventSize-9000, `[1],`)+`1]}`)},
		{name: "a large filter", body: test(`{"payload":{"a":[`+fill(eventSize-300, `"x",`)+`1]}}`, `1`)},
		{name: "a nested filter", body: test(nest(`{"payload":`, "[1]", "}", 5000)+fill(eventSize-99000, " "), `1`)},
	}
}

// usualType is an event type with 500 properties.
func usualType(size int) string {
	body := `{"description":"d","schema":{"type":"object","properties":{` + many(`"property%d":{"type":"string","maxLength":50}`, 480) + `}},"example":{"other":"` + fill(9000, "x") + `"}`
	return body + fill(max(0, min(size, smallSize)-len(body)), " ") + `}`
}

func hostileTypes() []body {
	schema := func(s string) string { return `{"schema":` + s + `,"example":[1]}` }
	return []body{
		{name: "subschemas", body: schema(`{"allOf":[` + many(`{"minimum":%d}`, 1300) + `]}`)},
		{name: "references", body: schema(`{"$defs":{` + many(`"a%d":{"items":{"$ref":"#/$defs/a0"}}`, 700) + `}}`)},
		{name: "wrong types", body: schema(`{"allOf":[` + fill(30000, `{"type":1},`) + `true]}`)},
		{name: "wrong keywords", body: schema(`{"properties":{` + many(`"a%d":1`, 2000) + `}}`)},
		{name: "large patterns", body: schema(`{"allOf":[` + fill(28000, `{"pattern":"[^a]{1000}"},`) + `true]}`)},
		{name: "a pattern of repetitions", body: schema(`{"pattern":"` + fill(30000, "[ab]{0,1000}") + `"}`)},
		{name: "nested repetitions", body: schema(`{"pattern":"((((a{9}){9}){9}){9}){9}"}`)},
		{name: "a wrong pattern", body: schema(`{"pattern":"` + fill(30000, "(") + `"}`)},
		{name: "folded classes", body: schema(`{"pattern":"(?i)` + fill(30000, `[B-\\x{1e942}]`) + `"}`)},
		{name: "classes", body: schema(`{"pattern":"` + fill(30000, `[^\\pL\\pN]`) + `"}`)},
		{name: "pattern properties", body: schema(`{"patternProperties":{` + many(`"^[^a]%d$":true`, 1500) + `}}`)},
		{name: "an enumeration", body: schema(`{"items":{"enum":[` + many(`%d`, 3900) + `]}}`)},
		{name: "a large enumeration", body: schema(`{"items":{"enum":[` + many(`%d`, 6000) + `]}}`)},
		{name: "equal values", body: schema(`{"items":{"enum":[` + fill(6000, `1,`) + `1]}}`)},
		{name: "long numbers", body: schema(`{"items":{"enum":[` + fill(30000, fill(90, "9")+"e-390,") + `1]}}`)},
		{name: "too deep", body: schema(nest(`{"not":`, "true", "}", 4000))},
		{name: "a circle", body: schema(`{"$defs":{` + many(`"a%d":{"allOf":[{"$ref":"#/$defs/a1"},{"$ref":"#/$defs/a2"}]}`, 400) + `},"$ref":"#/$defs/a0"}`)},
		{name: "doubled references", body: `{"schema":` + chainOf("anyOf", 60) + `,"example":{}}`},
		{name: "anchors", body: schema(`{"$defs":{` + many(`"a%d":{"$dynamicAnchor":"x%[1]d"}`, 700) + `},"$dynamicRef":"#x1"}`)},
		{name: "a long reference", body: schema(`{"$ref":"#/` + fill(30000, "%41/") + `"}`)},
		{name: "many unknown references", body: schema(`{"allOf":[` + many(`{"$ref":"#/$defs/a%d"}`, 900) + `]}`)},
		{name: "a reference of names", body: schema(`{"$ref":"#` + fill(30000, "/~1") + `"}`)},
		{name: "nested groups", body: schema(`{"pattern":"` + nest("(", "a", ")", 900) + `"}`)},
		{name: "nested loops", body: schema(`{"pattern":"` + nest("(", "a", "{1})", 900) + `"}`)},
		{name: "alternatives", body: schema(`{"pattern":"` + fill(30000, "a|") + `"}`)},
		{name: "named classes", body: schema(`{"pattern":"` + fill(30000, "[[:^alpha:]]") + `"}`)},
		{name: "a large identifier", body: schema(`{"$id":"https://example.com/` + fill(30000, "../") + `","$ref":"#/"}`)},
		{name: "conditions", body: schema(nest(`{"if":true,"then":`, "true", "}", 60))},
		{name: "formats", body: schema(`{"allOf":[` + fill(28000, `{"format":"regex"},`) + `true]}`)},
		{name: "required", body: schema(`{"required":[` + many(`"r%d"`, 3000) + `]}`)},
		{name: "dependencies", body: schema(`{"dependentRequired":{` + many(`"a%d":["b"]`, 1000) + `}}`)},
	}
}

func chainOf(keyword string, n int) string {
	var defs []string
	for i := range n {
		defs = append(defs, fmt.Sprintf(`"a%d":{"%s":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]}`, i, keyword, i+1, i+1))
	}
	return fmt.Sprintf(`{"items":{"$ref":"#/$defs/a0"},"$defs":{%s,"a%d":{"minimum":5}}}`, strings.Join(defs, ","), n)
}

// hostileEvents are bodies of posts. A row with its own valid body has as many names, escapes,
// objects or values in it as the hostile body: the decoder looks for repeated names, so many
// names take about four times as long as few names of the same total size.
func hostileEvents() []body {
	big := order(eventSize - 4<<10)
	return []body{
		{name: "20 unknown names after a payload", body: `{"event_type":"a","payload":` + big + `,` + many(`"x%d":1`, 20) + `}`},
		{name: "20 unknown names before a payload", body: `{` + many(`"x%d":1`, 20) + `,"event_type":"a","payload":` + big + `}`},
		{name: "unknown names only", body: `{` + many(`"x%d":1`, eventSize/14) + `}`},
		{name: "a long unknown name", body: `{"` + fill(eventSize, "x") + `":1}`},
		{name: "a long unknown name with escapes", body: `{"` + fill(eventSize-100, `\u0041`) + `":1}`, valid: event(`{"` + fill(eventSize-100, `\u0041`) + `":1}`)},
		{name: "an unknown name of slashes", body: `{"` + fill(eventSize, `/~`) + `":1}`},
		{name: "a long name twice", body: `{"` + fill(eventSize/2, "x") + `":1,"` + fill(eventSize/2, "x") + `":1}`},
		{name: "the last of many names twice", body: event(`{` + many(`"x%d":1`, eventSize/16) + `,"x0":2}`), valid: event(`{` + many(`"x%d":1`, eventSize/16) + `,"x":2}`)},
		{name: "nested too deep", body: event(nest("[", "", "]", eventSize/2))},
		{name: "empty objects", body: event(`[` + fill(eventSize-4, "{},") + `{}]`)},
		{name: "a number of digits", body: event(fill(eventSize-2, "1"))},
		{name: "a huge exponent", body: event(`[` + fill(eventSize-20, "1e999999,") + `1]`)},
		{name: "escapes", body: event(`"` + fill(eventSize-4, `\u00e9`) + `"`)},
		{name: "surrogates", body: event(`"` + fill(eventSize-12, `\ud83d\ude00`) + `"`)},
		{name: "half a surrogate pair at the end", body: event(`"` + fill(eventSize-12, `\ud83d\ude00`) + `\ud83d"`)},
		{name: "invalid UTF-8 at the end", body: event(`"` + fill(eventSize-12, "é") + "\xff\"")},
		{name: "a payload cut off", body: event(big)[:eventSize-10<<10]},
		{name: "white space", body: `{"event_type":"a","payload":1` + fill(eventSize, " ") + `}`},
		{name: "a long key", body: `{"event_type":"a","payload":1,"idempotency_key":"` + fill(eventSize, "k") + `"}`},
		{name: "a long type", body: `{"payload":1,"event_type":"` + fill(eventSize, "k") + `"}`},
		{name: "a long duration", body: `{"event_type":"a","payload":1,"retain_for":"` + fill(eventSize, "1h") + `"}`},
	}
}

// hostileBatches are bodies of batches.
func hostileBatches() []body {
	return []body{
		{name: "an unknown name in each event", body: batch(`{"x":1,` + event(order(batchSize/100 - 80))[1:])},
		{name: "unknown names in each event", body: batch(`{` + many(`"x%d":1`, 2500) + `}`)},
		{name: "20 unknown names after the events", body: strings.TrimSuffix(batch(event(order(batchSize/100-80))), "}") + `,` + many(`"x%d":1`, 20) + `}`},
		{name: "a wrong type in each event", body: batch(`{"event_type":1,"payload":` + order(batchSize/100-80) + `}`)},
		{name: "a name twice in the last event", body: strings.TrimSuffix(batch(event(order(batchSize/100-80))), "}]}") + `,"x":1,"x":2}]}`},
		{name: "events nested as deep as possible", body: `{"events":[` + strings.TrimSuffix(strings.Repeat(event(nest(`{"a":`, "1", "}", 9990))+",", batchSize/60_100), ",") + `]}`, valid: batch(event(`[` + fill(batchSize/100-50, `{"a":1},`) + `1]`))},
		{name: "wrong events", body: `{"events":[` + fill(batchSize-20, "1,") + `1]}`},
		{name: "empty events", body: `{"events":[` + fill(batchSize-20, "{},") + `{}]}`},
		{name: "null events", body: `{"events":[` + fill(batchSize-20, "null,") + `{}]}`},
	}
}
