package filter_test

import (
	"strings"
	"testing"

	"surehook.example/surehook/internal/rule/filter"
)

const instance = `{"state":"running","x-limit":301.8,"c-count":5,"d-count":7,"nothing":null,"empty":"","ready":true,` +
	`"source":{"ip":"10.0.0.1"},"arns":["arn:1","arn:2"],"file":"image.PNG","none":[],` +
	`"lines":[{"sku":"a","n":1},{"sku":"b","n":2,"gift":true}],"nested":[[1],[2,[3]]],"$type":"x"}`

// The examples follow the documentation of Amazon EventBridge's patterns, for payloads of Surehook.
func TestFilter_Matches(t *testing.T) {
	t.Parallel()

	tests := []struct {
		payload string // of the filter
		want    bool
	}{
		{`{"state":["running"]}`, true},
		{`{"state":["stopped","running"]}`, true},
		{`{"state":["Running"]}`, false},
		{`{"state":["running"],"c-count":[6]}`, false},
		{`{"missing":["running"]}`, false},
		{`{"empty":[""]}`, true},
		{`{"nothing":[null]}`, true},
		{`{"state":[null]}`, false},
		{`{"ready":[true]}`, true},
		{`{"ready":["true"]}`, false},
		{`{"c-count":[5]}`, true},
		{`{"c-count":[5.0]}`, false}, // values compare as text, as documented by AWS
		{`{"state":[{"prefix":"run"}]}`, true},
		{`{"state":[{"prefix":"un"}]}`, false},
		{`{"c-count":[{"prefix":"5"}]}`, false},
		{`{"file":[{"prefix":{"equals-ignore-case":"IMA"}}]}`, true},
		{`{"file":[{"suffix":".PNG"}]}`, true},
		{`{"file":[{"suffix":".png"}]}`, false},
		{`{"file":[{"suffix":{"equals-ignore-case":".png"}}]}`, true},
		{`{"state":[{"equals-ignore-case":"RUNNING"}]}`, true},
		{`{"state":[{"anything-but":"initializing"}]}`, true},
		{`{"state":[{"anything-but":"running"}]}`, false},
		{`{"x-limit":[{"anything-but":123}]}`, true},
		{`{"x-limit":[{"anything-but":301.80}]}`, false},
		{`{"state":[{"anything-but":["stopped","overloaded"]}]}`, true},
		{`{"x-limit":[{"anything-but":[100,200,301.8]}]}`, false},
		{`{"state":[{"anything-but":{"prefix":"init"}}]}`, true},
		{`{"state":[{"anything-but":{"prefix":"run"}}]}`, false},
		{`{"file":[{"anything-but":{"suffix":".PNG"}}]}`, false},
		{`{"state":[{"anything-but":{"equals-ignore-case":"Running"}}]}`, false},
		{`{"missing":[{"anything-but":"running"}]}`, false},
		{`{"c-count":[{"numeric":[">",0,"<=",5]}],"d-count":[{"numeric":["<",10]}],"x-limit":[{"numeric":["=",3.018e2]}]}`, true},
		{`{"c-count":[{"numeric":[">",5]}]}`, false},
		{`{"c-count":[{"numeric":[">=",5]}]}`, true},
		{`{"c-count":[{"numeric":["<",5]}]}`, false},
		{`{"state":[{"numeric":["<",5]}]}`, false},
		{`{"state":[{"exists":true}]}`, true},
		{`{"nothing":[{"exists":true}]}`, true},
		{`{"missing":[{"exists":true}]}`, false},
		{`{"missing":[{"exists":false}]}`, true},
		{`{"state":[{"exists":false}]}`, false},
		{`{"source":[{"exists":true}]}`, false}, // exists looks at leaves only, as with AWS
		{`{"none":[{"exists":true}]}`, false},
		{`{"none":[{"exists":false}]}`, true},
		{`{"missing":["x",{"exists":false}]}`, true},
		{`{"arns":["arn:2","arn:3"]}`, true},
		{`{"arns":["arn:3"]}`, false},
		{`{"nested":[3]}`, true},
		{`{"lines":{"sku":["b"],"n":[2]}}`, true},
		{`{"lines":{"sku":["a"],"n":[2]}}`, false}, // in the array, no element has both
		{`{"lines":{"gift":[{"exists":false}]}}`, false},
		{`{"lines":{"bow":[{"exists":false}]}}`, true},
		{`{"source":{"ip":["10.0.0.1"]}}`, true},
		{`{"state":{"ip":["10.0.0.1"]}}`, false},
		{`{"$or":[{"c-count":[{"numeric":[">",9]}]},{"d-count":[{"numeric":["<",8]}]},{"x-limit":[1]}]}`, true},
		{`{"$or":[{"c-count":[9]},{"d-count":[9]}]}`, false},
		{`{"state":["stopped"],"$or":[{"c-count":[5]},{"d-count":[9]}]}`, false},
		{`{"$type":["x"]}`, true},
	}
	document := filter.NewDocument("order.paid", []byte(instance))
	for _, tt := range tests {
		f, wrong := filter.Parse([]byte(`{"payload":`+tt.payload+`}`), "filter")
		if len(wrong) > 0 {
			t.Errorf("Parse(%s) = %v", tt.payload, wrong)
			continue
		}
		if got, _ := f.Matches(document); got != tt.want {
			t.Errorf("Matches(%s) = %t; want %t", tt.payload, got, tt.want)
		}
	}
}

// A payload that is not an object matches only filters on the type.
func TestFilter_Matches_otherPayloads(t *testing.T) {
	t.Parallel()

	for _, payload := range []string{`"text"`, `7`, `null`, `true`, `[{"a":1}]`} {
		for pattern, want := range map[string]bool{
			`{"type":["order.paid"]}`:                                                    true,
			`{"type":[{"prefix":"invoice."}]}`:                                           false,
			`{"payload":{"a":[1]}}`:                                                      false,
			`{"payload":{"b":[{"exists":false}]}}`:                                       false,
			`{"$or":[{"type":["order.paid"]},{"payload":{"a":[1]}}]}`:                    true,
			`{"type":["order.paid"],"$or":[{"type":["x"]},{"payload":{"a":["order"]}}]}`: false,
		} {
			f, wrong := filter.Parse([]byte(pattern), "filter")
			if len(wrong) > 0 {
				t.Fatal(wrong)
			}
			if got, _ := f.Matches(filter.NewDocument("order.paid", []byte(payload))); got != want {
				t.Errorf("filter %s matches payload %s: %t; want %t", pattern, payload, got, want)
			}
		}
	}
}

func TestParse_faults(t *testing.T) {
	t.Parallel()

	for pattern, field := range map[string]string{
		`{`:                                     "filter",
		`[]`:                                    "filter",
		`null`:                                  "filter",
		`{} {}`:                                 "filter",
		`{"detail":["a"]}`:                      "filter/detail",
		`{"type":"a"}`:                          "filter/type",
		`{"type":{"a":["b"]}}`:                  "filter/type",
		`{"type":[]}`:                           "filter/type",
		`{"type":[["a"]]}`:                      "filter/type/0",
		`{"type":["a",{}]}`:                     "filter/type/1",
		`{"type":[{"like":"a"}]}`:               "filter/type/0/like",
		`{"type":[{"prefix":1}]}`:               "filter/type/0/prefix",
		`{"type":[{"exists":"yes"}]}`:           "filter/type/0/exists",
		`{"payload":["a"]}`:                     "filter/payload",
		`{"payload":{}}`:                        "filter/payload",
		`{"payload":{"a/b":"x"}}`:               "filter/payload/a~1b",
		`{"payload":{"$or":{}}}`:                "filter/payload/$or",
		`{"$or":[]}`:                            "filter/$or",
		`{"$or":[{"type":["a"]},{}]}`:           "filter/$or/1",
		`{"$or":[{"x":["a"]},{"type":["a"]}]}`:  "filter/$or/0/x",
		`{"payload":{"a":[{"numeric":[">"]}]}}`: "filter/payload/a/0/numeric",
		`{"payload":{"a":[{"numeric":["!",1]}]}}`:                                                       "filter/payload/a/0/numeric/0",
		`{"payload":{"a":[{"numeric":[">","1"]}]}}`:                                                     "filter/payload/a/0/numeric/1",
		`{"payload":{"a":[{"numeric":["<",1,">",0]}]}}`:                                                 "filter/payload/a/0/numeric",
		`{"payload":{"a":[{"numeric":[">",5,"<",5]}]}}`:                                                 "filter/payload/a/0/numeric",
		`{"payload":{"a":[{"anything-but":[]}]}}`:                                                       "filter/payload/a/0/anything-but",
		`{"payload":{"a":[{"anything-but":[true]}]}}`:                                                   "filter/payload/a/0/anything-but/0",
		`{"payload":{"a":[{"anything-but":{"numeric":[1]}}]}}`:                                          "filter/payload/a/0/anything-but",
		`{"payload":{"a":[` + strings.Repeat(`1,`, filter.MaxValues) + `1]}}`:                           "filter/payload/a",
		`{"type":["` + strings.Repeat("a", filter.MaxBytes) + `"]}`:                                     "filter",
		strings.Repeat(`{"payload":`, filter.MaxDepth) + `["a"]` + strings.Repeat(`}`, filter.MaxDepth): "filter",
	} {
		f, wrong := filter.Parse([]byte(pattern), "filter")
		if f != nil || len(wrong) != 1 || wrong[0].Field != field {
			t.Errorf("Parse(%.80s) = %v; want no filter, and one fault of %s", pattern, wrong, field)
		}
	}
}

// Matching stops at MaxSteps, and then the event matches.
func TestFilter_Matches_stopsAtMaxSteps(t *testing.T) {
	t.Parallel()

	long := strings.Repeat("1", 8*filter.MaxSteps)
	tests := []struct {
		name, pattern, payload string
		matches                bool
		steps                  int
	}{
		{"few values", `{"a":[2]}`, `{"a":[` + strings.Repeat(`1,`, 99) + `1]}`, false, 204},
		{"many values", `{"a":[2]}`, `{"a":[` + strings.Repeat(`1,`, filter.MaxSteps) + `1]}`, true, filter.MaxSteps},
		{"a long number", `{"a":[{"numeric":["<",0]},{"numeric":["<",1]},{"numeric":["<",2]}]}`, `{"a":` + long + `}`, false, 7},
		{"a number beyond the range of numbers", `{"a":[{"numeric":[">",0]}]}`, `{"a":1e999999}`, false, 5},
		{"the same number as text", `{"a":[1e999999]}`, `{"a":1e999999}`, true, 5},
		{"a long text", `{"a":[{"prefix":"` + strings.Repeat("y", 640) + `"}]}`, `{"a":"x"}`, false, 15},
		{"a long text in any case", `{"a":[{"equals-ignore-case":"` + strings.Repeat("y", 640) + `"}]}`, `{"a":"x"}`, false, 85},
		{"a long beginning in any case", `{"a":[{"prefix":{"equals-ignore-case":"` + strings.Repeat("y", 640) + `"}}]}`, `{"a":"x"}`, false, 85},
		{"excluded values", `{"a":[{"anything-but":[1,2,3,4,5,6,7,8,9]}]}`, `{"a":9}`, false, 13},
		{"a long name", `{"` + strings.Repeat("n", 640) + `":[1]}`, `{"a":1}`, false, 13},
		{"a long absent name", `{"` + strings.Repeat("n", 640) + `":[{"exists":false}]}`, `{"a":1}`, true, 25},
	}
	for _, tt := range tests {
		f, wrong := filter.Parse([]byte(`{"payload":`+tt.pattern+`}`), "filter")
		if len(wrong) > 0 {
			t.Fatalf("%s: %v", tt.name, wrong)
		}
		matches, steps := f.Matches(filter.NewDocument("a", []byte(tt.payload)))
		if matches != tt.matches || steps != tt.steps {
			t.Errorf("%s: Matches() = %t, %d; want %t, %d", tt.name, matches, steps, tt.matches, tt.steps)
		}
	}
}

// Ids above 2^53 differ although their doubles are equal, and numbers past the bounds meet no
// comparison: Explain names the field.
func TestFilter_comparesNumbersExactly(t *testing.T) {
	t.Parallel()

	long := strings.Repeat("9", 41)
	for _, tt := range []struct {
		pattern, value string
		want, beyond   bool
	}{
		{pattern: `{"numeric":["=",7615917337495251231]}`, value: `7615917337495251230`},
		{pattern: `{"numeric":["=",7615917337495251231]}`, value: `7615917337495251231.0`, want: true},
		{pattern: `{"numeric":[">",9007199254740992,"<=",9007199254740993]}`, value: `9007199254740993`, want: true},
		{pattern: `{"numeric":["=",0.1]}`, value: `0.1000000000000000055511151231257827`},
		{pattern: `{"anything-but":[7615917337495251231]}`, value: `7615917337495251230`, want: true},
		{pattern: `{"anything-but":[7615917337495251231]}`, value: `7615917337495251231`},
		{pattern: `{"numeric":["<",1e400]}`, value: `1e399`, want: true},
		{pattern: `{"numeric":[">",0]}`, value: long, beyond: true},
		{pattern: `{"numeric":["<",1]}`, value: `1e-401`, beyond: true},
		{pattern: `{"anything-but":5}`, value: long, beyond: true},
		{pattern: `{"numeric":[">",0]},{"anything-but":"x"}`, value: long, want: true, beyond: true},
		{pattern: `{"anything-but":"x"}`, value: long, want: true},
		{pattern: long, value: long, want: true},
		{pattern: long, value: long + "0"},
	} {
		f, wrong := filter.Parse([]byte(`{"payload":{"id":[`+tt.pattern+`]}}`), "filter")
		if len(wrong) > 0 {
			t.Fatalf("Parse(%s) = %v", tt.pattern, wrong)
		}
		d := filter.NewDocument("a", []byte(`{"id":`+tt.value+`}`))
		got, problems := f.Explain(d, "filter")
		if again, _ := f.Matches(d); got != tt.want || again != got || tt.beyond != (len(problems) == 1 && problems[0].Field == "filter/payload/id") {
			t.Errorf("%s matches %s: %t, %t, %v; want %t, and the field: %t", tt.pattern, tt.value, got, again, problems, tt.want, tt.beyond)
		}
	}
}

// FuzzParse checks that no filter and no payload causes a panic, and that matching twice gives the same
// result within MaxSteps.
func FuzzParse(f *testing.F) {
	f.Add(`{"type":["order.paid"],"payload":{"a":[1,{"numeric":[">",0]},{"exists":false}]}}`, `{"a":[1,{"b":2}]}`)
	f.Add(`{"payload":{"$or":[{"a":[{"anything-but":{"prefix":"x"}}]},{"b":{"c":[{"suffix":{"equals-ignore-case":"K"}}]}}]}}`, instance)
	f.Fuzz(func(t *testing.T, pattern, payload string) {
		parsed, wrong := filter.Parse([]byte(pattern), "filter")
		if (parsed == nil) != (len(wrong) > 0) {
			t.Fatalf("Parse(%q) = %v, %v; want a filter or a fault", pattern, parsed, wrong)
		}
		if parsed == nil {
			return
		}
		d := filter.NewDocument("order.paid", []byte(payload))
		first, steps := parsed.Matches(d)
		if second, again := parsed.Matches(d); first != second || steps != again || steps > filter.MaxSteps {
			t.Errorf("%q matches %q: %t in %d steps, then %t in %d", pattern, payload, first, steps, second, again)
		}
	})
}
