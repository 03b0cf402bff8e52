package httpapi_test

import (
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"surehook.example/surehook/internal/httpapi"
)

// sample is a body of values that the library decodes, with names of an endpoint's settings.
type sample struct {
	URL        *string            `json:"url"`
	EventTypes *[]string          `json:"event_types"`
	Metadata   *map[string]string `json:"metadata"`
	Headers    *map[string]string `json:"headers"`
	Rate       *float64           `json:"rate_per_second"`
	Shards     *int               `json:"shards"`
	Disable    *bool              `json:"auto_disable"`
	Filter     jsontext.Value     `json:"filter"`
	Timeout    *time.Duration     `json:"timeout"`
	Retry      *struct {
		Schedule []time.Duration `json:"schedule"`
	} `json:"retry"`
	Circuit struct {
		Rate     *float64       `json:"rate"`
		Cooldown *time.Duration `json:"cooldown"`
	} `json:"circuit"`
}

// FuzzUnmarshal compares the decoding of bodies with the library's: both must accept the same
// bodies and decode the same values, except that the library accepts null and any number of
// elements, and does not know the forms of an endpoint's settings.
func FuzzUnmarshal(f *testing.F) {
	for _, seed := range []string{
		`{"url":"https://example.com/","uid":"a","headers":{"X":"y"},"metadata":{"a":"b"},"retry":{"schedule":["1s"],"jitter":"none"},"secret":"s"}`,
		`{"url":7,"timeout":"soon","event_types":["a",1,"b c"],"retry":{"schedule":["1s",2,"169h"],"more":1},"circuit":{"rate":"x","cooldown":[]}}`,
		`{"events":[{"event_type":1},{"payload":1,"x":2},[],{"event_type":"a","payload":null,"idempotency_key":"\u0041"}],"y":3}`,
		`{"metadata":{"a":1,"b":{}},"headers":[],"rate_per_second":1e999,"shards":1.5,"auto_disable":[1],"tls":{"ca":{}},"filter":{"a":[1,{}]}}`,
		`{"name":"ci","tenant":"acme","scopes":["read",1],"expires_at":"2020-01-01T00:00:00Z"}`, `{1:2}`, `{"a":1,"a":2}`, `{"\u0075rl":"x"}`, `{"url":"x"} 1`, `[]`, ` {} `, ` `, `{"url":"`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		bodies := httpapi.Bodies()
		maps.DeleteFunc(bodies, func(name string, _ reflect.Type) bool {
			return strings.HasPrefix(name, "Endpoint") || name == "PreviewRequest"
		})
		bodies["sample"] = reflect.TypeFor[sample]()
		for name, of := range bodies {
			ours, theirs := reflect.New(of), reflect.New(of)
			wrong, err := httpapi.Unmarshal([]byte(body), ours.Interface())
			theirErr := json.Unmarshal([]byte(body), theirs.Interface(), json.RejectUnknownMembers(true), httpapi.Texts)
			if strings.Contains(body, "null") || len(body) > 1000 {
				continue
			}
			right := err == nil && len(wrong) == 0
			if right != (theirErr == nil) {
				t.Errorf("%s of %q: %v, %v; the library has %v", name, body, wrong, err, theirErr)
			}
			if right && !reflect.DeepEqual(ours.Interface(), theirs.Interface()) {
				t.Errorf("%s of %q is %+v; the library has %+v", name, body, ours.Elem(), theirs.Elem())
			}
		}
	})
}
