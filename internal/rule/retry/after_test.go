package retry_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"surehook/internal/rule/retry"
)

// now is a Sunday noon that is exact to the second, as HTTP dates are.
func now() time.Time { return time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC) }

func TestParseRetryAfter(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name  string
		value string
		want  time.Duration
	}{
		{"absent", "", 0},
		{"blank", "  ", 0},
		{"no seconds", "0", 0},
		{"seconds", "120", 2 * time.Minute},
		{"seconds in white space", " 120\t", 2 * time.Minute},
		{"seconds with zeros in front", "000120", 2 * time.Minute},
		{"a second less than 24 h", "86399", 24*h - time.Second},
		{"24 h", "86400", 24 * h},
		{"a second more than 24 h", "86401", 24 * h},
		{"one digit more than 24 h", "864000", 24 * h},
		{"more seconds than an integer holds", strings.Repeat("9", 100), 24 * h},
		{"negative seconds", "-1", 0},
		{"seconds with a sign", "+120", 0},
		{"a fraction of seconds", "1.5", 0},
		{"a duration with a unit", "120s", 0},
		{"hexadecimal", "0x10", 0},
		{"digits of another script", "١٢٠", 0},
		{"two values", "120, 240", 0},
		{"words", "soon", 0},
		{"IMF-fixdate", "Sun, 01 Mar 2026 12:02:00 GMT", 2 * time.Minute},
		{"RFC 850 date", "Sunday, 01-Mar-26 12:02:00 GMT", 2 * time.Minute},
		{"asctime date", "Sun Mar  1 12:02:00 2026", 2 * time.Minute},
		{"a date in white space", " Sun, 01 Mar 2026 12:02:00 GMT ", 2 * time.Minute},
		{"the date is now", "Sun, 01 Mar 2026 12:00:00 GMT", 0},
		{"the date is past", "Sun, 01 Mar 2026 11:59:59 GMT", 0},
		{"the date is long past", "Thu, 01 Jan 1970 00:00:00 GMT", 0},
		{"a date a second less than 24 h away", "Mon, 02 Mar 2026 11:59:59 GMT", 24*h - time.Second},
		{"a date 24 h away", "Mon, 02 Mar 2026 12:00:00 GMT", 24 * h},
		{"a date a second more than 24 h away", "Mon, 02 Mar 2026 12:00:01 GMT", 24 * h},
		{"a date millennia away", "Fri, 31 Dec 9999 23:59:59 GMT", 24 * h},
		{"a date that does not exist", "Mon, 30 Feb 2026 12:00:00 GMT", 0},
		{"a date in another zone", "Sun, 01 Mar 2026 14:02:00 CET", 0},
		{"an ISO date", "2026-03-01T12:02:00Z", 0},
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

func TestParseRetryAfter_countsFromNow(t *testing.T) {
	t.Parallel()

	at := now().Add(500 * time.Millisecond).In(time.FixedZone("east", 3600))
	const value = "Sun, 01 Mar 2026 12:00:01 GMT"
	if got, want := retry.ParseRetryAfter(value, at), 500*time.Millisecond; got != want {
		t.Errorf("ParseRetryAfter(%q, %v) = %v; want %v", value, at, got, want)
	}
}

// FuzzParseRetryAfter holds the result to its bounds and, for dates, to what
// net/http makes of them; this package does without it to stay off the network.
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
		if got < 0 || got > retry.MaxRetryAfter {
			t.Errorf("ParseRetryAfter(%q, %v) = %v; want 0s to %v", value, at, got, retry.MaxRetryAfter)
		}
		date, err := http.ParseTime(value)
		// A zone other than GMT is read by net/http as the machine's own, if it has that name.
		if err == nil && (date.Location() == time.UTC || strings.HasSuffix(value, " GMT")) {
			if want := min(max(date.Sub(at), 0), retry.MaxRetryAfter); got != want {
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
