package httpapi_test

import (
	"strings"
	"testing"
)

// TestEndpoints_transformation checks that an expression is checked when it is saved: its form,
// and its results for the examples of the event types that the endpoint names.
func TestEndpoints_transformation(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.do(t, admin, "PUT", "/v1/event-types/order.paid", `{"example":{"total":7}}`)
	b.do(t, admin, "PUT", "/v1/event-types/order.sent", `{}`)
	tests := []struct{ name, fields, want string }{
		{name: "fits the example", fields: `"event_types":["order.paid","order.sent","order.new"],"transformation":"{\"body\": event.data.total}"`},
		{name: "does not fit the example", fields: `"event_types":["order.sent","order.paid"],"transformation":"{\"body\": event.data.sum}"`, want: "cannot shape the example of order.paid: line 1, column 20: no such key: sum"},
		{name: "a prefix has no example", fields: `"event_types":["order.*"],"transformation":"{\"body\": event.data.sum}"`},
		{name: "a mistake", fields: `"transformation":"{"`, want: "line 1, column 2: Syntax error"},
		{name: "too long", fields: `"transformation":"` + strings.Repeat(" ", 8192) + `1"`, want: "must be at most 8192 bytes"},
		{name: "a text for profiles that sign texts", fields: `"signature_profiles":["standard","svix"],"transformation":"{\"body\": \"evt_x.1.{}\"}"`},
		{name: "a text for another profile", fields: `"signature_profiles":["standard","classic"],"transformation":"{\"body\": \"evt_x.1.{}\"}"`, want: "the body is neither a JSON object nor a list"},
		{name: "none", fields: `"transformation":""`},
	}
	for _, tt := range tests {
		w := b.do(t, owner, "POST", endpoints, `{"url":"https://example.com/`+strings.ReplaceAll(tt.name, " ", "-")+`",`+tt.fields+`}`)
		if tt.want == "" && w.Code != 201 || tt.want != "" && (w.Code != 400 || !strings.Contains(w.Body.String(), `"field":"transformation","message":"`+tt.want)) {
			t.Errorf("%s: %d %s; want %q", tt.name, w.Code, w.Body, tt.want)
		}
	}
	b.create(t, `{"url":"https://example.com/","uid":"crm"}`)
	if w := b.do(t, owner, "PATCH", endpoints+"/crm", `{"transformation":"{\"body\": 1"}`); w.Code != 400 {
		t.Errorf("PATCH with a mistake = %d %s", w.Code, w.Body)
	}
	if w := b.do(t, owner, "PATCH", endpoints+"/crm", `{"transformation":"{\"body\": \"a\"}"}`); w.Code != 200 {
		t.Errorf("PATCH with a text = %d %s", w.Code, w.Body)
	}
	if w := b.do(t, owner, "PATCH", endpoints+"/crm", `{"signature_profiles":["github"]}`); w.Code != 400 || !strings.Contains(w.Body.String(), `"field":"transformation"`) {
		t.Errorf("PATCH with a profile that signs no texts = %d %s", w.Code, w.Body)
	}
}
