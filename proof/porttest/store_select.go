package porttest

import (
	"encoding/base64"
	"fmt"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/backlog"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
)

func selectCases() []storeCase {
	return []storeCase{
		{name: "a selection is read oldest first, page by page, to its end", run: selectOldestFirst},
		{name: "a selection begins with From and ends before To", run: selectBounds},
		{name: "a selection without bounds contains exactly the deliveries of the state", run: selectUnbounded},
		{name: "deliveries outside the state are skipped and do not end the selection", run: selectLeftState},
		{name: "new deliveries do not shift the selection", run: selectIsStable},
		{name: "a position of another selection and a malformed position are invalid", run: selectInvalid},
		{name: "250 deliveries are selected and counted", run: selectMany},
		{name: "events are selected by acceptance, once per endpoint", run: selectEvents},
	}
}

// selected reads the whole selection.
func selected(t *testing.T, s StoreUnderTest, selection replay.Selection) []hook.Delivery {
	t.Helper()

	var all []hook.Delivery
	for range 1000 {
		page, next, err := s.Select(t.Context(), selection)
		check(t, err)
		if len(page) > selection.Limit {
			t.Fatalf("Select(limit %d) = %d deliveries; want no more than the limit", selection.Limit, len(page))
		}
		all = append(all, page...)
		if next == "" {
			return all
		}
		selection.After = next
	}
	t.Fatalf("Select(%+v) = %d deliveries and another page; want an end", selection, len(all))
	return nil
}

// wantSelected reads the selection in pages of several sizes, and counts the
// selection.
func wantSelected(t *testing.T, s StoreUnderTest, selection replay.Selection, want []hook.Delivery) {
	t.Helper()

	for _, limit := range []int{1, 2, 3, 100} {
		selection.Limit = limit
		wantSame(t, fmt.Sprintf("Select(%+v)", selection), want, selected(t, s, selection), nil)
	}
	n, err := s.CountSelected(t.Context(), replay.Selection{
		Target: selection.Target, State: selection.State, From: selection.From, To: selection.To,
	})
	wantSame(t, fmt.Sprintf("CountSelected(%+v)", selection), len(want), n, err)
	if selection.State == hook.StateDelivered {
		return
	}
	var newest time.Time
	if len(want) > 0 {
		newest = want[len(want)-1].CreatedAt
	}
	at, err := s.Newest(t.Context(), selection)
	wantSame(t, fmt.Sprintf("Newest(%+v)", selection), newest.UTC(), at.UTC(), err)
	wantOldest(t, s, selection, want)
}

// wantOldest reads the rows of a selection. Each shard has at most the limit of them, so those that are
// left out are not the oldest ones of a shard.
func wantOldest(t *testing.T, s StoreUnderTest, selection replay.Selection, want []hook.Delivery) {
	t.Helper()

	for _, selection.Limit = range []int{1, 2, 100} {
		var rows []backlog.Row
		more, inShard := false, make(map[int]int)
		for _, d := range want {
			if shard := d.Ref().Shard; inShard[shard] == selection.Limit {
				more = true
			} else {
				inShard[shard]++
				rows = append(rows, backlog.Row{ID: d.ID, State: d.State, CreatedAt: d.CreatedAt.UTC()})
			}
		}
		got, gotMore, err := s.Oldest(t.Context(), selection)
		wantSame(t, fmt.Sprintf("Oldest(%+v)", selection), rows, got, err)
		wantSame(t, fmt.Sprintf("more of Oldest(%+v)", selection), more, gotMore, nil)
	}
}

func selectOldestFirst(t *testing.T, s StoreUnderTest) {
	endpoint := hook.NewEndpointID()
	all := park(t, s, endpoint, 6)
	park(t, s, hook.NewEndpointID(), 2)
	selection := replay.Selection{Target: wide(endpoint), State: hook.StateParked}
	wantSelected(t, s, selection, all)

	// After and Limit do not change the count.
	selection.Limit = 2
	_, next, err := s.Select(t.Context(), selection)
	check(t, err)
	selection.After = next
	n, err := s.CountSelected(t.Context(), selection)
	wantSame(t, "CountSelected(after the first page)", len(all), n, err)

	wantSelected(t, s, replay.Selection{Target: wide(hook.NewEndpointID()), State: hook.StateParked}, nil)
}

func selectBounds(t *testing.T, s StoreUnderTest) {
	const moment = time.Millisecond
	endpoint := hook.NewEndpointID()
	all := park(t, s, endpoint, 5) // a second apart
	at := func(i int, more time.Duration) time.Time { return all[i].CreatedAt.Add(more) }
	tests := []struct {
		name     string
		from, to time.Time
		want     []hook.Delivery
	}{
		{name: "from the second on", from: at(1, 0), to: time.Time{}, want: all[1:]},
		{name: "from just before the second", from: at(1, -moment), to: time.Time{}, want: all[1:]},
		{name: "from just after the second", from: at(1, moment), to: time.Time{}, want: all[2:]},
		{name: "from less than a millisecond after the second", from: at(1, 1), to: time.Time{}, want: all[2:]},
		{name: "to the fourth", from: time.Time{}, to: at(3, 0), want: all[:3]},
		{name: "to just before the fourth", from: time.Time{}, to: at(3, -moment), want: all[:3]},
		{name: "to just after the fourth", from: time.Time{}, to: at(3, moment), want: all[:4]},
		{name: "to less than a millisecond after the fourth", from: time.Time{}, to: at(3, 1), want: all[:4]},
		{name: "from the second to the fourth", from: at(1, 0), to: at(3, 0), want: all[1:3]},
		{name: "another zone", from: at(1, 0).In(time.FixedZone("", 7200)), to: at(3, 0).In(time.FixedZone("", -7200)), want: all[1:3]},
		{name: "one millisecond", from: at(2, 0), to: at(2, moment), want: all[2:3]},
		{name: "between two", from: at(2, moment), to: at(3, 0), want: nil},
		{name: "no time at all", from: at(2, 0), to: at(2, 0), want: nil},
		{name: "backwards", from: at(3, 0), to: at(1, 0), want: nil},
		{name: "before all", from: time.Time{}, to: at(0, 0), want: nil},
		{name: "after all", from: at(4, moment), to: time.Time{}, want: nil},
		{name: "years around all", from: at(0, 0).AddDate(-20, 0, 0), to: at(0, 0).AddDate(20, 0, 0), want: all},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			wantSelected(t, s, replay.Selection{Target: wide(endpoint), State: hook.StateParked, From: tt.from, To: tt.to}, tt.want)
		})
	}
}

func selectUnbounded(t *testing.T, s StoreUnderTest) {
	endpoint := hook.NewEndpointID()
	states := []hook.State{
		hook.StateRetrying, hook.StateParked, hook.StateDelivered, hook.StateDead, hook.StateDiscarded, hook.StateCancelled,
	}
	want := make(map[hook.State]hook.Delivery)
	for _, state := range states {
		d := sampleDelivery(newEventID(t), endpoint, 1)
		d.State = state
		check(t, s.SaveDelivery(t.Context(), d, nil))
		want[state] = saved(d)
	}
	for _, state := range states {
		wantSelected(t, s, replay.Selection{Target: wide(endpoint), State: state}, []hook.Delivery{want[state]})
	}
}

func selectLeftState(t *testing.T, s StoreUnderTest) {
	endpoint := hook.NewEndpointID()
	all := park(t, s, endpoint, 6)
	for _, i := range []int{0, 1, 3} {
		d := all[i]
		d.State = hook.StateDead
		check(t, s.SaveDelivery(t.Context(), d, nil))
	}
	// A changed record of the state comes back in the new version.
	changed := all[2]
	changed.Note = "still parked"
	check(t, s.SaveDelivery(t.Context(), changed, nil))
	want := []hook.Delivery{saved(changed), all[4], all[5]}
	wantSelected(t, s, replay.Selection{Target: wide(endpoint), State: hook.StateParked}, want)
}

func selectIsStable(t *testing.T, s StoreUnderTest) {
	endpoint := hook.NewEndpointID()
	all := park(t, s, endpoint, 4)
	selection := replay.Selection{Target: wide(endpoint), State: hook.StateParked, Limit: 2}
	first, next, err := s.Select(t.Context(), selection)
	wantSame(t, "first page", all[:2], first, err)

	// The page leaves the state, and an older delivery enters the state.
	for _, d := range first {
		d.State = hook.StateCancelled
		check(t, s.SaveDelivery(t.Context(), d, nil))
	}
	late := sampleDelivery(newEventID(t), endpoint, 1)
	late.State, late.CreatedAt = hook.StateParked, storeEpoch().Add(-time.Hour)
	check(t, s.SaveDelivery(t.Context(), late, nil))

	selection.After = next
	wantSame(t, "pages after the first", all[2:], selected(t, s, selection), nil)
}

func selectInvalid(t *testing.T, s StoreUnderTest) {
	endpoint := hook.NewEndpointID()
	all := park(t, s, endpoint, 3)
	selection := replay.Selection{Target: wide(endpoint), State: hook.StateParked, Limit: 1}
	_, next, err := s.Select(t.Context(), selection)
	check(t, err)
	if next == "" {
		t.Fatal("Select(limit 1 of 3) has no next position; want one")
	}
	selection.After = next
	tests := []struct {
		name   string
		change func(*replay.Selection)
	}{
		{name: "of another endpoint", change: func(s *replay.Selection) { s.Endpoint = hook.NewEndpointID() }},
		{name: "of another state", change: func(s *replay.Selection) { s.State = hook.StateDead }},
		{name: "before the selection", change: func(s *replay.Selection) { s.From = all[1].CreatedAt }},
		{name: "after the selection", change: func(s *replay.Selection) { s.To = all[0].CreatedAt }},
		{name: "invalid base64", change: func(s *replay.Selection) { s.After = "?" }},
		{name: "malformed", change: func(s *replay.Selection) { s.After = base64.RawURLEncoding.EncodeToString([]byte("{}")) }},
	}
	for _, tt := range tests {
		changed := selection
		tt.change(&changed)
		_, _, err := s.Select(t.Context(), changed)
		wantCode(t, "Select(position "+tt.name+")", err, hook.CodeInvalid)
	}
}

func selectMany(t *testing.T, s StoreUnderTest) {
	endpoint := hook.NewEndpointID()
	all := park(t, s, endpoint, 250)
	selection := replay.Selection{Target: wide(endpoint), State: hook.StateParked, Limit: 100}
	wantSame(t, "Select(pages of 100)", all, selected(t, s, selection), nil)
	n, err := s.CountSelected(t.Context(), selection)
	wantSame(t, "CountSelected(250)", len(all), n, err)
}

func selectEvents(t *testing.T, s StoreUnderTest) {
	endpoint := hook.NewEndpointID()
	want := make(map[hook.EndpointID][]hook.Event) // without an endpoint: of the events without a target
	for i := range 9 {
		e := sampleEvent(t)
		e.AcceptedAt, e.Targets = storeEpoch().Add(time.Duration(i)*time.Second), nil
		if i%3 != 0 {
			e.Targets = []hook.Target{wide(endpoint)}
		}
		check(t, s.PutEvent(t.Context(), e))
		var source hook.EndpointID
		for _, target := range e.Targets {
			source = endpoint
			d := hook.QueuedDelivery(e, target)
			d.State = hook.StateDead
			check(t, s.SaveDelivery(t.Context(), d, nil))
			d.ID.Generation = 2
			check(t, s.SaveDelivery(t.Context(), d, nil))
		}
		want[source] = append(want[source], hook.Event{ID: e.ID, Tenant: e.Tenant, AcceptedAt: e.AcceptedAt})
	}
	saveDead(t, s, hook.NewEndpointID(), storeEpoch(), 1)
	for _, source := range []hook.Target{{}, wide(endpoint)} {
		all := want[source.Endpoint]
		for _, tt := range []struct {
			from, to time.Time
			want     []hook.Event
		}{
			{want: all},
			{from: all[1].AcceptedAt, want: all[1:]},
			{to: all[2].AcceptedAt, want: all[:2]},
			{from: all[1].AcceptedAt, to: all[2].AcceptedAt, want: all[1:2]},
			{from: all[1].AcceptedAt, to: all[1].AcceptedAt},
		} {
			for _, limit := range []int{1, 2, 100} {
				selection := replay.Selection{Target: source, From: tt.from, To: tt.to, Limit: limit}
				var got []hook.Event
				for range 100 {
					page, next, err := s.SelectEvents(t.Context(), "acme", selection)
					check(t, err)
					got = append(got, page...)
					if selection.After = next; next == "" {
						break
					}
				}
				wantSame(t, fmt.Sprintf("SelectEvents(%+v)", selection), tt.want, got, nil)
			}
		}
	}
	_, _, err := s.SelectEvents(t.Context(), "acme", replay.Selection{After: "x", Limit: 1})
	wantCode(t, "SelectEvents(after x)", err, hook.CodeInvalid)
}
