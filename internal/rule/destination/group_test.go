package destination_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/destination"
)

func TestGroup(t *testing.T) {
	t.Parallel()

	const event = "evt_01h455vb4pex5vsknk084sn02q"
	long := strings.Repeat("x", 129)
	tests := []struct {
		name, path, payload, order, want string
	}{
		{name: "no path", payload: `{"id":"7"}`, want: event},
		{name: "an ordering key", payload: `{"id":"7"}`, order: "cart-7", want: "cart-7"},
		{name: "a path before an ordering key", path: "id", payload: `{"id":"c-7"}`, order: "cart-7", want: "c-7"},
		{name: "an ordering key where the path finds nothing", path: "id", payload: `{}`, order: "cart-7", want: "cart-7"},
		{name: "a text", path: "id", payload: `{"id":"c-7"}`, want: "c-7"},
		{name: "below another field", path: "customer.id", payload: `{"a":[{"customer":{"id":1}}],"customer":{"x":{"id":2},"id":"c-7"},"b":3}`, want: "c-7"},
		{name: "an escaped name and value", path: "kä", payload: `{"k\u00e4":"c\u002d7"}`, want: "c-7"},
		{name: "a number as it is written", path: "id", payload: `{"id": 12345678901234567890.50}`, want: "12345678901234567890.50"},
		{name: "a boolean", path: "vip", payload: `{"vip":false}`, want: "false"},
		{name: "the longest value", path: "id", payload: `{"id":"` + long[1:] + `"}`, want: long[1:]},
		{name: "a value that is too long", path: "id", payload: `{"id":"` + long + `"}`, want: "0ec9eb33e74510bcdd1f2ea55206e82f21649c5c2becbf2b433eb475b34c01bd"},
		{name: "a value with a space", path: "id", payload: `{"id":"Jo Doe"}`, want: "7c0a7e89233a8995b28797cef6c18a119c98324f05a9a036040ec5122d86e43b"},
		{name: "a value in other letters", path: "id", payload: `{"id":"Müller"}`, want: "a78429899bb825ce667d25d92e2cde488f8a7d6871bb2be7365601cad6b0a8f2"},
		{name: "no such field", path: "customer.id", payload: `{"customer":{}}`, want: event},
		{name: "no such object", path: "customer.id", payload: `{"other":{"id":1}}`, want: event},
		{name: "a text in place of an object", path: "customer.id", payload: `{"customer":"c-7"}`, want: event},
		{name: "a list in place of an object", path: "customer.id", payload: `{"customer":[{"id":"c-7"}]}`, want: event},
		{name: "null", path: "id", payload: `{"id":null}`, want: event},
		{name: "an empty text", path: "id", payload: `{"id":""}`, want: event},
		{name: "an object", path: "id", payload: `{"id":{"a":1}}`, want: event},
		{name: "a list", path: "id", payload: `{"id":["c-7"]}`, want: event},
		{name: "a payload that is a list", path: "id", payload: `["id","c-7"]`, want: event},
		{name: "a payload that is a text", path: "id", payload: `"id"`, want: event},
		{name: "a payload that is not JSON", path: "id", payload: `{"id"`, want: event},
		{name: "a name that is only a value", path: "id", payload: `{"a":"id","b":"c-7"}`, want: event},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			e := &hook.Endpoint{Destination: hook.Destination{Settings: map[string]string{destination.GroupBy: tt.path}}}
			if got := destination.Group(e, &hook.Event{ID: event, Payload: []byte(tt.payload), OrderingKey: tt.order}); got != tt.want {
				t.Errorf("Group() = %q; want %q", got, tt.want)
			}
		})
	}
}

// FuzzGroup compares with a decoder that keeps the whole payload.
func FuzzGroup(f *testing.F) {
	f.Add(`{"customer":{"id":"c-7"}}`, "customer.id")
	f.Add(`{"a":[{"id":1}],"id":1.50}`, "id")
	f.Add(`{"id":{"id":true},"x":null}`, "id.id")
	f.Add(`["id"]`, "id")
	f.Fuzz(func(t *testing.T, payload, path string) {
		if !jsontext.Value(payload).IsValid() {
			return // the API refuses it
		}
		dec := json.NewDecoder(strings.NewReader(payload))
		dec.UseNumber()
		var value any
		if err := dec.Decode(&value); err != nil {
			return // too deep for this decoder
		}
		for name := range strings.SplitSeq(path, ".") {
			object, _ := value.(map[string]any)
			value = object[name]
		}
		want := "evt_1"
		switch value := value.(type) {
		case string, json.Number, bool:
			want = cmp.Or(fmt.Sprint(value), want)
		}
		if path == "" {
			want = "evt_1"
		}
		e := &hook.Endpoint{Destination: hook.Destination{Settings: map[string]string{destination.GroupBy: path}}}
		got := destination.Group(e, &hook.Event{ID: "evt_1", Payload: []byte(payload)})
		if sum := sha256.Sum256([]byte(want)); got != want && got != hex.EncodeToString(sum[:]) {
			t.Errorf("Group(%s, %s) = %q; want %q or its hash", payload, path, got, want)
		}
		if got == "" || len(got) > 128 {
			t.Errorf("Group(%s, %s) = %q; AWS does not take it", payload, path, got)
		}
	})
}
