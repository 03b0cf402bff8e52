package deadletter_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"surehook/internal/hook"
	"surehook/internal/rule/deadletter"
)

// at returns letters that died at these times after noon.
func at(l deadletter.Letter, after ...time.Duration) []deadletter.Letter {
	var all []deadletter.Letter
	for _, d := range after {
		l.DiedAt = noon().Add(d)
		all = append(all, l)
	}
	return all
}

func TestPattern(t *testing.T) {
	t.Parallel()

	const m, h = time.Minute, time.Hour
	of := func(class hook.Class, status int, reason hook.Reason) deadletter.Letter {
		return deadletter.Letter{Endpoint: shop, Class: class, Status: status, Reason: reason, Attempts: 1}
	}
	down := of(hook.ClassUnavailable, 503, hook.ReasonExhausted)
	late := of(hook.ClassUnavailable, 503, hook.ReasonExpired)
	slow := of(hook.ClassTimeout, 0, hook.ReasonExhausted)

	tests := []struct {
		name    string
		letters []deadletter.Letter
		want    deadletter.Pattern
		fields  string // what the suggestion names
	}{
		{"five at once are an outage", at(down, 0, 0, 0, 0, 0), deadletter.PatternOutage, "retry"},
		{"four are too few", at(down, 0, 0, 0, 0), deadletter.PatternTrickle, "retry"},
		{"four of five within the hour are an outage", at(down, -9*h, 0, 0, 0, 0), deadletter.PatternOutage, "retry"},
		{"three of five are not", at(down, -9*h, -3*h, 0, 0, 0), deadletter.PatternTrickle, "retry"},
		{"eight of ten are an outage", at(down, -9*h, -3*h, 0, 0, 0, 0, 0, 0, 0, 0), deadletter.PatternOutage, "retry"},
		{"seven of nine are not", at(down, -9*h, -3*h, 0, 0, 0, 0, 0, 0, 0), deadletter.PatternTrickle, "retry"},
		{"one just short of an hour after the others, from the begin of a slot", at(down, 0, 0, 0, 0, h-1), deadletter.PatternOutage, "retry"},
		{"55 minutes, from the end of a slot", at(down, 5*m-1, 5*m-1, 5*m-1, 60*m-1, 60*m-1), deadletter.PatternOutage, "retry"},
		{"half of them an hour after the others", at(down, 0, 0, 0, h, h, h), deadletter.PatternTrickle, "retry"},
		{"an hour that is in none of the clock", at(down, 30*m, 40*m, 50*m, 70*m, 80*m), deadletter.PatternOutage, "retry"},
		{"the second of two clusters, the larger one", at(down, 0, 9*h, 9*h, 9*h, 9*h, 9*h+20*m), deadletter.PatternOutage, "retry"},
		{"one every quarter of an hour", letters(40, 15*m, down), deadletter.PatternTrickle, "retry"},
		{"expired at once", at(late, 0, 0, 0, 0, 0), deadletter.PatternOutage, "max_age"},
		{"expired one by one", letters(40, h, late), deadletter.PatternExpired, "max_age retry"},
		{"most of them expired", slices.Concat(letters(20, h, late), letters(19, h, down)), deadletter.PatternExpired, "max_age retry"},
		{"less than most of them expired", slices.Concat(letters(20, h, late), letters(21, h, down)), deadletter.PatternTrickle, "retry"},
		{"timeouts at once", at(slow, 0, 0, 0, 0, 0), deadletter.PatternOutage, "retry"},
		{"timeouts now and then", letters(5, h, slow), deadletter.PatternTrickle, "retry timeout"},
		{"resets at once", letters(5, m, of(hook.ClassReset, 0, hook.ReasonExhausted)), deadletter.PatternOutage, "retry"},
		{"resets now and then", letters(5, h, of(hook.ClassReset, 0, hook.ReasonExhausted)), deadletter.PatternTrickle, "retry"},
		{"refused connections at once", letters(5, m, of(hook.ClassConnect, 0, hook.ReasonExhausted)), deadletter.PatternOutage, "retry"},
		{"refused connections all day", letters(24, h, of(hook.ClassConnect, 0, hook.ReasonExhausted)), deadletter.PatternDown, "url pause"},
		{"refused connections until all expired", letters(24, h, of(hook.ClassConnect, 0, hook.ReasonExpired)), deadletter.PatternExpired, "max_age"},
		{"a host name that is gone, at once", letters(5, m, of(hook.ClassDNS, 0, hook.ReasonExhausted)), deadletter.PatternOutage, "retry"},
		{"a host name that is gone, all day", letters(24, h, of(hook.ClassDNS, 0, hook.ReasonExhausted)), deadletter.PatternDown, "url pause"},
		{"never attempted, at once", letters(50, 0, of(0, 0, hook.ReasonExpired)), deadletter.PatternExpired, "max_age rate_per_second Resume"},
		{"never attempted, one", letters(1, 0, of(0, 0, hook.ReasonExpired)), deadletter.PatternExpired, "max_age rate_per_second Resume"},
		{"400", letters(9, 0, of(hook.ClassRefused, 400, hook.ReasonRejected)), deadletter.PatternRefused, "url event_types"},
		{"401", letters(1, 0, of(hook.ClassRefused, 401, hook.ReasonRejected)), deadletter.PatternCredentials, "headers secret"},
		{"402", letters(9, 0, of(hook.ClassRefused, 402, hook.ReasonRejected)), deadletter.PatternRefused, "url event_types"},
		{"403", letters(9, h, of(hook.ClassRefused, 403, hook.ReasonRejected)), deadletter.PatternCredentials, "headers secret"},
		{"404", letters(9, 0, of(hook.ClassRefused, 404, hook.ReasonRejected)), deadletter.PatternRefused, "url event_types"},
		{"429, at once", letters(9, 0, of(hook.ClassThrottled, 429, hook.ReasonExhausted)), deadletter.PatternThrottled, "rate_per_second max_age retry"},
		{"429, one", letters(1, 0, of(hook.ClassThrottled, 429, hook.ReasonExpired)), deadletter.PatternThrottled, "rate_per_second max_age retry"},
		{"410", letters(1, 0, of(hook.ClassGone, 410, hook.ReasonGone)), deadletter.PatternGone, "url"},
		{"a certificate, at once", letters(9, 0, of(hook.ClassTLS, 0, hook.ReasonExhausted)), deadletter.PatternTLS, "url certificate"},
		{"a private address", letters(9, 0, of(hook.ClassBlocked, 0, hook.ReasonExhausted)), deadletter.PatternBlocked, "url"},
		{"a redirect", letters(9, 0, of(hook.ClassRedirect, 303, hook.ReasonRejected)), deadletter.PatternRedirect, "url"},
		{"never attempted, and not expired: no rule", letters(9, 0, of(0, 0, hook.ReasonExhausted)), 0, ""},
		{"delivered: no rule", letters(9, 0, of(hook.ClassDelivered, 200, hook.ReasonExhausted)), 0, ""},
		{"a class that does not exist: no rule", letters(9, 0, of(hook.ClassRedirect+1, 0, hook.ReasonExpired)), 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got := groups(tt.letters...)
			if len(got) != 1 || got[0].Pattern != tt.want {
				t.Fatalf("Groups() = %+v; want one group of pattern %s", got, tt.want)
			}
			for field := range strings.FieldsSeq(tt.fields) {
				if !strings.Contains(got[0].Suggestion, field) {
					t.Errorf("suggestion of %s = %q; want one that names %s", tt.want, got[0].Suggestion, field)
				}
			}
		})
	}
}

func TestPattern_String(t *testing.T) {
	t.Parallel()

	want := []string{"unknown", "outage", "down", "trickle", "expired", "credentials", "throttled", "refused", "gone", "tls", "blocked", "redirect", "unknown"}
	for p, name := range want {
		if got := deadletter.Pattern(p).String(); got != name {
			t.Errorf("Pattern(%d).String() = %q; want %q", p, got, name)
		}
	}
}
