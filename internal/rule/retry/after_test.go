package retry_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/retry"
)

// now is a Sunday noon in whole seconds, the resolution of HTTP dates.
func now() time.Time { return time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC) }

// year is the longest wait that the parsers return.
const year = 366 * 24 * h

func TestParseRetryAfter(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name  string
		value string
		want  time.Duration
	}{
		{name: "absent", value: "", want: 0},
		{name: "blank", value: "  ", want: 0},
		{name: "zero seconds", value: "0", want: time.Second},
		{name: "seconds", value: "120", want: 2 * time.Minute},
		{name: "seconds in white space", value: " 120\t", want: 2 * time.Minute},
		{name: "seconds with leading zeros", value: "000120", want: 2 * time.Minute},
		{name: "a second more than 24 h", value: "86401", want: 24*h + time.Second},
		{name: "a second less than 366 days", value: "31622399", want: year - time.Second},
		{name: "366 days", value: "31622400", want: year},
		{name: "a second more than 366 days", value: "31622401", want: year},
		{name: "one digit more than 366 days", value: "316224000", want: year},
		{name: "more seconds than an integer holds", value: strings.Repeat("9", 100), want: year},
		{name: "negative seconds", value: "-1", want: 0},
		{name: "seconds with a sign", value: "+120", want: 0},
		{name: "a fraction of seconds", value: "1.5", want: 2 * time.Second},
		{name: "less than a second", value: "0.5", want: time.Second},
		{name: "a duration with a unit", value: "120s", want: 0},
		{name: "hexadecimal", value: "0x10", want: 0},
		{name: "digits of another script", value: "١٢٠", want: 0},
		{name: "two numbers", value: "120, 240", want: 0},
		{name: "words", value: "soon", want: 0},
		{name: "IMF-fixdate", value: "Sun, 01 Mar 2026 12:02:00 GMT", want: 2 * time.Minute},
		{name: "RFC 850 date", value: "Sunday, 01-Mar-26 12:02:00 GMT", want: 2 * time.Minute},
		{name: "asctime date", value: "Sun Mar  1 12:02:00 2026", want: 2 * time.Minute},
		{name: "a date in white space", value: " Sun, 01 Mar 2026 12:02:00 GMT ", want: 2 * time.Minute},
		{name: "a date that is now", value: "Sun, 01 Mar 2026 12:00:00 GMT", want: time.Second},
		{name: "a date a second ago", value: "Sun, 01 Mar 2026 11:59:59 GMT", want: time.Second},
		{name: "a date long ago", value: "Thu, 01 Jan 1970 00:00:00 GMT", want: time.Second},
		{name: "a date a second less than 366 days away", value: "Tue, 02 Mar 2027 11:59:59 GMT", want: year - time.Second},
		{name: "a date 366 days away", value: "Tue, 02 Mar 2027 12:00:00 GMT", want: year},
		{name: "a date a second more than 366 days away", value: "Tue, 02 Mar 2027 12:00:01 GMT", want: year},
		{name: "a date millennia away", value: "Fri, 31 Dec 9999 23:59:59 GMT", want: year},
		{name: "a date that does not exist", value: "Mon, 30 Feb 2026 12:00:00 GMT", want: 0},
		{name: "a date in another zone", value: "Sun, 01 Mar 2026 14:02:00 CET", want: 0},
		{name: "an ISO date", value: "2026-03-01T12:02:00Z", want: 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if got := retry.ParseRetryAfter(tt.value, now()); got != tt.want {
				t.Errorf("ParseRetryAfter(%q) = %v; want %v", tt.value, got, tt.want)
			}
		})
	}
}

func TestParseRetryAfter_countsFromNowInAnyZone(t *testing.T) {
	t.Parallel()

	at := now().Add(500 * time.Millisecond).In(time.FixedZone("east", 3600))
	const value = "Sun, 01 Mar 2026 12:00:02 GMT"
	if got, want := retry.ParseRetryAfter(value, at), 1500*time.Millisecond; got != want {
		t.Errorf("ParseRetryAfter(%q, %v) = %v; want %v", value, at, got, want)
	}
}

func TestParseSeconds(t *testing.T) {
	t.Parallel()

	tests := []struct {
		value string
		want  time.Duration
	}{
		{value: "40", want: 40 * time.Second},
		{value: " 40 ", want: 40 * time.Second},
		{value: "1.5", want: 2 * time.Second},
		{value: "0.25", want: time.Second},
		{value: ".5", want: time.Second},
		{value: "0", want: time.Second},
		{value: "31622401", want: year},
		{value: strings.Repeat("9", 100), want: year},
		{value: strings.Repeat("9", 400), want: year},
		{value: "", want: 0},
		{value: ".", want: 0},
		{value: "1.2.3", want: 0},
		{value: "-1", want: 0},
		{value: "+1", want: 0},
		{value: "1e3", want: 0},
		{value: "Inf", want: 0},
		{value: "NaN", want: 0},
		{value: "0x10", want: 0},
		{value: "1_000", want: 0},
		{value: "40s", want: 0},
		{value: "Sun, 01 Mar 2026 12:02:00 GMT", want: 0},
	}
	for _, tt := range tests {
		t.Run(tt.value, func(t *testing.T) {
			t.Parallel()

			if got := retry.ParseSeconds(tt.value); got != tt.want {
				t.Errorf("ParseSeconds(%q) = %v; want %v", tt.value, got, tt.want)
			}
		})
	}
}

func TestWait(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name  string
		class hook.Class
		asked time.Duration
		most  time.Duration
		age   time.Duration
		want  time.Duration
		note  string
	}{
		{name: "none asked", class: hook.ClassUnavailable, asked: 0, want: 0},
		{name: "none asked by a 429", class: hook.ClassThrottled, asked: 0, want: time.Second},
		{name: "none asked by a 429, with a shorter max_age", class: hook.ClassThrottled, asked: 0, age: time.Second, want: time.Second / 2},
		{name: "now asked by a 429", class: hook.ClassThrottled, asked: time.Second, want: time.Second},
		{name: "the default cap", asked: h, want: h},
		{name: "seconds that were meant as milliseconds", asked: 40000 * time.Second, want: h, note: "It asked to wait 11h6m40s, above the endpoint's max_retry_after: 1h counts."},
		{name: "below a longer cap", asked: 2 * h, most: 3 * h, want: 2 * h},
		{name: "above a shorter cap", asked: 90 * time.Second, most: time.Minute, want: time.Minute, note: "It asked to wait 1m30s, above the endpoint's max_retry_after: 1m counts."},
		{name: "less than a second above", asked: h + time.Millisecond, want: h, note: "It asked to wait 1h, above the endpoint's max_retry_after: 1h counts."},
		{name: "beyond the end of the delivery", asked: 40 * time.Minute, age: h, want: 30 * time.Minute, note: "It asked to wait 40m, above half of the endpoint's max_age: 30m counts."},
		{name: "within half of max_age", asked: 20 * time.Minute, age: h, want: 20 * time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			if got, note := retry.Wait(tt.class, tt.asked, &hook.Endpoint{MaxRetryAfter: tt.most, MaxAge: tt.age}); got != tt.want || note != tt.note {
				t.Errorf("Wait(%v) = %v, %q; want %v, %q", tt.asked, got, note, tt.want, tt.note)
			}
		})
	}
}

// FuzzParseRetryAfter checks that the result is within its bounds, and for dates that net/http
// agrees. Package retry cannot use net/http itself: rules know no network.
func FuzzParseRetryAfter(f *testing.F) {
	for _, value := range []string{
		"", "0", "120", "86400", "86401", "-1", "99999999999999999999", "1e9",
		"Sun, 01 Mar 2026 12:02:00 GMT", "Sunday, 01-Mar-26 12:02:00 GMT", "Sun Mar  1 12:02:00 2026",
		"Sun, 01 Mar 2026 12:02:00 +0100", "Sunday, 01-Mar-26 12:02:00 CET", "Sun, 01 Mar 2026",
	} {
		f.Add(value, int64(0))
	}
	f.Add("Mon, 02 Mar 2026 12:00:00 GMT", int64(1))
	f.Add("Fri, 31 Dec 9999 23:59:59 GMT", int64(-1<<62))
	f.Fuzz(func(t *testing.T, value string, offset int64) {
		at := now().Add(time.Duration(offset))
		got := retry.ParseRetryAfter(value, at)
		if got != 0 && got < time.Second || got > year {
			t.Errorf("ParseRetryAfter(%q, %v) = %v; want 0s, or 1s to %v", value, at, got, year)
		}
		date, err := http.ParseTime(value)
		// net/http takes other names than GMT for local zones, so it may not agree about them.
		if err == nil && (date.Location() == time.UTC || strings.HasSuffix(value, " GMT")) {
			if want := min(max(date.Sub(at), time.Second), year); got != want {
				t.Errorf("ParseRetryAfter(%q, %v) = %v; want %v", value, at, got, want)
			}
		}
	})
}

func BenchmarkParseRetryAfter(b *testing.B) {
	at := now()
	for b.Loop() {
		retry.ParseRetryAfter("Sun, 01 Mar 2026 12:02:00 GMT", at)
	}
}

func ExampleParseRetryAfter() {
	received := time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
	fmt.Println(retry.ParseRetryAfter("120", received))
	fmt.Println(retry.ParseRetryAfter("Sun, 01 Mar 2026 12:02:00 GMT", received))
	fmt.Println(retry.ParseRetryAfter("in a while", received))
	// Output:
	// 2m0s
	// 2m0s
	// 0s
}
