//go:build !race

package httpapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"surehook.example/surehook/internal/hook"
)

// TestLongNames checks the size of a response about long names: an error takes as many bytes as
// the names in its path, and 20 wrong fields can be below one long name. A response of Lambda
// takes 6 MB, with up to six bytes for each byte.
func TestLongNames(t *testing.T) {
	t.Parallel()

	name := func(n int) string { return `"` + strings.Repeat("<", n) + `"` }
	wrong := `[` + strings.Repeat("1,", 30) + `1]`
	for _, tt := range []struct{ name, path, body string }{
		{"an unknown name of a batch", "/batch", `{"events":[],` + name(hook.MaxBatchBytes-100) + `:1}`},
		{"an unknown name of an event", "", `{"event_type":"a","payload":1,` + name(hook.MaxPayload) + `:1}`},
		{"a wrong payload", "", `{"event_type":"a","payload":{` + name(hook.MaxPayload-1000) + `:` + wrong + `}}`},
		{"wrong payloads of a batch", "/batch", batch(`{"event_type":"a","payload":{` + name(20_000) + `:` + wrong + `}}`)},
		{"payloads with a long number", "/batch", batch(`{"event_type":"a","payload":{` + name(29_000) + `:1e999}}`)},
		{"wrong payloads with long messages", "/batch", batch(`{"event_type":"b","payload":{` + name(200) + `:[` + many(`{"%d`+name(400)[1:]+`:1}`, 30) + `]}}`)},
	} {
		b := setup(t)
		b.checked(t, "a", `{"additionalProperties":{"items":{"type":"string"}}}`)
		b.checked(t, "b", `{"additionalProperties":{"items":{"additionalProperties":false}}}`)
		w := b.try(t, admin, http.MethodPost, eventsURL+tt.path, tt.body)
		text, err := json.Marshal(w.Body.String())
		t.Logf("%s: %d, %d bytes", tt.name, w.Code, len(text))
		if err != nil || w.Code >= 500 || len(text) > 6_000_000 {
			t.Errorf("%s: POST = %d, and the response of Lambda has %d bytes, %v; want at most 6 MB", tt.name, w.Code, len(text), err)
		}
	}
}
