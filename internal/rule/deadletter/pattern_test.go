package deadletter_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/deadletter"
)

// at returns dead letters with deaths at the given times after noon.
func at(l letter, after ...time.Duration) []letter {
	var all []letter
	for _, d := range after {
		l.DiedAt = noon().Add(d)
		all = append(all, l)
	}
	return all
}

func TestPattern(t *testing.T) {
	t.Parallel()

	const m, h = time.Minute, time.Hour
	of := func(class hook.Class, status int, reason hook.Reason) letter {
		return letter{Endpoint: shop, Class: class, Status: status, Reason: reason, Attempts: 1}
	}
	down := of(hook.ClassUnavailable, 503, hook.ReasonExhausted)
	late := of(hook.ClassUnavailable, 503, hook.ReasonExpired)
	slow := of(hook.ClassTimeout, 0, hook.ReasonExhausted)

	tests := []struct {
		name    string
		letters []letter
		want    deadletter.Pattern
		fields  string // fields named by the suggestion
	}{
		{name: "five at once are an outage", letters: at(down, 0, 0, 0, 0, 0), want: deadletter.PatternOutage, fields: "retry"},
		{name: "four at once are an outage", letters: at(down, 0, 0, 0, 0), want: deadletter.PatternOutage, fields: "retry"},
		{name: "one of four in another hour", letters: at(down, -9*h, 0, 0, 0), want: deadletter.PatternTrickle, fields: "retry"},
		{name: "two at once are an outage", letters: at(down, 0, 55*m), want: deadletter.PatternOutage, fields: "retry"},
		{name: "two an hour apart", letters: at(down, 0, h), want: deadletter.PatternTrickle, fields: "retry"},
		{name: "one is an outage", letters: at(down, 0), want: deadletter.PatternOutage, fields: "retry"},
		{name: "one refused connection is an outage", letters: letters(1, 0, of(hook.ClassConnect, 0, hook.ReasonExhausted)), want: deadletter.PatternOutage, fields: "retry"},
		{name: "one expired is an outage", letters: at(late, 0), want: deadletter.PatternOutage, fields: "max_age"},
		{name: "four of five within the hour are an outage", letters: at(down, -9*h, 0, 0, 0, 0), want: deadletter.PatternOutage, fields: "retry"},
		{name: "three of five are not", letters: at(down, -9*h, -3*h, 0, 0, 0), want: deadletter.PatternTrickle, fields: "retry"},
		{name: "eight of ten are an outage", letters: at(down, -9*h, -3*h, 0, 0, 0, 0, 0, 0, 0, 0), want: deadletter.PatternOutage, fields: "retry"},
		{name: "seven of nine are not", letters: at(down, -9*h, -3*h, 0, 0, 0, 0, 0, 0, 0), want: deadletter.PatternTrickle, fields: "retry"},
		{name: "a death just short of an hour after the others", letters: at(down, 0, 0, 0, 0, h-1), want: deadletter.PatternOutage, fields: "retry"},
		{name: "59 minutes across 13 slots of five minutes", letters: at(down, 4*m, 4*m, 4*m, 63*m), want: deadletter.PatternOutage, fields: "retry"},
		{name: "half of them an hour after the others", letters: at(down, 0, 0, 0, h, h, h), want: deadletter.PatternTrickle, fields: "retry"},
		{name: "an hour across two clock hours", letters: at(down, 30*m, 40*m, 50*m, 70*m, 80*m), want: deadletter.PatternOutage, fields: "retry"},
		{name: "the second of two clusters, the larger one", letters: at(down, 0, 9*h, 9*h, 9*h, 9*h, 9*h+20*m), want: deadletter.PatternOutage, fields: "retry"},
		{name: "one every quarter of an hour", letters: letters(40, 15*m, down), want: deadletter.PatternTrickle, fields: "retry"},
		{name: "expired at once", letters: at(late, 0, 0, 0, 0, 0), want: deadletter.PatternOutage, fields: "max_age"},
		{name: "expired one by one", letters: letters(40, h, late), want: deadletter.PatternExpired, fields: "max_age retry"},
		{name: "most of them expired", letters: slices.Concat(letters(20, h, late), letters(19, h, down)), want: deadletter.PatternExpired, fields: "max_age retry"},
		{name: "less than most of them expired", letters: slices.Concat(letters(20, h, late), letters(21, h, down)), want: deadletter.PatternTrickle, fields: "retry"},
		{name: "timeouts at once", letters: at(slow, 0, 0, 0, 0, 0), want: deadletter.PatternOutage, fields: "retry"},
		{name: "timeouts now and then", letters: letters(5, h, slow), want: deadletter.PatternTrickle, fields: "retry timeout"},
		{name: "resets at once", letters: letters(5, m, of(hook.ClassReset, 0, hook.ReasonExhausted)), want: deadletter.PatternOutage, fields: "retry"},
		{name: "resets now and then", letters: letters(5, h, of(hook.ClassReset, 0, hook.ReasonExhausted)), want: deadletter.PatternTrickle, fields: "retry"},
		{name: "refused connections at once", letters: letters(5, m, of(hook.ClassConnect, 0, hook.ReasonExhausted)), want: deadletter.PatternOutage, fields: "retry"},
		{name: "refused connections all day", letters: letters(24, h, of(hook.ClassConnect, 0, hook.ReasonExhausted)), want: deadletter.PatternDown, fields: "url pause"},
		{name: "refused connections until all expired", letters: letters(24, h, of(hook.ClassConnect, 0, hook.ReasonExpired)), want: deadletter.PatternExpired, fields: "max_age"},
		{name: "a host name that is gone, at once", letters: letters(5, m, of(hook.ClassDNS, 0, hook.ReasonExhausted)), want: deadletter.PatternOutage, fields: "retry"},
		{name: "a host name that is gone, all day", letters: letters(24, h, of(hook.ClassDNS, 0, hook.ReasonExhausted)), want: deadletter.PatternDown, fields: "url pause"},
		{name: "never attempted, at once", letters: letters(50, 0, of(0, 0, hook.ReasonExpired)), want: deadletter.PatternExpired, fields: "max_age rate_per_second Resume"},
		{name: "never attempted, one", letters: letters(1, 0, of(0, 0, hook.ReasonExpired)), want: deadletter.PatternExpired, fields: "max_age rate_per_second Resume"},
		{name: "400", letters: letters(9, 0, of(hook.ClassRefused, 400, hook.ReasonRejected)), want: deadletter.PatternRefused, fields: "url event_types"},
		{name: "401", letters: letters(1, 0, of(hook.ClassRefused, 401, hook.ReasonRejected)), want: deadletter.PatternCredentials, fields: "headers secret"},
		{name: "402", letters: letters(9, 0, of(hook.ClassRefused, 402, hook.ReasonRejected)), want: deadletter.PatternRefused, fields: "url event_types"},
		{name: "403", letters: letters(9, h, of(hook.ClassRefused, 403, hook.ReasonRejected)), want: deadletter.PatternCredentials, fields: "headers secret"},
		{name: "404", letters: letters(9, 0, of(hook.ClassRefused, 404, hook.ReasonRejected)), want: deadletter.PatternRefused, fields: "url event_types"},
		{name: "429, at once", letters: letters(9, 0, of(hook.ClassThrottled, 429, hook.ReasonExhausted)), want: deadletter.PatternThrottled, fields: "rate_per_second max_age retry"},
		{name: "429, one", letters: letters(1, 0, of(hook.ClassThrottled, 429, hook.ReasonExpired)), want: deadletter.PatternThrottled, fields: "rate_per_second max_age retry"},
		{name: "410", letters: letters(1, 0, of(hook.ClassGone, 410, hook.ReasonGone)), want: deadletter.PatternGone, fields: "url"},
		{name: "a certificate, at once", letters: letters(9, 0, of(hook.ClassTLS, 0, hook.ReasonExhausted)), want: deadletter.PatternTLS, fields: "url certificate"},
		{name: "a private address", letters: letters(9, 0, of(hook.ClassBlocked, 0, hook.ReasonExhausted)), want: deadletter.PatternBlocked, fields: "url"},
		{name: "a transformation", letters: letters(9, 0, of(hook.ClassTransformation, 0, hook.ReasonTransformation)), want: deadletter.PatternTransformation, fields: "transformation"},
		{name: "a redirect", letters: letters(9, 0, of(hook.ClassRedirect, 303, hook.ReasonRejected)), want: deadletter.PatternRedirect, fields: "url"},
		{name: "never attempted, and not expired: no rule", letters: letters(9, 0, of(0, 0, hook.ReasonExhausted)), want: deadletter.PatternUnknown, fields: ""},
		{name: "delivered: no rule", letters: letters(9, 0, of(hook.ClassDelivered, 200, hook.ReasonExhausted)), want: deadletter.PatternUnknown, fields: ""},
		{name: "a class that does not exist: no rule", letters: letters(9, 0, of(hook.Class(hook.Classes), 0, hook.ReasonExpired)), want: deadletter.PatternUnknown, fields: ""},
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
