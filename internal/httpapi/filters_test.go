package httpapi_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A wrong filter is refused, and the error names the place of the mistake.
func TestEndpoints_filterFaults(t *testing.T) {
	t.Parallel()

	b := setup(t)
	for filter, want := range map[string]string{
		`{"payload":{"n":[{"numeric":["~",1]}]}}`: invalid("filter/payload/n/0/numeric/0", "must be =, <, <=, > or >="),
		`{"detail":["a"]}`:                        invalid("filter/detail", "must be type, payload or $or"),
		`[]`:                                      invalid("filter", "must be an object with a field"),
		`null`:                                    invalid("filter", "must be an object with a field"),
	} {
		if w := b.do(t, owner, "POST", endpoints, `{"url":"https://example.com/","filter":`+filter+`}`); w.Code != 400 || w.Body.String() != want {
			t.Errorf("POST %s = %d %s; want %s", filter, w.Code, w.Body, want)
		}
	}
	b.create(t, `{"url":"https://example.com/","uid":"crm","filter":{"type":["a"]}}`)
	if e := get[object](t, b, owner, 200, "PATCH", endpoints+"/crm", `{"filter":{}}`); !cmp.Equal(e["filter"], any(object{})) || e["version"] != 2.0 {
		t.Errorf("PATCH = filter %v, version %v; want none in version 2", e["filter"], e["version"])
	}
}
