package filter_test

import (
	"strings"
	"testing"

	"surehook.example/surehook/internal/rule/filter"
)

// What AWS documents about each operator, with our own patterns and events:
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-create-pattern-operators.html
func TestFilter_EventBridge(t *testing.T) {
	t.Parallel()

	tests := []struct {
		fact    string
		pattern string // of the payload
		yes, no []string
	}{
		{
			fact: "fields are joined by and, the values of an array by or", pattern: `{"city":["Oslo","Bergen"],"day":["Tuesday"]}`,
			yes: []string{`{"city":"Bergen","day":"Tuesday","more":1}`}, no: []string{`{"city":"Oslo","day":"Friday"}`, `{"city":"Oslo"}`},
		},
		{
			fact: "text is compared with its case", pattern: `{"city":["Oslo"]}`,
			yes: []string{`{"city":"Oslo"}`}, no: []string{`{"city":"oslo"}`, `{"city":"Oslo "}`},
		},
		{fact: "the empty string is a value", pattern: `{"note":[""]}`, yes: []string{`{"note":""}`}, no: []string{`{"note":null}`, `{}`}},
		{fact: "null is a value", pattern: `{"user":[null]}`, yes: []string{`{"user":null}`}, no: []string{`{"user":""}`, `{}`}},
		{fact: "true is not the text", pattern: `{"paid":[true]}`, yes: []string{`{"paid":true}`}, no: []string{`{"paid":"true"}`, `{"paid":1}`}},
		{fact: "a number outside of numeric is text", pattern: `{"n":[300]}`, yes: []string{`{"n":300}`}, no: []string{`{"n":300.0}`, `{"n":3e2}`, `{"n":"300"}`}},
		{
			fact: "prefix is for text", pattern: `{"at":[{"prefix":"2026-11"}]}`,
			yes: []string{`{"at":"2026-11-23T10:00:00Z"}`, `{"at":"2026-11"}`}, no: []string{`{"at":"in 2026-11"}`, `{"at":202611}`},
		},
		{fact: "the empty prefix is of every text", pattern: `{"at":[{"prefix":""}]}`, yes: []string{`{"at":"x"}`, `{"at":""}`}, no: []string{`{"at":1}`, `{"at":null}`, `{}`}},
		{fact: "the empty suffix is of every text", pattern: `{"at":[{"suffix":{"equals-ignore-case":""}}]}`, yes: []string{`{"at":"x"}`, `{"at":""}`}, no: []string{`{"at":1}`, `{}`}},
		{
			fact: "prefix without the case", pattern: `{"service":[{"prefix":{"equals-ignore-case":"Bill"}}]}`,
			yes: []string{`{"service":"billing"}`, `{"service":"BILLS"}`}, no: []string{`{"service":"bil"}`, `{"service":"rebill"}`},
		},
		{fact: "suffix is for text", pattern: `{"file":[{"suffix":".pdf"}]}`, yes: []string{`{"file":"a.pdf"}`}, no: []string{`{"file":"a.PDF"}`, `{"file":"pdf"}`, `{"file":1}`}},
		{fact: "suffix without the case", pattern: `{"file":[{"suffix":{"equals-ignore-case":".Pdf"}}]}`, yes: []string{`{"file":"a.PDF"}`}, no: []string{`{"file":"a.pdfx"}`}},
		{fact: "equals-ignore-case is for the whole text", pattern: `{"name":[{"equals-ignore-case":"ANNA"}]}`, yes: []string{`{"name":"anna"}`}, no: []string{`{"name":"annab"}`, `{"name":1}`}},
		{fact: "equals-ignore-case with the empty text", pattern: `{"name":[{"equals-ignore-case":""}]}`, yes: []string{`{"name":""}`}, no: []string{`{"name":"a"}`, `{"name":null}`}},
		{fact: "anything-but the empty text", pattern: `{"name":[{"anything-but":{"equals-ignore-case":""}}]}`, yes: []string{`{"name":"a"}`}, no: []string{`{"name":""}`}},
		{fact: "anything-but with a text", pattern: `{"state":[{"anything-but":"new"}]}`, yes: []string{`{"state":"old"}`, `{"state":7}`}, no: []string{`{"state":"new"}`, `{}`}},
		{fact: "anything-but with a number", pattern: `{"n":[{"anything-but":123}]}`, yes: []string{`{"n":124}`, `{"n":"123"}`}, no: []string{`{"n":123}`, `{"n":123.0}`}},
		{fact: "anything-but with texts", pattern: `{"state":[{"anything-but":["new","late"]}]}`, yes: []string{`{"state":"old"}`}, no: []string{`{"state":"new"}`, `{"state":"late"}`}},
		{fact: "anything-but with numbers", pattern: `{"n":[{"anything-but":[1,2.5]}]}`, yes: []string{`{"n":2}`}, no: []string{`{"n":1}`, `{"n":2.50}`}},
		{fact: "anything-but with a prefix", pattern: `{"zone":[{"anything-but":{"prefix":"eu-"}}]}`, yes: []string{`{"zone":"us-1"}`}, no: []string{`{"zone":"eu-1"}`}},
		{fact: "anything-but with prefixes", pattern: `{"zone":[{"anything-but":{"prefix":["eu-","us-"]}}]}`, yes: []string{`{"zone":"ap-1"}`}, no: []string{`{"zone":"eu-1"}`, `{"zone":"us-1"}`}},
		{fact: "anything-but with a suffix", pattern: `{"file":[{"anything-but":{"suffix":".png"}}]}`, yes: []string{`{"file":"a.jpg"}`}, no: []string{`{"file":"a.png"}`}},
		{fact: "anything-but with suffixes", pattern: `{"file":[{"anything-but":{"suffix":[".png",".gif"]}}]}`, yes: []string{`{"file":"a.jpg"}`}, no: []string{`{"file":"a.png"}`, `{"file":"a.gif"}`}},
		{
			fact: "anything-but without the case", pattern: `{"state":[{"anything-but":{"equals-ignore-case":"new"}}]}`,
			yes: []string{`{"state":"newer"}`}, no: []string{`{"state":"NEW"}`},
		},
		{
			fact: "anything-but with texts without the case", pattern: `{"state":[{"anything-but":{"equals-ignore-case":["new","late"]}}]}`,
			yes: []string{`{"state":"old"}`}, no: []string{`{"state":"New"}`, `{"state":"LATE"}`},
		},
		{fact: "numeric with one bound", pattern: `{"price":[{"numeric":["<",10]}]}`, yes: []string{`{"price":9.99}`, `{"price":-1}`}, no: []string{`{"price":10}`, `{"price":"9"}`}},
		{fact: "numeric with two bounds", pattern: `{"price":[{"numeric":[">",10,"<=",20]}]}`, yes: []string{`{"price":10.01}`, `{"price":20}`}, no: []string{`{"price":10}`, `{"price":20.01}`}},
		{fact: "numeric compares values", pattern: `{"price":[{"numeric":["=",3.018e2]}]}`, yes: []string{`{"price":301.8}`, `{"price":301.80}`}, no: []string{`{"price":301.9}`}},
		{fact: "exists is for leaves", pattern: `{"gift":[{"exists":true}]}`, yes: []string{`{"gift":null}`, `{"gift":""}`, `{"gift":[0]}`}, no: []string{`{}`, `{"gift":{"a":1}}`, `{"gift":[]}`}},
		{fact: "exists false is for leaves", pattern: `{"gift":[{"exists":false}]}`, yes: []string{`{}`, `{"gift":{"a":1}}`}, no: []string{`{"gift":null}`, `{"gift":1}`}},
		{
			fact: "the alternatives of a field may mix operators", pattern: `{"n":[{"numeric":[">",100]},{"prefix":"many"},null]}`,
			yes: []string{`{"n":101}`, `{"n":"many of them"}`, `{"n":null}`}, no: []string{`{"n":100}`, `{"n":"few"}`},
		},
		{fact: "arrays match when they share a value", pattern: `{"tags":["red","blue"]}`, yes: []string{`{"tags":["green","blue"]}`, `{"tags":"red"}`}, no: []string{`{"tags":["green"]}`, `{"tags":[]}`}},
		{
			fact: "fields of one object in an array belong together", pattern: `{"lines":{"sku":["a"],"n":[2]}}`,
			yes: []string{`{"lines":[{"sku":"b","n":1},{"sku":"a","n":2}]}`}, no: []string{`{"lines":[{"sku":"a","n":1},{"sku":"b","n":2}]}`},
		},
		{fact: "$or joins fields", pattern: `{"$or":[{"city":["Oslo"]},{"day":["Tuesday"]}]}`, yes: []string{`{"city":"Oslo"}`, `{"day":"Tuesday"}`}, no: []string{`{"city":"Bergen"}`}},
		{
			fact: "$or beside a field is joined by and", pattern: `{"paid":[true],"$or":[{"city":["Oslo"]},{"n":[{"numeric":[">",5]}],"day":["Tuesday"]}]}`,
			yes: []string{`{"paid":true,"city":"Oslo"}`, `{"paid":true,"n":6,"day":"Tuesday"}`}, no: []string{`{"city":"Oslo"}`, `{"paid":true,"n":6}`},
		},
		{
			fact: "$or below a field, and in $or", pattern: `{"from":{"$or":[{"city":["Oslo"]},{"zip":["1"],"$or":[{"a":[1]},{"b":[2]}]}]}}`,
			yes: []string{`{"from":{"city":"Oslo"}}`, `{"from":{"zip":"1","b":2}}`}, no: []string{`{"from":{"zip":"1"}}`, `{"city":"Oslo"}`},
		},
	}
	for _, tt := range tests {
		f, wrong := filter.Parse([]byte(`{"payload":`+tt.pattern+`}`), "filter")
		if len(wrong) > 0 {
			t.Errorf("%s: Parse(%s) = %v", tt.fact, tt.pattern, wrong)
			continue
		}
		for want, payloads := range map[bool][]string{true: tt.yes, false: tt.no} {
			for _, payload := range payloads {
				if got, _ := f.Matches(filter.NewDocument("order.paid", []byte(payload))); got != want {
					t.Errorf("%s: %s matches %s: %t; want %t", tt.fact, tt.pattern, payload, got, want)
				}
			}
		}
	}
}

// Parse refuses what EventBridge refuses, and names the part. It also refuses the EventBridge
// operators that filters do not support.
func TestParse_EventBridgeRefuses(t *testing.T) {
	t.Parallel()

	for pattern, want := range map[string]string{
		`{"payload":{"path":[{"wildcard":"dir/*.png"}]}}`:                                                          "filter/payload/path/0/wildcard: is an operator of EventBridge that filters do not have",
		`{"payload":{"ip":[{"cidr":"10.0.0.0/24"}]}}`:                                                              "filter/payload/ip/0/cidr: is an operator of EventBridge that filters do not have",
		`{"payload":{"path":[{"anything-but":{"wildcard":"*/lib/*"}}]}}`:                                           "filter/payload/path/0/anything-but: must be a value, an array of values, or one of prefix, suffix and equals-ignore-case",
		`{"payload":{"path":[{"anything-but":["a",1]}]}}`:                                                          "filter/payload/path/0/anything-but/1: must be a string, as the values before",
		`{"payload":{"path":[{"anything-but":[2,3,"a"]}]}}`:                                                        "filter/payload/path/0/anything-but/2: must be a number, as the values before",
		`{"payload":{"n":[{"numeric":[">",1e401]}]}}`:                                                              "filter/payload/n/0/numeric/1: must not have more than 40 digits, or an exponent beyond 400",
		`{"payload":{"n":[{"anything-but":1e401}]}}`:                                                               "filter/payload/n/0/anything-but: must not have more than 40 digits, or an exponent beyond 400",
		`{"payload":{"path":[{"anything-but":{"prefix":""}}]}}`:                                                    "filter/payload/path/0/anything-but/prefix: must be a string that is not empty",
		`{"payload":{"path":[{"anything-but":{"suffix":["a",""]}}]}}`:                                              "filter/payload/path/0/anything-but/suffix/1: must be a string that is not empty",
		`{"payload":{"path":[{"anything-but":{"prefix":{"equals-ignore-case":"a"}}}]}}`:                            "filter/payload/path/0/anything-but/prefix: must be a string that is not empty",
		`{"payload":{"path":[{"anything-but":{"suffix":[{"equals-ignore-case":"a"}]}}]}}`:                          "filter/payload/path/0/anything-but/suffix/0: must be a string that is not empty",
		`{"payload":{"path":[{"prefix":{"suffix":"a"}}]}}`:                                                         "filter/payload/path/0/prefix: must be a string",
		`{"payload":{"path":[{"anything-but":null}]}}`:                                                             "filter/payload/path/0/anything-but: must be a string or a number",
		`{"payload":{"$or":[{"a":[1]}]}}`:                                                                          "filter/payload/$or: must be an array of two objects or more",
		`{"payload":{"path":[{"numeric":["=",5,"<",9]}]}}`:                                                         "filter/payload/path/0/numeric: must be a lower bound",
		`{"payload":{"path":[{"anything-but":{"prefix":["a",1]}}]}}`:                                               "filter/payload/path/0/anything-but/prefix/1: must be a string",
		`{"payload":{"path":[{"anything-but":{"suffix":[]}}]}}`:                                                    "filter/payload/path/0/anything-but/suffix: must be a string",
		`{"payload":{"path":[{"prefix":["a","b"]}]}}`:                                                              "filter/payload/path/0/prefix: must be a string",
		`{"payload":{"path":[{"numeric":[">",0,"<=",5,"<",9]}]}}`:                                                  "filter/payload/path/0/numeric: must be an array such as",
		`{"payload":{"path":[{"prefix":"a","suffix":"b"}]}}`:                                                       "filter/payload/path/0: must have one operator",
		`{"payload":{"path":[{"anything-but":{"prefix":["` + strings.Repeat(`a","`, filter.MaxValues) + `b"]}}]}}`: "filter/payload/path/0/anything-but/prefix: the filter must have at most",
	} {
		_, wrong := filter.Parse([]byte(pattern), "filter")
		if len(wrong) != 1 || !strings.HasPrefix(wrong[0].Field+": "+wrong[0].Message, want) {
			t.Errorf("Parse(%.80s) = %v; want %s", pattern, wrong, want)
		}
	}
}
