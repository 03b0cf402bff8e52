package httpapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/httpapi"
)

// A delivery can have a valid key if the endpoint's owner has set an Authorization header. Every
// route that needs a key refuses it anyway.
func TestAccess_deliveriesCannotCallTheAPI(t *testing.T) {
	t.Parallel()

	b := setup(t)
	admin := hook.Principal{Key: "key_1", Tenant: hook.AllTenants, Scopes: hook.Scopes()}
	for _, r := range httpapi.Routes() {
		if r.Public {
			continue
		}
		path := strings.NewReplacer("{tenant}", "acme", "{", "", "}", "").Replace(r.Path)
		w := b.do(t, admin, r.Method, path, "", "X-Webhook-Delivery: dlv_01h455vb4pex5vsknk084sn02q_0123456789abcdef_0")
		var p struct {
			Code string `json:"code"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != http.StatusForbidden || p.Code != "loop" {
			t.Errorf("%s %s of a delivery = %d %s; want 403 loop", r.Method, path, w.Code, w.Body)
		}
	}
}
