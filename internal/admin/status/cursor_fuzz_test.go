package status_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
)

// spans keeps the spans of all looks.
type spans struct {
	status.Store

	mu  sync.Mutex
	all []status.Span
}

func (s *spans) DeliveryRows(ctx context.Context, part status.Part, span status.Span, look int) ([]status.Row, *status.Position, error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.all = append(s.all, span)
	return s.Store.DeliveryRows(ctx, part, span, look)
}

// FuzzPosition gives any text as the position of a well-formed cursor. A position becomes
// a part of a key, so a list takes only the text of a possible row, and takes the
// text unchanged.
func FuzzPosition(f *testing.F) {
	const event, endpoint = "evt_01jgjb5c8weyrv1tzv2x3fjq7h", "ep_0123456789abcdef"
	own := "1767323045678#" + event + "#1#" + endpoint
	for _, text := range []string{
		own, "1767323045678#" + event + "#0#", "0" + own, "-" + own, "+" + own, own + "#", strings.Replace(own, "#1#", "#01#", 1), strings.Replace(own, "#1#", "#99999#", 1),
		"999999999999999999#" + event + "#1#" + endpoint, "1#x#1#" + endpoint, "1#" + event + "#1#crm", "###", "", "\xff\x00", own + "\n",
	} {
		f.Add(text)
	}
	store := memory.NewStore()
	id, err := hook.ParseEndpointID(endpoint)
	if err != nil {
		f.Fatal(err)
	}
	if err := store.CreateEndpoint(f.Context(), hook.Endpoint{ID: id, Tenant: tenant, URL: "https://example.com/", Shards: 1}); err != nil {
		f.Fatal(err)
	}
	scope := page.Scope("deliveries", string(tenant), "", "", "", "", "", "", "")

	f.Fuzz(func(t *testing.T, text string) {
		b := setup(t)
		looks := &spans{Store: store}
		b.Store = looks
		_, err := b.Deliveries(t.Context(), tenant, status.DeliveryFilter{}, page.Request{Limit: 1, Cursor: page.NewCursor(scope, text)})
		switch {
		case text == "": // no cursor
		case err != nil && hook.CodeOf(err) == hook.CodeInvalid:
			if len(looks.all) > 0 {
				t.Errorf("position %q was rejected after a request", text)
			}
		case err != nil:
			t.Errorf("position %q = %v; want a page, or CodeInvalid", text, err)
		default:
			from := looks.all[0].From
			if _, bad := hook.ParseEventID(string(from.Event)); bad != nil || from.Generation < 0 || from.Generation > hook.MaxGeneration || from.At < 0 || from.Time().Year() > 9999 {
				t.Errorf("position %q was taken as %+v; want a possible row", text, from)
			}
			if got := strings.Split(text, "#"); len(got) != 4 || got[1] != string(from.Event) || got[3] != string(from.Endpoint) {
				t.Errorf("position %q was taken as %+v; want the text unchanged", text, from)
			}
		}
	})
}
