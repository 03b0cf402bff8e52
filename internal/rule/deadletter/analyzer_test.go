package deadletter_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/deadletter"
)

const (
	shop    hook.EndpointID = "ep_aaaaaaaaaaaaaaaa"
	billing hook.EndpointID = "ep_bbbbbbbbbbbbbbbb"
	crm     hook.EndpointID = "ep_cccccccccccccccc"
)

// noon is the time of the first deaths.
func noon() time.Time { return time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC) }

// letter is a dead delivery.
type letter struct {
	Endpoint hook.EndpointID
	Reason   hook.Reason
	Class    hook.Class
	Status   int
	Error    string
	Attempts int
	DiedAt   time.Time
}

func (l letter) delivery() hook.Delivery {
	return hook.Delivery{
		ID: hook.DeliveryID{Endpoint: l.Endpoint}, State: hook.StateDead, Reason: l.Reason, Attempts: l.Attempts, UpdatedAt: l.DiedAt,
		Last: hook.Outcome{Class: l.Class, Status: l.Status, Error: l.Error},
	}
}

// letters returns n copies of the dead letter, with deaths from noon on, one per step.
func letters(n int, step time.Duration, l letter) []letter {
	all := make([]letter, n)
	for i := range all {
		all[i] = l
		all[i].DiedAt = noon().Add(time.Duration(i) * step)
	}
	return all
}

func groups(letters ...letter) []deadletter.Group {
	var a deadletter.Analyzer
	for _, l := range letters {
		a.Add(l.delivery())
	}
	return a.Groups()
}

// seeded returns 37 dead letters of three endpoints.
func seeded() []letter {
	var all []letter
	all = append(all, letters(12, 4*time.Minute, letter{
		Endpoint: shop, Reason: hook.ReasonExhausted, Class: hook.ClassUnavailable, Status: 503, Error: "The endpoint answered 503 Service Unavailable.", Attempts: 7,
	})...)
	all = append(all, letters(8, time.Second, letter{
		Endpoint: billing, Reason: hook.ReasonRejected, Class: hook.ClassRefused, Status: 401, Error: "The endpoint answered 401 Unauthorized.", Attempts: 1,
	})...)
	all = append(all, letters(1, 0, letter{
		Endpoint: billing, Reason: hook.ReasonRejected, Class: hook.ClassRefused, Status: 401, Error: "The endpoint answered 401 Unauthorized.", Attempts: 4,
	})...)
	all = append(all, letters(4, 5*time.Hour, letter{
		Endpoint: crm, Reason: hook.ReasonExhausted, Class: hook.ClassTLS, Error: "The certificate has expired or is not valid yet.", Attempts: 7,
	})...)
	all = append(all, letters(3, 7*time.Hour, letter{
		Endpoint: crm, Reason: hook.ReasonExpired, Class: hook.ClassTLS, Error: "The certificate is for another host name.", Attempts: 5,
	})...)
	all = append(all, letters(4, time.Hour, letter{Endpoint: shop, Reason: hook.ReasonExpired})...)
	all = append(all, letters(4, time.Hour, letter{
		Endpoint: shop, Reason: hook.ReasonExhausted, Class: hook.ClassTimeout, Error: "The endpoint did not answer in time.", Attempts: 7,
	})...)
	return append(all, letters(1, 0, letter{
		Endpoint: shop, Reason: hook.ReasonExhausted, Class: hook.ClassUnavailable, Status: 500, Error: "The endpoint answered 500 Internal Server Error.", Attempts: 7,
	})...)
}

func TestAnalyzer_seeded(t *testing.T) {
	t.Parallel()

	want := []deadletter.Group{
		{
			Endpoint: shop, Class: hook.ClassUnavailable, Status: 503, Reason: hook.ReasonExhausted, Count: 12, FirstAt: noon(), LastAt: noon().Add(44 * time.Minute),
			MeanAttempts: 7, Error: "The endpoint answered 503 Service Unavailable.", Pattern: deadletter.PatternOutage,
		},
		{
			Endpoint: billing, Class: hook.ClassRefused, Status: 401, Reason: hook.ReasonRejected, Count: 9, FirstAt: noon(), LastAt: noon().Add(7 * time.Second),
			MeanAttempts: 12.0 / 9, Error: "The endpoint answered 401 Unauthorized.", Pattern: deadletter.PatternCredentials,
		},
		{
			Endpoint: crm, Class: hook.ClassTLS, Reason: hook.ReasonExhausted, Count: 7, FirstAt: noon(), LastAt: noon().Add(15 * time.Hour),
			MeanAttempts: 43.0 / 7, Error: "The certificate has expired or is not valid yet.", Pattern: deadletter.PatternTLS,
		},
		{
			Endpoint: shop, Reason: hook.ReasonExpired, Count: 4, FirstAt: noon(), LastAt: noon().Add(3 * time.Hour), Pattern: deadletter.PatternExpired,
		},
		{
			Endpoint: shop, Class: hook.ClassTimeout, Reason: hook.ReasonExhausted, Count: 4, FirstAt: noon(), LastAt: noon().Add(3 * time.Hour),
			MeanAttempts: 7, Error: "The endpoint did not answer in time.", Pattern: deadletter.PatternTrickle,
		},
		{
			Endpoint: shop, Class: hook.ClassUnavailable, Status: 500, Reason: hook.ReasonExhausted, Count: 1, FirstAt: noon(), LastAt: noon(),
			MeanAttempts: 7, Error: "The endpoint answered 500 Internal Server Error.", Pattern: deadletter.PatternOutage,
		},
	}
	r := rand.New(rand.NewPCG(1, 2))
	all := seeded()
	for range 50 { // in any order
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		if diff := cmp.Diff(want, groups(all...), cmpopts.IgnoreFields(deadletter.Group{}, "Suggestion")); diff != "" {
			t.Fatalf("Groups() differs (-want +got):\n%s", diff)
		}
	}
}

func TestAnalyzer_empty(t *testing.T) {
	t.Parallel()

	if got := groups(); len(got) != 0 {
		t.Errorf("Groups() = %v; want none", got)
	}
}

func TestAnalyzer_order(t *testing.T) {
	t.Parallel()

	of := func(endpoint hook.EndpointID, class hook.Class, status int, reason hook.Reason) letter {
		return letter{Endpoint: endpoint, Class: class, Status: status, Reason: reason, DiedAt: noon()}
	}
	want := []letter{ // groups of equal size: by endpoint, class, status, reason
		of(shop, 0, 0, hook.ReasonExpired),
		of(shop, 0, 0, hook.ReasonRejected),
		of(shop, hook.ClassUnavailable, 500, hook.ReasonExhausted),
		of(shop, hook.ClassUnavailable, 503, hook.ReasonExhausted),
		of(shop, hook.ClassThrottled, 429, hook.ReasonExhausted),
		of(billing, hook.ClassUnavailable, 500, hook.ReasonExhausted),
	}
	more := of(crm, hook.ClassGone, 410, hook.ReasonGone)
	r := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		mixed := append([]letter{more, more}, want...)
		r.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		var got []letter
		for _, g := range groups(mixed...) {
			got = append(got, of(g.Endpoint, g.Class, g.Status, g.Reason))
		}
		if diff := cmp.Diff(append([]letter{more}, want...), got); diff != "" {
			t.Fatalf("Groups() is in another order (-want +got):\n%s", diff)
		}
	}
}

func TestAnalyzer_reasonsShareAGroupOnceAttempted(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name               string
		exhausted, expired int
		want               hook.Reason
	}{
		{name: "the more frequent reason wins", exhausted: 2, expired: 3, want: hook.ReasonExpired},
		{name: "the other reason, too", exhausted: 3, expired: 2, want: hook.ReasonExhausted},
		{name: "in a tie the first by name wins", exhausted: 2, expired: 2, want: hook.ReasonExhausted},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			l := letter{Endpoint: shop, Class: hook.ClassTimeout, Attempts: 3, Reason: hook.ReasonExhausted}
			all := letters(tt.exhausted, time.Hour, l)
			l.Reason = hook.ReasonExpired
			all = append(all, letters(tt.expired, time.Hour, l)...)
			got := groups(all...)
			if len(got) != 1 || got[0].Reason != tt.want || got[0].Count != len(all) {
				t.Errorf("Groups() = %+v; want one of %d with reason %s", got, len(all), tt.want)
			}
		})
	}
}

// TestAnalyzer_findsTheFrequentAmongMany gives a group as many dead letters as an analysis reads, with the rare
// errors and times first, last and mixed.
func TestAnalyzer_findsTheFrequentAmongMany(t *testing.T) {
	t.Parallel()

	const n = 20_000
	r := rand.New(rand.NewPCG(5, 6))
	all := make([]letter, n)
	for i := range all {
		all[i] = letter{Endpoint: shop, Class: hook.ClassReset, Reason: hook.ReasonExhausted, Error: fmt.Sprint("error ", i), DiedAt: noon().Add(time.Duration(i-n) * time.Hour)}
		if i >= n*95/100 {
			all[i].Error = "The connection broke."
		}
		if i >= n*20/100 {
			all[i].DiedAt = noon().Add(time.Duration(r.IntN(3600)) * time.Second)
		}
	}
	tests := []struct {
		name    string
		arrange func()
	}{
		{name: "rare ones first", arrange: func() {}},
		{name: "rare ones last", arrange: func() { slices.Reverse(all) }},
		{name: "mixed", arrange: func() { r.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] }) }},
	}
	for _, tt := range tests {
		tt.arrange()
		got := groups(all...)
		if len(got) != 1 || got[0].Count != n || got[0].Error != "The connection broke." || got[0].Pattern != deadletter.PatternOutage {
			t.Errorf("%s: Groups() = %+v; want one outage of %d with the common error", tt.name, got, n)
		}
	}
}

func ExampleAnalyzer() {
	var a deadletter.Analyzer
	for range 8 {
		a.Add(hook.Delivery{
			ID: hook.DeliveryID{Endpoint: "ep_0123456789abcdef"}, Reason: hook.ReasonRejected, Attempts: 1, UpdatedAt: time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC),
			Last: hook.Outcome{Class: hook.ClassRefused, Status: 401, Error: "The endpoint answered 401 Unauthorized."},
		})
	}
	for _, g := range a.Groups() {
		fmt.Println(g.Endpoint, g.Count, g.Pattern)
		fmt.Println(g.Suggestion)
	}
	// Output:
	// ep_0123456789abcdef 8 credentials
	// The endpoint does not accept the sender: its credentials were probably rotated. Correct the credentials in auth or headers, or rotate the secret and hand it over; then replay these.
}
