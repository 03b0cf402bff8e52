package porttest

import (
	"encoding/base64"
	"slices"
	"testing"
	"time"

	"surehook/internal/hook"
)

func pageCases() []storeCase {
	return []storeCase{
		{name: "an endpoint's deliveries are listed newest first, page by page", run: pagesNewestFirst},
		{name: "a list ends with an empty cursor, on a full page too", run: pagesEnd},
		{name: "a delivery is listed under its state only", run: pageFollowsState},
		{name: "new deliveries do not shift the pages", run: pagesAreStable},
		{name: "a limit is at least 1 and at most 100", run: pageLimits},
		{name: "a cursor of another list and a malformed cursor are invalid", run: cursorInvalid},
	}
}

// saveDead saves n dead deliveries of the endpoint, a millisecond apart, and
// returns the stored deliveries newest first.
func saveDead(t *testing.T, s StoreUnderTest, endpoint hook.EndpointID, from time.Time, n int) []hook.Delivery {
	t.Helper()

	var all []hook.Delivery
	for i := range n {
		d := sampleDelivery(newEventID(t), endpoint, 1)
		d.State = hook.StateDead
		d.Reason = hook.ReasonExhausted
		d.CreatedAt = from.Add(time.Duration(i) * time.Millisecond)
		check(t, s.SaveDelivery(t.Context(), d, nil))
		all = append(all, saved(d))
	}
	slices.Reverse(all)
	return all
}

// pages reads a whole list in pages of limit.
func pages(t *testing.T, s StoreUnderTest, endpoint hook.EndpointID, cursor string, limit int) [][]hook.Delivery {
	t.Helper()

	var all [][]hook.Delivery
	for {
		page, next, err := s.DeliveriesByEndpoint(t.Context(), wide(endpoint), hook.StateDead, cursor, limit)
		check(t, err)
		if len(page) > limit || len(all) > 100 {
			t.Fatalf("DeliveriesByEndpoint(page %d, limit %d) = %d deliveries; want an end", len(all)+1, limit, len(page))
		}
		all = append(all, page)
		if next == "" {
			return all
		}
		cursor = next
	}
}

func pagesNewestFirst(t *testing.T, s StoreUnderTest) {
	endpoint := hook.NewEndpointID()
	want := saveDead(t, s, endpoint, storeEpoch(), 7)
	saveDead(t, s, hook.NewEndpointID(), storeEpoch(), 2)

	// Times with fewer digits sort in order, too.
	old := saveDead(t, s, endpoint, time.Date(2025, 12, 31, 23, 59, 59, 0, time.UTC), 1)
	want = append(want, old...)

	got := pages(t, s, endpoint, "", 3)
	wantSame(t, "pages of 3", [][]hook.Delivery{want[:3], want[3:6], want[6:]}, got, nil)
}

func pagesEnd(t *testing.T, s StoreUnderTest) {
	endpoint := hook.NewEndpointID()
	if got := pages(t, s, endpoint, "", 2); len(got) != 1 || len(got[0]) != 0 {
		t.Errorf("pages of an empty list = %v; want one empty page", got)
	}
	want := saveDead(t, s, endpoint, storeEpoch(), 4)
	wantSame(t, "pages of 2", [][]hook.Delivery{want[:2], want[2:]}, pages(t, s, endpoint, "", 2), nil)
}

func pageFollowsState(t *testing.T, s StoreUnderTest) {
	endpoint := hook.NewEndpointID()
	d := saveDead(t, s, endpoint, storeEpoch(), 1)[0]
	d.State = hook.StateDiscarded
	check(t, s.SaveDelivery(t.Context(), d, nil))
	d = saved(d)
	for _, state := range []hook.State{hook.StateRetrying, hook.StateParked, hook.StateDelivered, hook.StateDead, hook.StateDiscarded} {
		var want []hook.Delivery
		if state == hook.StateDiscarded {
			want = append(want, d)
		}
		got, next, err := s.DeliveriesByEndpoint(t.Context(), wide(endpoint), state, "", 10)
		wantSame(t, "DeliveriesByEndpoint("+state.String()+")", want, got, err)
		if next != "" {
			t.Errorf("DeliveriesByEndpoint(%s) has cursor %q; want none", state, next)
		}
	}
}

func pagesAreStable(t *testing.T, s StoreUnderTest) {
	endpoint := hook.NewEndpointID()
	want := saveDead(t, s, endpoint, storeEpoch(), 4)
	first, next, err := s.DeliveriesByEndpoint(t.Context(), wide(endpoint), hook.StateDead, "", 2)
	wantSame(t, "first page", want[:2], first, err)

	// New deliveries arrive, and the delivery in the cursor leaves the state.
	saveDead(t, s, endpoint, storeEpoch().Add(time.Minute), 3)
	gone := want[1]
	gone.State = hook.StateDiscarded
	check(t, s.SaveDelivery(t.Context(), gone, nil))

	wantSame(t, "pages after the first", [][]hook.Delivery{want[2:]}, pages(t, s, endpoint, next, 2), nil)
}

func pageLimits(t *testing.T, s StoreUnderTest) {
	endpoint := hook.NewEndpointID()
	want := saveDead(t, s, endpoint, storeEpoch(), 101)
	for _, tt := range []struct{ limit, want int }{{limit: -1, want: 1}, {limit: 0, want: 1}, {limit: 1, want: 1}, {limit: 100, want: 100}, {limit: 101, want: 100}, {limit: 1 << 40, want: 100}} {
		got, next, err := s.DeliveriesByEndpoint(t.Context(), wide(endpoint), hook.StateDead, "", tt.limit)
		if err != nil || len(got) != tt.want || next == "" || got[0].ID != want[0].ID {
			t.Errorf("DeliveriesByEndpoint(limit %d) = %d deliveries, cursor %q, %v; want the newest %d and a cursor",
				tt.limit, len(got), next, err, tt.want)
		}
	}
}

func cursorInvalid(t *testing.T, s StoreUnderTest) {
	endpoint, other := hook.NewEndpointID(), hook.NewEndpointID()
	saveDead(t, s, endpoint, storeEpoch(), 2)
	_, next, err := s.DeliveriesByEndpoint(t.Context(), wide(endpoint), hook.StateDead, "", 1)
	check(t, err)
	if next == "" {
		t.Fatal("DeliveriesByEndpoint(limit 1 of 2) has no cursor; want one")
	}
	tests := []struct {
		name, cursor string
		endpoint     hook.EndpointID
		state        hook.State
	}{
		{name: "another endpoint's", cursor: next, endpoint: other, state: hook.StateDead},
		{name: "another state's", cursor: next, endpoint: endpoint, state: hook.StateParked},
		{name: "invalid base64", cursor: "?", endpoint: endpoint, state: hook.StateDead},
		{name: "malformed", cursor: base64.RawURLEncoding.EncodeToString([]byte("{}")), endpoint: endpoint, state: hook.StateDead},
	}
	for _, tt := range tests {
		_, _, err := s.DeliveriesByEndpoint(t.Context(), wide(tt.endpoint), tt.state, tt.cursor, 1)
		wantCode(t, "DeliveriesByEndpoint(cursor "+tt.name+")", err, hook.CodeInvalid)
		wantField(t, err, "cursor")
	}
}
